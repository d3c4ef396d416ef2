// A file, a link or a whole tree as it was: its bytes in the object store, the rest as plain data, enough to restore
// it with names, modes, links and times.
//
// Taking one is a generator that pauses now and then, so a large tree does not block the event loop; after a crash,
// recovery runs it without pauses.
import { constants } from "node:fs";
import { readingAll, sys } from "../disk/syscalls.ts";
import { isOfCommit, isTemporaryName } from "../disk/temporary.ts";
import type { Steps } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { written } from "../name.ts";
import type { Address } from "../system/held.ts";
import { type Check, fields, isText, list, numberThat, oneOf, optional } from "./form.ts";
import type { Objects } from "./objects.ts";

export type Snapshot =
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly size: number;
      readonly modified: number;
      /** Absent if it was too large to keep. */
      readonly hash?: string;
    }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number; readonly entries?: string }
  | { readonly kind: "special" };

/** What is in a directory, under its written name (name.ts). */
export type SnapshotEntry = Snapshot & { readonly name: string };

/** Some file systems keep 64 bits of seconds. */
const mostMs = 2 ** 63 * 1000;

const isMode = numberThat(mode => Number.isInteger(mode) && mode >= 0 && mode <= 0o7777);
const isHash: Check<string> = (value): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value);

type Of<K extends Snapshot["kind"]> = Extract<Snapshot, { kind: K }>;

const isFile = fields<Of<"file">>({
  kind: oneOf({ file: 0 }),
  mode: isMode,
  size: numberThat(size => size >= 0),
  modified: numberThat(time => Math.abs(time) <= mostMs),
  hash: optional(isHash),
});
const isLink = fields<Of<"symlink">>({ kind: oneOf({ symlink: 0 }), target: isText });
const isDirectory = fields<Of<"directory">>({
  kind: oneOf({ directory: 0 }),
  mode: isMode,
  entries: optional(isHash),
});
const isSpecial = fields<Of<"special">>({ kind: oneOf({ special: 0 }) });

export function isSnapshot(value: unknown): value is Snapshot {
  return isFile(value) || isLink(value) || isDirectory(value) || isSpecial(value);
}

const isNamed = fields<Pick<SnapshotEntry, "name">>({ name: isText });
const isListing = list((value): value is SnapshotEntry => isNamed(value) && isSnapshot(value));

/** Limits for one file, and for one change. Larger content is named but not kept. */
export interface RetentionLimits {
  readonly maxFileBytes: number;
  readonly maxChangeBytes: number;
}

/** The remaining budget of a change; `kept` turns false when something was left out. */
export interface Share {
  left: number;
  kept: boolean;
  /** Length of the path that the snapshot is taken at: entries too deep below it cannot be restored. */
  pathBytes?: number;
}

/** PATH_MAX without its final zero: nothing is restored where no program could name it. */
export const longestPath = 4095;

export type Snapshotting = Steps<Snapshot>;

/** Content that the archive has. A file with this size and time holds it. */
export interface KnownContent {
  readonly hash: string;
  readonly size: number;
  readonly modified: number | undefined;
}

/** Takes a snapshot of an address; links are not followed. A file with `known` content is not read. */
export function* snapshotAt(
  address: Address,
  objects: Objects,
  keeping: RetentionLimits,
  share: Share,
  known?: KnownContent,
): Snapshotting {
  // A loop, not a recursion: a generator that delegates takes as many steps for each pause as it is deep.
  const open: OpenDirectory[] = [];
  try {
    for (let at: Address = address, name = "", length = share.pathBytes ?? 0; ; ) {
      yield;
      const found = yield* entryAt(at, objects, keeping, share, known);
      if (found instanceof Handle) {
        const mode = found.stat().mode & 0o7777;
        open.push({
          handle: found,
          name,
          mode,
          left: sys
            .names(found.address)
            .filter(inner => !isPassing(found, inner))
            .reverse(),
          listed: [],
          length,
        });
      } else if (open.length === 0) return found;
      else open.at(-1)?.listed.push({ ...found, name });
      for (let last = open.at(-1); last !== undefined && last.left.length === 0; last = open.at(-1)) {
        const entries = objects.put(Buffer.from(JSON.stringify(last.listed)));
        const directory: Snapshot = { kind: "directory", mode: last.mode, entries };
        open.pop();
        last.handle.close();
        if (open.length === 0) return directory;
        open.at(-1)?.listed.push({ ...directory, name: last.name });
        yield;
      }
      const current = open.at(-1);
      const next = current?.left.pop();
      if (current === undefined || next === undefined)
        throw new Error("a snapshot's walk left its directory");
      at = current.handle.below(next);
      length = current.length + 1 + next.length;
      if (length > longestPath) share.kept = false;
      name = written(next);
    }
  } finally {
    for (const { handle } of open) handle.close();
  }
}

/** Whether a name in a held directory is one that a commit uses for a moment. */
function isPassing(directory: Handle, name: Buffer): boolean {
  if (!isTemporaryName(name.toString("latin1"))) return false;
  const stat = sys.lstat(directory.below(name));
  return stat === undefined || isOfCommit(String(name), stat.ctimeMs);
}

/** A directory whose entries are being taken. */
interface OpenDirectory {
  readonly handle: Handle;
  readonly name: string;
  readonly mode: number;
  readonly left: Buffer[];
  readonly listed: SnapshotEntry[];
  /** Of its path, in bytes. */
  readonly length: number;
}

/** A snapshot of anything but a directory; a directory is held open, and the caller closes it. */
function* entryAt(
  address: Address,
  objects: Objects,
  keeping: RetentionLimits,
  share: Share,
  known: KnownContent | undefined,
): Steps<Snapshot | Handle> {
  const handle = Handle.open(address, { follow: false });
  const stat = handle.stat();
  if (stat.isDirectory()) return handle;
  using _ = handle;
  if (stat.isSymbolicLink()) return { kind: "symlink", target: written(sys.readlink(address)) };
  if (!stat.isFile()) {
    share.kept = false;
    return { kind: "special" };
  }
  const mode = stat.mode & 0o7777;
  const file = { kind: "file", mode, size: stat.size, modified: stat.mtimeMs } as const;
  share.left -= stat.size;
  if (stat.size > keeping.maxFileBytes || share.left < 0) {
    share.kept = false;
    return file;
  }
  const isKnown = known?.size === stat.size && known.modified === stat.mtime.getTime();
  return { ...file, hash: isKnown ? known.hash : yield* objects.putting(yield* contentsOf(handle)) };
}

function* contentsOf(handle: Handle): Steps<Buffer> {
  const fd = sys.open(handle.address, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return yield* readingAll(fd);
  } finally {
    sys.close(fd);
  }
}

/** The entries of a past directory; undefined if they are no longer kept, or have more bytes than wanted. */
export function listedIn(
  snapshot: Snapshot,
  objects: Objects,
  mostBytes = Number.POSITIVE_INFINITY,
): readonly SnapshotEntry[] | undefined {
  if (snapshot.kind !== "directory" || snapshot.entries === undefined) return undefined;
  const bytes = objects.get(snapshot.entries);
  if (bytes === undefined || bytes.length > mostBytes) return undefined;
  return listing(bytes);
}

/** Undefined if it is not one: the hash of any object can be in a record. */
function listing(bytes: Buffer): readonly SnapshotEntry[] | undefined {
  try {
    const entries: unknown = JSON.parse(bytes.toString());
    return isListing(entries) ? entries : undefined;
  } catch {
    return undefined;
  }
}

/** The hashes of everything that a snapshot needs, those of listings included. */
export function* hashesIn(snapshot: Snapshot, objects: Objects): Generator<string> {
  if (snapshot.kind === "file" && snapshot.hash !== undefined) yield snapshot.hash;
  if (snapshot.kind !== "directory" || snapshot.entries === undefined) return;
  yield snapshot.entries;
  for (const listed of listedIn(snapshot, objects) ?? []) yield* hashesIn(listed, objects);
}
