// `polyfs redo`: reverts the last undo.
import { nextRedo } from "../../engine/history/standing.ts";
import { undo } from "../../engine/history/undo.ts";
import { CommandAudit } from "../command-audit.ts";
import { openDirectories } from "../directories.ts";
import { print } from "../print.ts";
import { publishing } from "../replica-directory.ts";
import { styleOf } from "../style.ts";
import { command, directoryOptions } from "./command.ts";
import { printOutcome } from "./restored.ts";
import { openPast, revealOption } from "./shown-past.ts";
import { whereTheUserStands } from "./standing.ts";

export const redo = command({
  name: "redo",
  operands: "",
  description:
    "Redoes what the last undo in the working directory reverted; each further polyfs redo goes one step further. After a new change, redo is no longer possible; polyfs undo ID then reverts a single undo.",
  own: { reveal: revealOption, "dry-run": { help: "Only show what would be done" } },
  options: [...directoryOptions, "policy", "audit", "audit-max-bytes", "store", "store-objects"],
  examples: [["polyfs redo", "apply the undone change again"]],
  most: 0,
  async run({ own, config }) {
    const dryRun = own.has("dry-run");
    const directories = whereTheUserStands(config);
    using engine = openDirectories(directories, { withoutRoots: "usage" }, undefined);
    const { workspace } = engine;
    using audit = new CommandAudit(config, workspace);
    await using _published = dryRun ? undefined : await publishing(directories, workspace);
    const record = await nextRedo(workspace);
    if (record === undefined) {
      await print(process.stderr, "polyfs: nothing to redo: the last change here is not an undo\n");
      return 1;
    }
    const done = await audit.record({ command: "redo", about: { change: record.id, dryRun } }, () =>
      undo(workspace, { change: record.id, dryRun, client: "polyfs redo" }),
    );
    await workspace.settled();
    const commits = done.commit === undefined ? [] : [done.commit];
    const past = openPast(config, process.cwd(), { reveal: own.has("reveal") });
    await printOutcome({ parts: [done], commits, dryRun }, "Redone", past, styleOf(process.stdout));
    return 0;
  },
});
