// A file, a link or a whole tree as it was: its bytes in the object store, the rest as plain data, enough to put it
// back with its names, modes, links and times.
//
// Taking one is a generator that pauses now and then, so that a large tree does not hold everything up; after a
// crash, recovery runs it through at once.
import { constants } from "node:fs";
import { readAll, sys } from "../commit/syscalls.ts";
import { type Address, Handle } from "../handle.ts";
import { written } from "../name.ts";
import type { Objects } from "./objects.ts";

export type Snapshot =
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly size: number;
      readonly modified: number;
      /** Absent where it was too large to keep. */
      readonly hash?: string;
    }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number; readonly entries?: string }
  | { readonly kind: "special" };

/** What lies in a directory, under its written name (name.ts). */
export type Listed = Snapshot & { readonly name: string };

/** How much is kept of one file, and in one change. What is larger is named but not kept. */
export interface Keeping {
  readonly maxFileBytes: number;
  readonly maxChangeBytes: number;
}

/** What is left of a change's share; `kept` turns false when something had to be left out. */
export interface Share {
  left: number;
  kept: boolean;
}

export type Snapshotting = Generator<void, Snapshot, undefined>;

/** Takes a snapshot of what stands at an address; links are not followed. */
export function* snapshotAt(
  address: Address,
  objects: Objects,
  keeping: Keeping,
  share: Share,
): Snapshotting {
  yield;
  using handle = Handle.open(address, { follow: false });
  const stat = handle.stat();
  const mode = stat.mode & 0o7777;
  if (stat.isSymbolicLink()) return { kind: "symlink", target: written(sys.readlink(address)) };
  if (stat.isDirectory()) {
    const listed: Listed[] = [];
    for (const name of sys.names(handle.address)) {
      const snapshot = yield* snapshotAt(handle.below(name), objects, keeping, share);
      listed.push({ ...snapshot, name: written(name) });
    }
    return { kind: "directory", mode, entries: objects.put(Buffer.from(JSON.stringify(listed))) };
  }
  if (!stat.isFile()) {
    share.kept = false;
    return { kind: "special" };
  }
  const file = { kind: "file", mode, size: stat.size, modified: stat.mtimeMs } as const;
  share.left -= stat.size;
  if (stat.size > keeping.maxFileBytes || share.left < 0) {
    share.kept = false;
    return file;
  }
  return { ...file, hash: objects.put(contentsOf(handle)) };
}

function contentsOf(handle: Handle): Buffer {
  const fd = sys.open(handle.address, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readAll(fd);
  } finally {
    sys.close(fd);
  }
}

/** What lies in a directory of the past; undefined where that is not kept any more. */
export function listedIn(snapshot: Snapshot, objects: Objects): readonly Listed[] | undefined {
  if (snapshot.kind !== "directory" || snapshot.entries === undefined) return undefined;
  const bytes = objects.get(snapshot.entries);
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Listed[]);
}

/** The hashes of everything that a snapshot needs, those of listings included. */
export function* hashesIn(snapshot: Snapshot, objects: Objects): Generator<string> {
  if (snapshot.kind === "file" && snapshot.hash !== undefined) yield snapshot.hash;
  if (snapshot.kind !== "directory" || snapshot.entries === undefined) return;
  yield snapshot.entries;
  for (const listed of listedIn(snapshot, objects) ?? []) yield* hashesIn(listed, objects);
}
