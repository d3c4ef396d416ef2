// The state of a tree, for finding out what a command did to it: one record per entry, at a cost bounded by the
// number of entries. Contents can be saved on the way (`Keeper`), so that undo can restore what the command
// overwrites; if a bound is exceeded, the snapshot lists what it does not cover. Names are bytes as Latin-1
// throughout (see `display`).
import type { BigIntStats } from "node:fs";
import { clock } from "../../clock.ts";
import type { Kind } from "../../fault.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { errnoOf, isAbsence, isAnswer } from "../errno.ts";
import { OpenFile } from "../file.ts";
import { bytesOf, display, Handle } from "../handle.ts";
import type { Root } from "../root.ts";
import { kindOf } from "../stat.ts";
import { lstatSync, readlinkSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { isWithin, type RelatedPaths } from "../within.ts";
import { fingerprint } from "./fingerprint.ts";
import { addressOf, rawNamesIn } from "./raw-names.ts";
import { TimeSlice } from "./time-slice.ts";

/** Begin and end of a look at one thing, by `clock`, which is that of all processes of a machine. */
export type LookSpan = readonly [number, number];

/** Tells whether an entry is unchanged. A command can set the modification time, but not `changed`. */
export interface TreeEntry {
  readonly kind: Kind;
  readonly size: number;
  readonly mode: number;
  readonly inode: bigint;
  readonly device: bigint;
  /** Nanoseconds. */
  readonly modified: bigint;
  /** Of the inode: nanoseconds. */
  readonly changed: bigint;
  /** Where a link points, as bytes in Latin-1. */
  readonly target?: string;
  /** Of a file's contents, where they were put aside. */
  readonly hash?: string;
  /** When it was read, or listed. */
  readonly seen?: LookSpan;
  /** The entries of a directory, sorted by name. Absent if it was not looked into, or may not be. */
  readonly children?: ReadonlyMap<string, TreeEntry>;
}

export interface TreeSnapshot {
  /** What is in each root, by the root's path. */
  readonly roots: ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>;
  /** When each root was listed. */
  readonly listed: ReadonlyMap<string, LookSpan>;
  /** Paths that were looked at again and were not there, and when: later than the listing of their directory. */
  readonly missing?: ReadonlyMap<string, LookSpan>;
  /** False if a bound was exceeded, or something could not be looked at: then a missing entry proves nothing. */
  readonly complete: boolean;
  /** Directories that were skipped as asked, with their fingerprint; undefined if too large. */
  readonly skipped: ReadonlyMap<string, string | undefined>;
}

/** Puts contents aside, before they may be lost. */
export interface Keeper {
  /** Files and bytes beyond this are not covered. */
  readonly maxBytes: number;
  /** The hash of the contents; undefined if they cannot be kept. */
  keep(path: string, entry: TreeEntry, open: () => OpenFile): Promise<string | undefined>;
}

/** Directories with generated content, and Git's own: neither undone nor shared with other machines. */
export const skippedDirectories: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  ".polyfs",
  ".venv",
  "__pycache__",
  "target",
  ".gradle",
]);

export interface SnapshotOptions {
  readonly maxEntries: number;
  /** Directories that are not entered, by name: `node_modules`. */
  readonly skip?: ReadonlySet<string>;
  /** Directories that are not even seen, by identity (`identityOf`): the server's own. */
  readonly absent?: ReadonlySet<string>;
  /** Only these paths, with what is above and below them. */
  readonly only?: RelatedPaths;
  readonly keeper?: Keeper;
  readonly signal?: AbortSignal;
}

type SeenEntries = ReadonlyMap<string, TreeEntry>;

const none: SeenEntries = new Map();
const unknown: LookSpan = [0, 0];
const maxDepth = 256;
/** Entries to examine in all skipped directories together. */
const maxSkippedEntries = 5000;

export async function snapshotTree(roots: readonly Root[], options: SnapshotOptions): Promise<TreeSnapshot> {
  const skipped = new Map<string, string | undefined>();
  const slice = new TimeSlice();
  const absent = new Set(options.absent);
  for (const { handle } of roots) absent.add(identityOf(handle)); // a root in a root is visited on its own
  const budget = { left: maxSkippedEntries };
  let entries = 0;
  let complete = true;
  let keptBytes = 0;

  async function visit(directory: Handle, path: string, root: Root, depth: number) {
    const children = new Map<string, TreeEntry>();
    const begun = clock();
    const names = rawNamesIn(directory);
    const listing = { children, seen: [begun, clock()] as const };
    for (const name of names) {
      const at = `${path}/${name}`;
      if (isTemporaryName(name) || options.only?.has(at) === false) continue;
      if (entries >= options.maxEntries || depth > maxDepth) {
        complete = false;
        return listing;
      }
      if (slice.isOver) {
        await slice.turn();
        options.signal?.throwIfAborted();
      }
      const address = directory.below(addressOf(name));
      const looked = clock();
      const entry = entryAt(address);
      if (entry === undefined || absent.has(`${entry.device}:${entry.inode}`)) continue;
      entries++;
      if (entry.kind === "file") {
        const kept = await keep(at, entry, address, root);
        children.set(name, { ...kept, seen: [looked, clock()] });
      } else if (entry.kind !== "directory") children.set(name, { ...entry, seen: [looked, clock()] });
      else if (options.skip?.has(name)) {
        skipped.set(at, await fingerprint(address, budget, slice));
        children.set(name, { ...entry, seen: [looked, clock()] });
      } else {
        const below = await enter(address, at, root, depth + 1);
        children.set(name, { ...entry, ...(below ?? { seen: [looked, clock()] }) });
      }
    }
    return listing;
  }

  async function enter(address: Address, path: string, root: Root, depth: number) {
    try {
      using directory = Handle.open(address, { follow: false, directory: true });
      return directory.stat().isDirectory() ? await visit(directory, path, root, depth) : undefined;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      if (!isAnswer(error)) complete = false;
      return undefined;
    }
  }

  async function keep(path: string, entry: TreeEntry, address: Address, root: Root): Promise<TreeEntry> {
    const { keeper } = options;
    if (keeper === undefined || keptBytes + entry.size > keeper.maxBytes) return entry;
    const shown = display(path);
    const open = () =>
      OpenFile.open(
        { handle: Handle.open(address, { follow: false }), root, path: shown },
        shown,
        "unmasked",
      );
    const hash = await keeper.keep(path, entry, open).catch(() => undefined);
    if (hash === undefined) return entry;
    keptBytes += entry.size;
    return { ...entry, hash };
  }

  const found = new Map<string, ReadonlyMap<string, TreeEntry>>();
  const listed = new Map<string, LookSpan>();
  for (const root of roots) {
    const path = bytesOf(root.path);
    try {
      const { children, seen } = await visit(root.handle, path, root, 0);
      found.set(path, children);
      listed.set(path, seen);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      complete = false;
    }
  }
  return { roots: found, listed, complete, skipped };
}

/** A snapshot with some of its paths replaced by a later look at only those. */
export function withPaths(whole: TreeSnapshot, part: TreeSnapshot, only: RelatedPaths): TreeSnapshot {
  function merged(old: SeenEntries, seen: SeenEntries, path: string): SeenEntries {
    const names = [...new Set([...old.keys(), ...seen.keys()])].sort();
    const children = new Map<string, TreeEntry>();
    for (const name of names) {
      const at = `${path}/${name}`;
      const entry = only.has(at) ? renewed(old.get(name), seen.get(name), at) : old.get(name);
      if (entry !== undefined) children.set(name, entry);
    }
    return children;
  }
  /** Of a directory above the paths, the later look tells nothing about other names in it. */
  function renewed(then: TreeEntry | undefined, now: TreeEntry | undefined, at: string) {
    if (now?.children === undefined) return now;
    const children = merged(then?.children ?? none, now.children, at);
    const seen = (only.isWithin(at) ? undefined : then?.seen) ?? now.seen;
    return { ...now, children, ...(seen && { seen }) };
  }
  const roots = new Map(
    [...whole.roots].map(([path, old]) => [path, merged(old, part.roots.get(path) ?? none, path)]),
  );
  const missing = new Map(whole.missing);
  for (const path of only) {
    const found = seenAt(part, path);
    if (found?.missing !== undefined) missing.set(found.missing, found.seen);
  }
  const skipped = new Map([...whole.skipped, ...part.skipped]);
  return { roots, listed: whole.listed, missing, complete: whole.complete && part.complete, skipped };
}

/** What a snapshot tells about a path. */
export interface SeenPath {
  readonly entry: TreeEntry | undefined;
  /** When it was looked at. */
  readonly seen: LookSpan;
  /** If there was nothing, the outermost path that was no directory. */
  readonly missing: string | undefined;
}

/** Undefined where the snapshot does not cover the path: outside the roots, or in a directory that was not entered. */
export function seenAt({ roots, listed, missing }: TreeSnapshot, path: string): SeenPath | undefined {
  let root: string | undefined;
  for (const one of roots.keys())
    if (path !== one && isWithin(path, one) && one.length > (root?.length ?? 0)) root = one;
  if (root === undefined) return undefined;
  let children = roots.get(root);
  let seen = listed.get(root) ?? unknown;
  let entry: TreeEntry | undefined;
  const nothingAt = (at: string) => ({ entry: undefined, seen: missing?.get(at) ?? seen, missing: at });
  for (let end = root.length; end < path.length; ) {
    if (children === undefined && entry?.kind === "directory") return undefined;
    if (children === undefined) return nothingAt(path.slice(0, end));
    const begin = end + 1;
    const next = path.indexOf("/", begin);
    end = next < 0 ? path.length : next;
    entry = children.get(path.slice(begin, end));
    if (entry === undefined) return nothingAt(path.slice(0, end));
    seen = entry.seen ?? seen;
    children = entry.children;
  }
  return { entry, seen, missing: undefined };
}

/** Device and inode of an open directory. */
export function identityOf(handle: Handle): string {
  const { dev, ino } = handle.statBig();
  return `${dev}:${ino}`;
}

/** Whether a path holds what a snapshot shows there. Only for comparing: the path is followed as it is. */
export function isStill(path: string, entry: TreeEntry | undefined): boolean {
  try {
    const now = entryAt(addressOf(path));
    return now?.inode === entry?.inode && now?.changed === entry?.changed && now?.size === entry?.size;
  } catch {
    return entry === undefined; // a directory above it is gone
  }
}

function entryAt(address: Address): TreeEntry | undefined {
  const stats = lstatSync(address, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const entry = entryOf(stats);
  if (entry.kind !== "symlink") return entry;
  try {
    return { ...entry, target: readlinkSync(address, "latin1") };
  } catch (error) {
    if (isAbsence(error)) return undefined; // gone by now
    if (errnoOf(error) === "EINVAL") return entry; // no link any more, or one that only Windows understands
    throw error;
  }
}

export function entryOf(stats: BigIntStats): TreeEntry {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    inode: stats.ino,
    device: stats.dev,
    modified: stats.mtimeNs,
    changed: stats.ctimeNs,
  };
}
