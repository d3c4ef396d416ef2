// Suggestions for a path that does not exist: similar names in the same directory, then the same name elsewhere.
// Bounded in time: no suggestion is better than a late one.
import { Fault } from "../fault.ts";
import { editDistance } from "../text/distance.ts";
import type { Directory } from "../workspace/directory.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { walk } from "./walk.ts";

const most = 3;
const maxSiblings = 5000;
const maxEntries = 20_000;
const maxMs = 150;
/** How far up an existing directory is looked for. Each level is a path to resolve. */
const maxLevels = 8;

export async function nearestPaths(workspace: Workspace, path: WorkspacePath): Promise<WorkspacePath[]> {
  const place = standing(workspace, path);
  if (place === undefined) return [];
  const found = new Map<string, WorkspacePath>();
  const add = (one: WorkspacePath) => found.size < most && found.set(one.absolute, one);
  using directory = place.directory;
  for (const name of similarNames(directory, place.missing)) add(place.at.below(name));
  if (found.size < most) for (const one of await sameNames(workspace, path)) add(one);
  return [...found.values()];
}

/** The nearest existing directory above, and the missing name in it. */
function standing(workspace: Workspace, path: WorkspacePath) {
  for (let child = path, level = 0; !child.isRoot && level < maxLevels; child = child.parent, level++) {
    try {
      return { at: child.parent, directory: workspace.directory(child.parent), missing: child.name };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return undefined;
}

function similarNames(directory: Directory, missing: string): string[] {
  const wanted = missing.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return directory
    .entries()
    .slice(0, maxSiblings)
    .filter(({ name }) => Math.abs(name.length - wanted.length) <= limit)
    .map(({ name }) => ({ name, distance: editDistance(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .map(({ name }) => name);
}

/** Other paths in the root with the same last name. */
async function sameNames(workspace: Workspace, path: WorkspacePath): Promise<WorkspacePath[]> {
  const [root, wanted] = [workspace.at(path.root.path), path.name.toLowerCase()];
  using directory = workspace.directory(root);
  const found: WorkspacePath[] = [];
  const ignore = { rules: true, hidden: true };
  for await (const entry of walk(directory, { ignore, maxEntries, timeoutMs: maxMs })) {
    if (entry.name.toLowerCase() === wanted) found.push(root.below(entry.path));
    if (found.length === most) break;
  }
  return found;
}
