// Converts the changes of a command into archive records, so that undo can revert them. A tree that was created or
// removed is one entry; a directory with a new mode is recorded without its contents, which undo must leave alone.
// Names are bytes up to here, and `display` writes them.

import { Buffer } from "node:buffer";
import { append } from "../append.ts";
import type { RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import type { Snapshot, SnapshotEntry } from "../workspace/archive/snapshot.ts";
import type { TreeChange } from "../workspace/footprint/compare-trees.ts";
import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { TreeEntry } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import { isWithin } from "../workspace/root.ts";

export interface Recordable {
  /** Undefined if some contents were not kept: then the change could only be undone in part. */
  readonly files: readonly RecordedFile[] | undefined;
  /** Directories that were not entered, and paths that cannot be undone because they hold one. */
  readonly leftOut: readonly string[];
}

export async function recordable(changes: readonly TreeChange[], objects: Objects): Promise<Recordable> {
  const writer = new SnapshotWriter(objects);
  const files: RecordedFile[] = [];
  const leftOut: string[] = [];
  const slice = new TimeSlice();
  let tree: string | undefined;
  for (const { path: at, bytes, change, before: old, after: made } of changes) {
    if (slice.isOver) await slice.turn();
    if (tree !== undefined && isWithin(bytes, tree)) continue;
    const stays = old?.kind === "directory" && made?.kind === "directory";
    if (!stays && (old?.kind === "directory" || made?.kind === "directory")) tree = bytes;
    const unseen = stays ? [] : [...unseenIn(old, bytes), ...unseenIn(made, bytes)];
    if (unseen.includes(bytes) || (unseen.length > 0 && made?.kind === "directory")) {
      // Undo could only restore it empty, or remove contents that were never seen.
      leftOut.push(at);
      continue;
    }
    append(leftOut, unseen.map(display));
    const before = old && (stays ? withoutContents(old) : await writer.snapshot(old));
    const after = made && (stays ? withoutContents(made) : await writer.snapshot(made));
    if ((old && !before) || (made && !after)) return { files: undefined, leftOut };
    const effect = change === "created" ? "created" : change === "deleted" ? "removed" : "modified";
    const kind = (made ?? old)?.kind ?? "other";
    files.push({ at, effect, kind, ...(before && { before }), ...(after && { after }) });
  }
  return { files, leftOut };
}

function withoutContents({ mode }: TreeEntry): Snapshot {
  return { kind: "directory", mode };
}

/** The directories in it that were not looked into, itself included. */
function unseenIn(entry: TreeEntry | undefined, path: string): string[] {
  if (entry?.kind !== "directory") return [];
  if (entry.children === undefined) return [path];
  return [...entry.children].flatMap(([name, child]) => unseenIn(child, `${path}/${name}`));
}

class SnapshotWriter {
  readonly #objects: Objects;
  readonly #slice = new TimeSlice();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  async snapshot(entry: TreeEntry): Promise<Snapshot | undefined> {
    const { kind, mode, size, modified, hash, target, children } = entry;
    if (kind === "directory") return await this.#directory(mode, children ?? new Map());
    if (kind === "symlink") return target === undefined ? undefined : { kind, target: display(target) };
    if (kind !== "file" || hash === undefined) return undefined;
    return { kind, mode, size, modified: Number(modified) / 1e6, hash };
  }

  /** Without the directories in it that were not looked into. */
  async #directory(mode: number, children: ReadonlyMap<string, TreeEntry>): Promise<Snapshot | undefined> {
    const listed: SnapshotEntry[] = [];
    for (const [name, child] of children) {
      if (child.kind === "directory" && child.children === undefined) continue;
      const snapshot = await this.snapshot(child);
      if (snapshot === undefined) return undefined;
      listed.push({ ...snapshot, name: display(name) });
    }
    if (this.#slice.isOver) await this.#slice.turn();
    return { kind: "directory", mode, entries: this.#objects.put(Buffer.from(JSON.stringify(listed))) };
  }
}
