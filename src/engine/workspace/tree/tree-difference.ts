// What differs between a frozen tree and a tree that was copied from it: kinds, contents, modes and link targets. What
// the two still share need not be read; `untouched` says how they share it.
import type { Kind } from "../../fault.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { faultOf } from "../errno.ts";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display, Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import { lstatSync, readlinkSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { hasSameBytes } from "./same-bytes.ts";

/** One side of a difference. */
export interface TreeSide {
  readonly kind: Kind;
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
  /** Where a link points: bytes as Latin-1. */
  readonly target?: string;
}

export interface TreeDifference {
  /** Relative to the tree: bytes as Latin-1. */
  readonly path: string;
  readonly before?: TreeSide;
  readonly after?: TreeSide;
}

/** What was found about an entry on both sides. */
export interface Pair {
  readonly path: string;
  readonly before: Facts;
  readonly after: Facts;
}

export interface Facts extends TreeSide {
  readonly inode: bigint;
  readonly device: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

export interface DifferenceOptions {
  /** Whether an entry, and all that a directory holds, is known to be as it was without being read. */
  untouched(pair: Pair): boolean;
  /** What is not looked at: a relative path, and whether it was there before. */
  skip?(path: string, kind: Kind, existed: boolean): boolean;
  /** Decides about the contents of a pair of files without reading them; undefined if they are to be compared. */
  isRewritten?(pair: Pair): boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A directory comes before what is in it. */
export async function treeDifference(
  before: Handle,
  after: Handle,
  options: DifferenceOptions,
): Promise<TreeDifference[]> {
  const found: TreeDifference[] = [];
  const slice = new TimeSlice();

  async function compare(old: Handle | undefined, now: Handle | undefined, path: string): Promise<void> {
    const names = new Set([...(old ? rawNamesIn(old) : []), ...(now ? rawNamesIn(now) : [])]);
    for (const name of [...names].sort()) {
      if (isTemporaryName(name)) continue;
      if (slice.isOver) {
        await slice.turn();
        options.signal?.throwIfAborted();
      }
      const at = path === "" ? name : `${path}/${name}`;
      try {
        await entry(old?.below(addressOf(name)), now?.below(addressOf(name)), at);
      } catch (error) {
        throw faultOf(error, display(at));
      }
    }
  }

  async function entry(old: Address | undefined, now: Address | undefined, path: string): Promise<void> {
    const was = old === undefined ? undefined : factsAt(old);
    const is = now === undefined ? undefined : factsAt(now);
    const kind = is?.kind ?? was?.kind;
    if (kind === undefined || options.skip?.(path, kind, was !== undefined)) return;
    const pair = was !== undefined && is !== undefined ? { path, before: was, after: is } : undefined;
    if (pair !== undefined && options.untouched(pair)) return;
    const isRewritten = pair && isFilePair(pair) ? options.isRewritten?.(pair) : undefined;
    const isSame =
      isRewritten === undefined ? isEqual(was, is, old, now) : !isRewritten && was?.mode === is?.mode;
    if (!isSame) found.push({ path, ...(was && { before: node(was) }), ...(is && { after: node(is) }) });
    const [wasDirectory, isDirectory] = [was?.kind === "directory", is?.kind === "directory"];
    if (!wasDirectory && !isDirectory) return;
    using lower = wasDirectory && old !== undefined ? openDirectory(old) : undefined;
    using upper = isDirectory && now !== undefined ? openDirectory(now) : undefined;
    await compare(lower, upper, path);
  }

  await compare(before, after, "");
  return found;
}

function isFilePair({ before, after }: Pair): boolean {
  return before.kind === "file" && after.kind === "file";
}

function openDirectory(address: Address): Handle {
  return Handle.open(address, { follow: false, directory: true });
}

export function factsAt(address: Address): Facts | undefined {
  const stats = lstatSync(address, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const kind = kindOf(stats);
  return {
    kind,
    mode: Number(stats.mode) & 0o7777,
    size: Number(stats.size),
    inode: stats.ino,
    device: stats.dev,
    modified: stats.mtimeNs,
    changed: stats.ctimeNs,
    ...(kind === "symlink" && { target: readlinkSync(address, "latin1") }),
  };
}

function node({ kind, mode, size, target }: Facts): TreeSide {
  return { kind, mode, size, ...(target !== undefined && { target }) };
}

function isEqual(
  was: Facts | undefined,
  is: Facts | undefined,
  old: Address | undefined,
  now: Address | undefined,
): boolean {
  if (was === undefined || is === undefined || was.kind !== is.kind) return false;
  if (was.kind === "symlink") return was.target === is.target;
  if (was.mode !== is.mode) return false;
  if (was.kind !== "file") return true;
  return was.size === is.size && old !== undefined && now !== undefined && hasSameBytes(old, now, was.size);
}
