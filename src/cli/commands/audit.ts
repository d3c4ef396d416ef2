// `polyfs audit verify FILE`: whether an audit log is as it was written.
import { checkAudit, withRotated } from "../../host/audit-check.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";

export const audit = command({
  name: "audit",
  operands: "verify FILE...",
  description:
    "Checks an audit log together with its rotated files, FILE.5 to FILE.1; or exactly the files that are named, if there are several, from the oldest to the newest. Every line is bound by the line after it, so changed, removed and moved lines are found. Prints the last hash. Lines that were cut off at the end are found only if you store that hash elsewhere and expect it later. A log without a line is not intact.",
  own: {
    expect: {
      value: "HASH",
      help: "Fail unless the log has the line with this hash, which was the last one before",
    },
    json: { help: "Print the report as JSON" },
  },
  options: [],
  examples: [
    ["polyfs audit verify /var/log/polyfs/audit.log", "check that no line was changed, removed or reordered"],
  ],
  most: { verify: Number.POSITIVE_INFINITY },
  async run({ operands: [, ...files], own }) {
    const [file] = files;
    if (file === undefined) throw new UsageError("polyfs audit verify needs a FILE");
    const expect = own.get("expect");
    if (expect !== undefined && !/^[0-9a-f]{64}$/.test(expect))
      throw new UsageError(`--expect needs a hash, 64 hexadecimal digits, not ${JSON.stringify(expect)}`);
    const report = checkAudit(files.length === 1 ? withRotated(file) : files, { expect });
    const { lines, chains, open, problems, notes, last, rotated } = report;
    const whole = problems.length === 0 && lines > 0;
    if (own.has("json")) await print(process.stdout, `${JSON.stringify({ whole, ...report })}\n`);
    else {
      const text = [
        `${lines} lines, ${chains} ${chains === 1 ? "chain" : "chains"} (${open} open)${rotated ? "; older lines are in other files, or were rotated away" : ""}`,
        ...notes,
        ...problems,
        lines === 0
          ? "empty: there is no line to check"
          : whole
            ? `intact; the last hash is ${last}`
            : "NOT intact",
      ];
      await print(process.stdout, `${text.join("\n")}\n`);
    }
    return whole ? 0 : 1;
  },
});
