// What a command leaves behind in the roots: found by looking at them before and after, and recorded as a change
// that can be taken back. The cost is bounded; where a bound is passed, what was done is told as far as it is known
// and not recorded, because half of it cannot be taken back.
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import type { Listed, Snapshot } from "../workspace/archive/snapshot.ts";
import type { By } from "../workspace/commit/change.ts";
import { compareTrees, type TreeChange } from "../workspace/footprint/compare-trees.ts";
import {
  type EntryRecord,
  type Keeper,
  snapshotTree,
  type TreeSnapshot,
} from "../workspace/footprint/tree-snapshot.ts";
import { bytesOf, display } from "../workspace/handle.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";

const maxEntries = 20_000;
const maxBytes = 64 * 1024 * 1024;
const maxFileBytes = 4 * 1024 * 1024;
/** Directories that programs fill with what can be made again, and Git's own. */
const skip = new Set([".git", "node_modules", ".polyfs", ".venv", "__pycache__", "target", ".gradle"]);

/** Hashes of contents that are kept already, by what tells that a file is as it was. One process, many commands. */
const known = new Map<string, string>();
const mostKnown = 100_000;

export interface Footprint {
  /** By path. What was only touched is left out. */
  readonly changes: readonly TreeChange[];
  /** False where the roots hold too much to look at all of it. */
  readonly complete: boolean;
  /** What the archive can record; absent where nothing was changed, or not all of it can be taken back. */
  readonly files?: readonly RecordedFile[];
}

/** Records a footprint as a change; undefined where there is nothing that could be taken back. */
export function record({ archive }: Workspace, { files }: Footprint, by: By): ChangeRecord | undefined {
  if (files === undefined) return undefined;
  const made = { id: archive.changes.newId(), time: Date.now(), ...by, files, parents: [], kept: true };
  archive.changes.add(made);
  return made;
}

export class Before {
  readonly #workspace: Workspace;
  readonly #before: TreeSnapshot;
  readonly #objects: Objects;

  private constructor(workspace: Workspace, before: TreeSnapshot, objects: Objects) {
    this.#workspace = workspace;
    this.#before = before;
    this.#objects = objects;
  }

  static async look(workspace: Workspace, signal?: AbortSignal): Promise<Before> {
    const { objects } = workspace.archive;
    return new Before(workspace, await look(workspace, keeperOf(objects), signal), objects);
  }

  /** What has been done since. */
  async compare(): Promise<Footprint> {
    const before = this.#before;
    const isNew = (path: string, entry: EntryRecord) => {
      const old = before.entries.get(bytesOf(path));
      return old === undefined || identity(old) !== identity(entry);
    };
    const after = await look(this.#workspace, keeperOf(this.#objects, isNew));
    const { changes: all, complete } = compareTrees(before, after);
    const changes = all.filter(({ change, before: old, after: made }) => {
      if ((change !== "touched" && change !== "modified") || old === undefined || made === undefined)
        return true;
      const hash = known.get(identity(old));
      return hash === undefined || hash !== known.get(identity(made)) || old.mode !== made.mode;
    });
    if (changes.length === 0 || !complete) return { changes, complete };
    const files = new Telling(before, after, this.#objects).files(changes);
    return { changes, complete, ...(files && { files }) };
  }
}

function look(workspace: Workspace, keeper: Keeper, signal?: AbortSignal): Promise<TreeSnapshot> {
  const roots = workspace.roots.filter(({ access }) => access === "read-write");
  return snapshotTree(roots, { maxEntries, skip, keeper, ...(signal && { signal }) });
}

/** Puts contents into the archive, except those that are there already or not `wanted`. */
function keeperOf(
  objects: Objects,
  wanted: (path: string, record: EntryRecord) => boolean = () => true,
): Keeper {
  return {
    maxBytes,
    async keep(path, record, open) {
      const key = identity(record);
      if (known.has(key)) return true;
      if (record.size > maxFileBytes || !wanted(path, record)) return false;
      using file = open();
      const hash = objects.put(await file.bytes(maxFileBytes));
      if (known.size >= mostKnown) known.clear();
      known.set(key, hash);
      return true;
    },
  };
}

function identity({ device, inode, changed, size }: EntryRecord): string {
  return `${device}:${inode}:${changed}:${size}`;
}

/** Turns differences into what the archive records: whole trees that came or went as one. */
class Telling {
  readonly #before: TreeSnapshot;
  readonly #after: TreeSnapshot;
  readonly #objects: Objects;

  constructor(before: TreeSnapshot, after: TreeSnapshot, objects: Objects) {
    this.#before = before;
    this.#after = after;
    this.#objects = objects;
  }

  /** Undefined where something is not kept. */
  files(changes: readonly TreeChange[]): RecordedFile[] | undefined {
    const files: RecordedFile[] = [];
    let tree: string | undefined;
    for (const { path: at, change, before: old, after: made } of changes) {
      if (tree !== undefined && isWithin(at, tree)) continue;
      const kind = (made ?? old)?.kind ?? "other";
      const before = old && this.#snapshot(bytesOf(at), this.#before);
      const after = made && this.#snapshot(bytesOf(at), this.#after);
      if ((old && !before) || (made && !after)) return undefined;
      const effect = change === "created" ? "created" : change === "deleted" ? "removed" : "modified";
      files.push({ at, effect, kind, ...(before && { before }), ...(after && { after }) });
      if (kind === "directory") tree = at;
    }
    return files;
  }

  #snapshot(path: string, tree: TreeSnapshot): Snapshot | undefined {
    const record = tree.entries.get(path);
    switch (record?.kind) {
      case "file": {
        const hash = known.get(identity(record));
        const { mode, size, modified } = record;
        return hash === undefined
          ? undefined
          : { kind: "file", mode, size, modified: Number(modified) / 1e6, hash };
      }
      case "symlink":
        return record.target === undefined ? undefined : { kind: "symlink", target: display(record.target) };
      case "directory":
        return this.#directory(path, record, tree);
      default:
        return undefined;
    }
  }

  #directory(path: string, { mode }: EntryRecord, tree: TreeSnapshot): Snapshot | undefined {
    if (tree.skipped.includes(display(path))) return undefined;
    const listed: Listed[] = [];
    for (const key of tree.entries.keys()) {
      const name = key.startsWith(`${path}/`) ? key.slice(path.length + 1) : "/";
      if (name.includes("/")) continue;
      const snapshot = this.#snapshot(key, tree);
      if (snapshot === undefined) return undefined;
      listed.push({ ...snapshot, name });
    }
    return { kind: "directory", mode, entries: this.#objects.put(Buffer.from(JSON.stringify(listed))) };
  }
}
