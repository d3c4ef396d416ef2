// `polyfs undo`: takes a change back and shows how. Unlike history it writes, so it works only in the directories
// that are named, or where the user stands: a link that was planted since must not lead it elsewhere.
import { dirname, resolve } from "node:path";
import { Fault } from "../../engine/fault.ts";
import { listChanges } from "../../engine/history/changes.ts";
import { type Restored, undo } from "../../engine/history/undo.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { openDirectories } from "../directories.ts";
import { fromHome } from "../layer.ts";
import { print } from "../print.ts";
import { type Style, styleOf, visible } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command, directoryOptions } from "./command.ts";
import { contentDiff, headOf, shownFrom } from "./past.ts";
import { whereTheUserStands } from "./standing.ts";

export const undoChange = command({
  name: "undo",
  operands: "[CHANGE] [PATH]",
  description:
    "Takes a change back: the one with this id (see polyfs history), or the last one in the working directory. With PATH only what it did there; PATH alone means the last change that touched it. Later edits elsewhere in the same files stay; where they touch the same lines, nothing is done. An undo is a change, too: polyfs undo again takes it back.",
  own: { "dry-run": { help: "Only show what would be done" } },
  options: [...directoryOptions],
  examples: [
    ["polyfs undo", "take the last change back"],
    ["polyfs undo --dry-run", "see what that would do"],
    ["polyfs undo mf3k2a7bx9q", "take this change back"],
    ["polyfs undo ./src/main.ts", "the last change of one file"],
  ],
  most: 2,
  async run({ operands, own, config }) {
    const { change, path } = wanted(operands);
    const standing = whereTheUserStands(config);
    using engine = openDirectories(standing, { withoutRoots: "usage" }, undefined);
    const { workspace } = engine;
    const style = styleOf(process.stdout);
    const dryRun = own.has("dry-run");
    const at = path === undefined ? undefined : workspace.at(resolve(fromHome(path)));
    const undone = await undo(workspace, { change, path: at, dryRun, client: "polyfs undo" }).catch(
      refusal(workspace, change),
    );
    await workspace.settled();
    await print(process.stdout, `${headOf(undone.change, style)}\n`);
    for (const one of undone.restored) await print(process.stdout, await restoredLine(one, style));
    const { commit } = undone;
    const end = dryRun
      ? "Nothing was changed: this is what it would do."
      : commit === undefined
        ? "There was nothing left to take back."
        : `Taken back, as change ${commit.id}.`;
    await print(process.stdout, `${end}\n`);
    return 0;
  },
});

/** A change's id has no dots and no slashes; a path of one plain word is written `./word`. */
function wanted([first, second]: readonly string[]): { change?: string; path?: string } {
  if (first === undefined) return {};
  if (second !== undefined) return { change: first, path: second };
  return /^[0-9a-z]+$/.test(first) ? { change: first } : { path: first };
}

/** Says what helps, where a change is there but not to be seen from here. */
function refusal(workspace: Workspace, id: string | undefined): (error: unknown) => Promise<never> {
  return async error => {
    if (!Fault.is(error, "unknown_change")) throw error;
    const record = id === undefined ? undefined : workspace.archive.changes.get(id);
    if (record !== undefined) {
      const places = [...new Set(record.files.map(file => dirname(file.at)))].slice(0, 3);
      throw new UsageError(
        `change ${record.id} reaches beyond this directory: add ${places.map(place => `--workspace ${place}`).join(" ")}, or a directory above`,
      );
    }
    if (id !== undefined && (await listChanges(workspace, { limit: 1 })).length > 0)
      throw new UsageError(`there is no change ${id}; see polyfs history`);
    throw error;
  };
}

async function restoredLine({ at, did, from, before, after }: Restored, style: Style): Promise<string> {
  const name = visible(shownFrom(process.cwd(), at));
  const source = from === undefined ? "" : ` from ${visible(shownFrom(process.cwd(), from))}`;
  const diff = before && after ? await contentDiff(at, before, after, style) : "";
  return `  ${did} ${style.bold(name)}${source}\n${diff}`;
}
