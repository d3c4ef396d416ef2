// `polyfs history`: the changes below a path, by any author, newest first. It only reads records, so it needs no
// grant: they belong to the user who runs the command.
import { parse, resolve } from "node:path";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { listChanges } from "../../engine/history/changes.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import { Workspace } from "../../engine/workspace/workspace.ts";
import { fromHome } from "../layer.ts";
import { print } from "../print.ts";
import { styleOf } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";
import { diffOf, fileLine, headOf, type ShownPast } from "./past.ts";
import { openPast, revealOption } from "./shown-past.ts";

export const history = command({
  name: "history",
  operands: "[PATH]",
  description:
    "Lists the changes of PATH (default: the working directory), newest first: the change's id, when it was made, by which tool and client, and its files (A added, M modified, D deleted, R moved, C copied). polyfs undo reverts one.",
  own: {
    all: { help: "Changes anywhere, not only below PATH" },
    diff: { help: "Show what was changed, line by line" },
    limit: { value: "N", help: "How many changes (default 20)" },
    before: { value: "CHANGE", help: "Only changes before this one" },
    reveal: revealOption,
    json: { help: "Print the records as JSON, one on each line" },
  },
  options: ["policy"],
  examples: [
    ["polyfs history", "the last changes in this directory"],
    ["polyfs history --diff src/main.ts", "what was done to one file"],
    ["polyfs history --all --limit 5", "the last five changes anywhere"],
  ],
  most: 1,
  async run({ operands: [named = "."], own, config }) {
    if (own.has("json") && own.has("diff")) throw new UsageError("--diff has no effect with --json");
    const shown = openPast(config, resolve(fromHome(named)), { reveal: own.has("reveal") });
    const at = resolve(fromHome(named));
    // Writable, so that the commits of a killed server are recovered and shown.
    using workspace = Workspace.open([{ path: parse(at).root, access: "read-write" }], {
      state: config["state-dir"],
    });
    const before = own.get("before");
    if (before !== undefined && workspace.archive.changes.get(before) === undefined)
      throw new UsageError(`there is no change ${JSON.stringify(before)}; polyfs history lists them`);
    const records = await listChanges(workspace, {
      path: own.has("all") ? undefined : workspace.at(at),
      before,
      limit: limitOf(own.get("limit")),
    });
    if (records.length === 0 && !own.has("all") && before === undefined) refuseMissing(workspace, at, named);
    if (own.has("json")) {
      await print(process.stdout, records.map(record => `${JSON.stringify(record)}\n`).join(""));
    } else if (records.length === 0) {
      await print(process.stderr, "polyfs: no changes are recorded here\n");
    } else for (const record of records) await printRecord(record, shown, own.has("diff"));
    return 0;
  },
});

/** A path that is not there may have been deleted or moved, but then there are changes. */
function refuseMissing(workspace: Workspace, at: string, named: string): void {
  try {
    workspace.stat(workspace.at(at));
  } catch (error) {
    if (!Fault.is(error, "not_found")) return;
    throw new UsageError(
      `there is no ${printable(named)}, and no change of it is recorded; polyfs history --all lists all changes`,
    );
  }
}

function limitOf(given = "20"): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UsageError(`--limit must be a whole number, 1 or more, not ${JSON.stringify(given)}`);
}

const mostFiles = 20;

async function printRecord(record: ChangeRecord, shown: ShownPast, withDiff: boolean): Promise<void> {
  const style = styleOf(process.stdout);
  const lines = [headOf(record, style)];
  const files = record.files.filter(({ effect }) => effect !== "none");
  const listed = withDiff ? files : files.slice(0, mostFiles);
  for (const file of listed) {
    lines.push(await fileLine(file, shown, style));
    const diff = withDiff ? await diffOf(file, shown, style) : "";
    if (diff !== "") lines.push(diff.trimEnd());
  }
  if (files.length > listed.length) lines.push(`  and ${files.length - listed.length} more`);
  await print(process.stdout, `${lines.join("\n")}\n`);
}
