// What a tree looks like, for finding out what a command did to it: one record per entry, without contents, at a
// cost that is bounded by the number of entries. Contents can be put aside on the way (`Keeper`), so that what
// the command overwrites can be brought back; where a bound is passed, the snapshot says what it does not cover.
import { Buffer } from "node:buffer";
import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Kind } from "../../fault.ts";
import { OpenFile } from "../file.ts";
import { type Address, bytesOf, display, Handle } from "../handle.ts";
import type { Root } from "../root.ts";
import { kindOf } from "../stat.ts";

/** What tells whether an entry is as it was. A command can set the time of change of contents, not `changed`. */
export interface EntryRecord {
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
  /** Whether its contents were put aside. Always for what has none but this record: directories and links. */
  readonly kept: boolean;
}

export interface TreeSnapshot {
  /** By canonical path: bytes as Latin-1 (see `display`). */
  readonly entries: ReadonlyMap<string, EntryRecord>;
  /** False where a bound was passed: nothing can then be said about what is not there. */
  readonly complete: boolean;
  /** Directories that were not entered, as asked. */
  readonly skipped: readonly string[];
  /** Bytes that were put aside. */
  readonly keptBytes: number;
}

/** Puts contents aside, before they may be lost. */
export interface Keeper {
  /** Files and bytes beyond this are not covered. */
  readonly maxBytes: number;
  /** False where it cannot. `record` tells it whether it has these contents already. */
  keep(path: string, record: EntryRecord, open: () => OpenFile): Promise<boolean>;
}

export interface SnapshotOptions {
  readonly maxEntries: number;
  /** Directories that are not entered, by name: `node_modules`. */
  readonly skip?: ReadonlySet<string>;
  readonly keeper?: Keeper;
  readonly signal?: AbortSignal;
}

const maxDepth = 256;
/** The event loop turns after this many entries. */
const stride = 512;

export async function snapshotTree(roots: readonly Root[], options: SnapshotOptions): Promise<TreeSnapshot> {
  const entries = new Map<string, EntryRecord>();
  const skipped: string[] = [];
  let complete = true;
  let keptBytes = 0;

  async function visit(directory: Handle, path: string, root: Root, depth: number): Promise<void> {
    for (const name of namesIn(directory)) {
      if (entries.size >= options.maxEntries || depth > maxDepth) {
        complete = false;
        return;
      }
      if (entries.size % stride === stride - 1) {
        await setImmediate();
        options.signal?.throwIfAborted();
      }
      const address = directory.below(addressOf(name));
      const stats = lstatSync(address, { bigint: true, throwIfNoEntry: false });
      // A root within a root is visited on its own.
      if (stats === undefined || roots.some(other => other !== root && isRoot(other, stats))) continue;
      const at = `${path}/${name}`;
      const record = recordOf(stats, address);
      entries.set(at, record.kind === "file" ? await keep(at, record, address, root) : record);
      if (record.kind !== "directory") continue;
      if (options.skip?.has(name)) skipped.push(display(at));
      else await enter(address, at, root, depth + 1);
    }
  }

  async function enter(address: Address, path: string, root: Root, depth: number): Promise<void> {
    let handle: Handle;
    try {
      handle = Handle.open(address, { follow: false });
    } catch {
      return; // gone meanwhile, or not ours to enter: then a command cannot either
    }
    using directory = handle;
    if (directory.stat().isDirectory()) await visit(directory, path, root, depth);
  }

  async function keep(path: string, record: EntryRecord, address: Address, root: Root): Promise<EntryRecord> {
    const { keeper } = options;
    if (keeper === undefined || keptBytes + record.size > keeper.maxBytes) return record;
    const shown = display(path);
    const open = () =>
      OpenFile.open({ handle: Handle.open(address, { follow: false }), root, path: shown }, shown);
    const kept = await keeper.keep(shown, record, open).catch(() => false);
    if (kept) keptBytes += record.size;
    return { ...record, kept };
  }

  for (const root of roots) await visit(root.handle, bytesOf(root.path), root, 0);
  return { entries, complete, skipped, keptBytes };
}

function namesIn(directory: Handle): string[] {
  try {
    return readdirSync(directory.address, { encoding: "latin1" }).sort();
  } catch {
    return []; // not ours to read
  }
}

function addressOf(name: string): Address {
  return /^[\x20-\x7e]*$/.test(name) ? name : Buffer.from(name, "latin1");
}

function isRoot(root: Root, stats: BigIntStats): boolean {
  return stats.ino === BigInt(root.inode) && stats.dev === BigInt(root.device);
}

function recordOf(stats: BigIntStats, address: Address): EntryRecord {
  const kind = kindOf(stats);
  const target = kind === "symlink" ? targetOf(address) : undefined;
  return {
    kind,
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    inode: stats.ino,
    device: stats.dev,
    modified: stats.mtimeNs,
    changed: stats.ctimeNs,
    ...(target === undefined ? {} : { target }),
    kept: kind === "directory" || target !== undefined,
  };
}

function targetOf(link: Address): string | undefined {
  try {
    return readlinkSync(link, "latin1");
  } catch {
    return undefined; // gone, or no link any more
  }
}
