// `polyfs audit verify FILE`: whether an audit log is as it was written.
import { checkAudit } from "../../host/audit-check.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";

export const audit = command({
  name: "audit",
  operands: "verify FILE",
  description:
    "Checks an audit log together with its rotated files: every line contains the hash of the line before it, so changed, removed and moved lines are found. Prints the last hash; store it elsewhere to detect lines that were cut off at the end.",
  own: { json: { help: "Print the report as JSON" } },
  options: [],
  examples: [
    ["polyfs audit verify /var/log/polyfs/audit.log", "check that no line was changed, removed or reordered"],
  ],
  most: 2,
  verbs: ["verify"],
  async run({ operands: [, file], own }) {
    if (file === undefined) throw new UsageError("polyfs audit verify needs a FILE");
    const report = checkAudit(file);
    const { lines, chains, open, problems, last, rotated } = report;
    const whole = problems.length === 0;
    if (own.has("json")) await print(process.stdout, `${JSON.stringify({ whole, ...report })}\n`);
    else {
      const notes = [
        `${lines} lines, ${chains} chains (${open} open)${rotated ? ", older lines were rotated away" : ""}`,
        ...problems,
        whole ? `intact; the last hash is ${last}` : "NOT intact",
      ];
      await print(process.stdout, `${notes.join("\n")}\n`);
    }
    return whole ? 0 : 1;
  },
});
