// Converts the changes of a command into archive records, so that undo can revert them. A tree that was created or
// removed is one entry; a directory with a new mode is recorded without its contents, which undo must leave alone.
// What was not kept is left out and named: it must not cost the rest of the command its undo. Names are bytes up to
// here, and `display` writes them.

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
  readonly files: readonly RecordedFile[];
  /** What was not kept, and created directories that hold some of it. */
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
    const unkept = stays ? [] : [...unkeptIn(old, bytes), ...unkeptIn(made, bytes)];
    if (unkept.includes(bytes) || (unkept.length > 0 && made?.kind === "directory")) {
      // Undo could not restore it, or would remove contents that were never seen.
      leftOut.push(at);
      continue;
    }
    append(leftOut, unkept.map(display));
    const before = old && (stays ? withoutContents(old) : await writer.snapshot(old));
    const after = made && (stays ? withoutContents(made) : await writer.snapshot(made));
    const effect = change === "created" ? "created" : change === "deleted" ? "removed" : "modified";
    const kind = (made ?? old)?.kind ?? "other";
    files.push({ at, effect, kind, ...(before && { before }), ...(after && { after }) });
  }
  return { files, leftOut };
}

function withoutContents({ mode }: TreeEntry): Snapshot {
  return { kind: "directory", mode };
}

/** What was not kept of it, itself included: directories not looked into, contents, pipes and sockets. */
function unkeptIn(entry: TreeEntry | undefined, path: string): string[] {
  if (entry === undefined) return [];
  if (!isKept(entry)) return [path];
  return [...(entry.children ?? [])].flatMap(([name, child]) => unkeptIn(child, `${path}/${name}`));
}

function isKept({ kind, children, target, hash }: TreeEntry): boolean {
  const kept =
    kind === "directory" ? children : kind === "symlink" ? target : kind === "file" ? hash : undefined;
  return kept !== undefined;
}

class SnapshotWriter {
  readonly #objects: Objects;
  readonly #slice = new TimeSlice();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Undefined if it was not kept (`isKept`). */
  async snapshot(entry: TreeEntry): Promise<Snapshot | undefined> {
    const { kind, mode, size, modified, hash, target, children } = entry;
    if (kind === "directory") return children && (await this.#directory(mode, children));
    if (kind === "symlink") return target === undefined ? undefined : { kind, target: display(target) };
    if (kind !== "file" || hash === undefined) return undefined;
    return { kind, mode, size, modified: Number(modified) / 1e6, hash };
  }

  /** Without what was not kept of it. */
  async #directory(mode: number, children: ReadonlyMap<string, TreeEntry>): Promise<Snapshot> {
    const listed: SnapshotEntry[] = [];
    for (const [name, child] of children) {
      const snapshot = await this.snapshot(child);
      if (snapshot !== undefined) listed.push({ ...snapshot, name: display(name) });
    }
    if (this.#slice.isOver) await this.#slice.turn();
    return { kind: "directory", mode, entries: this.#objects.put(Buffer.from(JSON.stringify(listed))) };
  }
}
