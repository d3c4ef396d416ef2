// `polyfs undo`: undoes changes and shows how. Unlike history it writes, so it works only in the directories that are
// named, or in the working directory: a link that was planted since must not lead it elsewhere.
import { dirname, resolve } from "node:path";
import { Fault } from "../../engine/fault.ts";
import { isVisible, listChanges, placesOf } from "../../engine/history/changes.ts";
import { undoHunks } from "../../engine/history/undo-hunks.ts";
import { undoMany } from "../../engine/history/undo-many.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import { outermost } from "../../engine/workspace/within.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { CommandAudit } from "../command-audit.ts";
import { openDirectories } from "../directories.ts";
import { fromHome } from "../layer.ts";
import { print } from "../print.ts";
import { publishing } from "../replica-directory.ts";
import { isThere } from "../setup/configuration.ts";
import { styleOf, visibleName } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { chooseHunks } from "./choose-hunks.ts";
import { command, directoryOptions } from "./command.ts";
import { progressOn } from "./progress.ts";
import { printOutcome, type UndoReport } from "./restored.ts";
import { openPast, revealOption } from "./shown-past.ts";
import { whereTheUserStands } from "./standing.ts";
import { chosenChanges } from "./undo-choice.ts";

const mostNamed = 10;

export const undoChange = command({
  name: "undo",
  operands: "[CHANGE] [PATH]",
  description:
    "Undoes a change: the one with this id (see polyfs history), or the last one in the working directory that has not been undone; each further polyfs undo goes one step further back, and polyfs redo goes forward again. With PATH, undoes only the part of the change that touched PATH; PATH alone means the last change that touched it. Later edits elsewhere in the same files stay; if they touch the same lines, nothing is changed. Several changes are undone together or not at all.",
  own: {
    since: { value: "TIME", help: "All changes since then: 30m, 2h, 1d, 2026-08-01, or after this change" },
    task: { help: "All changes by the connection that made the last change" },
    client: { value: "NAME", help: "Only changes by this client; alone, its last change" },
    interactive: { help: "Show the hunks and ask which ones to undo" },
    reveal: revealOption,
    "dry-run": { help: "Only show what would be done" },
  },
  options: [...directoryOptions, "policy", "audit", "audit-max-bytes", "store", "store-objects"],
  examples: [
    ["polyfs undo", "undo the last change"],
    ["polyfs undo --dry-run", "see what that would do"],
    ["polyfs undo mf3k2a7bx9q04k", "undo this change"],
    ["polyfs undo ./src/main.ts", "the last change of one file"],
    ["polyfs undo --task", "everything that the last session of an agent changed"],
    ["polyfs undo --since 2h --client claude-code", "everything that this client changed in two hours"],
    ["polyfs undo --interactive", "choose hunks of the last change"],
  ],
  most: 2,
  async run({ operands, own, config }) {
    const directories = whereTheUserStands(config);
    using engine = openDirectories(directories, { withoutRoots: "usage" }, undefined);
    const { workspace } = engine;
    const dryRun = own.has("dry-run");
    using audit = new CommandAudit(config, workspace);
    await using _published = dryRun ? undefined : await publishing(directories, workspace);
    const { change, path } = wanted(operands, workspace);
    const at = path === undefined ? undefined : workspace.at(resolve(fromHome(path)));
    const choice = {
      change,
      path: at,
      since: own.get("since"),
      task: own.has("task"),
      client: own.get("client"),
    };
    const { since, task, client } = choice;
    const told = { change, since, client, ...(task && { task }), ...(dryRun && { dryRun }) };
    const records = await chosenChanges(workspace, choice).catch(refusal(workspace));
    const options = { path: at, dryRun, client: "polyfs undo" };
    const action = { command: "undo", paths: at === undefined ? [] : [at.absolute], about: told };
    const past = openPast(config, process.cwd(), { reveal: own.has("reveal") });
    let outcome: UndoReport;
    if (own.has("interactive")) {
      const hunks = await chooseHunks(workspace, records, at, past);
      if (hunks.length === 0) {
        await print(process.stdout, "Nothing was changed.\n");
        return 0;
      }
      const { restored, commit } = await audit.record(action, () =>
        undoHunks(workspace, records, hunks, options),
      );
      outcome = { parts: [{ restored }], commits: commit === undefined ? [] : [commit], dryRun };
    } else {
      using progress = progressOn(process.stderr, "changes undone");
      const undone = await audit
        .record(action, () => undoMany(workspace, records, options, progress.tell))
        .catch(refusal(workspace));
      const commits = undone.flatMap(({ commit }) => (commit === undefined ? [] : [commit]));
      outcome = { parts: undone, commits, dryRun };
    }
    await workspace.settled();
    await printOutcome(outcome, "Undone", past, styleOf(process.stdout));
    return 0;
  },
});

/** A change's id has no dots and no slashes. A plain word is an id, unless only a file has that name. */
function wanted(
  [first, second]: readonly string[],
  { archive }: Workspace,
): { change?: string; path?: string } {
  if (first === undefined) return {};
  if (second !== undefined) return { change: first, path: second };
  const isId = /^[0-9a-z]+$/.test(first) && (archive.changes.get(first) || !isThere(resolve(first)));
  return isId ? { change: first } : { path: first };
}

/** The directories that a change touched, without those inside another. */
function directoriesOf(record: ChangeRecord): string[] {
  return outermost(placesOf(record).map(path => dirname(path)));
}

/** Suggests what to do if a change exists but is not visible from here. */
function refusal(workspace: Workspace): (error: unknown) => Promise<never> {
  return async error => {
    if (!Fault.is(error, "unknown_change") || error.data.path !== undefined) throw error;
    const { id } = error.data;
    const record = id === "" ? undefined : workspace.archive.changes.get(id);
    if (record !== undefined && !isVisible(workspace, record)) {
      const places = directoriesOf(record);
      const named = places.slice(0, mostNamed).map(place => `--workspace ${place}`);
      const more = places.length > mostNamed ? ` and ${places.length - mostNamed} more` : "";
      throw new UsageError(
        `change ${record.id} reaches beyond this directory: add ${named.join(" ")}${more}, or a directory above`,
      );
    }
    if (id !== "" && record === undefined && (await listChanges(workspace, { limit: 1 })).length > 0)
      throw new UsageError(`there is no change ${id}; see polyfs history`);
    if (id === "") {
      const places = workspace.roots.map(root => visibleName(root.path)).join(", ");
      const message = `there is no change to undo in ${places}; --workspace DIR names another directory`;
      throw new Fault("invalid_argument", { message });
    }
    throw error;
  };
}
