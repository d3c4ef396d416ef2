// A name in a directory is durable only with the names of all directories that lead there: after a power cut, what is in
// a directory that its parent does not name is lost. So a flush of a directory includes all those above it that changed
// lately. The process that made or moved something there (this one, another, recovery, or another program) may not have
// flushed them yet, and its journal may outlast the one that relies on this flush.
import { Buffer } from "node:buffer";
import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { HeldDirectories } from "../disk/held-directories.ts";
import { flushAndClose, flushAndCloseLater, sys } from "../disk/syscalls.ts";
import { errnoOf, ifAllowed } from "../errno.ts";
import { inSlices } from "../footprint/time-slice.ts";
import type { Handle } from "../handle.ts";
import { byDescriptor } from "../system/descriptors.ts";
import type { Address } from "../system/held.ts";
import { onWindows } from "../windows-path.ts";

/** File systems write everything out within minutes: the entries of a directory that changed earlier are durable. */
const recentMs = 10 * 60_000;
/** Levels that fit into a path with the handle's prefix, as `/..`. */
const deepest = 1300;

/** The directories that one flush reaches: each of them is flushed once, and the way up from it is taken once. */
export class FlushedDirectories {
  readonly #flushed = new Set<string>();
  readonly #climbed = new Set<string>();

  /** The addresses of a directory and of those above it, as far as they are still to be flushed. */
  *toFlush(directory: Handle): Generator<Address> {
    if (onWindows) return; // directories cannot be flushed there
    if (isNew(directory.stat(), this.#flushed)) yield directory.address;
    yield* this.above(directory);
  }

  /** The same without the directory itself: what makes its name durable. */
  *above(directory: Handle): Generator<Address> {
    if (onWindows) return;
    let below = directory.stat();
    let path = byDescriptor ? String(directory.address) : directory.whereabouts();
    for (let level = 0; level < deepest && isNew(below, this.#climbed); level++) {
      path = byDescriptor ? `${path}/..` : dirname(path);
      const above = byDescriptor ? path : Buffer.from(path, "latin1");
      const stat = ifAllowed(() => sys.lstat(above));
      const isTop = stat === undefined || stat.dev !== below.dev || stat.ino === below.ino; // of the mount, or of everything
      if (isTop) return;
      if (Date.now() - stat.ctimeMs <= recentMs && isNew(stat, this.#flushed)) yield above;
      below = stat;
    }
  }
}

/** Adds a directory to those that are known. */
function isNew({ dev, ino }: Pick<Stats, "dev" | "ino">, known: Set<string>): boolean {
  const before = known.size;
  return known.add(`${dev}:${ino}`).size > before;
}

const mostRemembered = 10_000;

/**
 * The directories whose names are durable. The journal holds what a commit puts into a directory that exists, but not
 * the names that lead there: if a power cut takes one, recovery finds no place for what was answered. So the commit
 * flushes them, once for each directory and path.
 */
export class DurableNames {
  readonly #known = new Set<string>();

  /** The directories that a commit found, and whose names may not be durable. */
  lacking(places: HeldDirectories): Handle[] {
    if (onWindows) return [];
    return [...places.found].flatMap(([place, key]) => (this.#known.has(key) ? [] : [places.handle(place)]));
  }

  /** A commit has flushed them. */
  note(places: HeldDirectories): void {
    if (this.#known.size > mostRemembered) this.#known.clear();
    for (const key of places.found.values()) this.#known.add(key);
  }
}

/** Flushes the names that lead to directories, without blocking the event loop. */
export async function flushNamesLater(
  directories: readonly Handle[],
  flushed: FlushedDirectories,
): Promise<void> {
  const flushes = new Set<Promise<void>>();
  await inSlices(directories, directory => {
    for (const address of flushed.above(directory)) {
      const flush = flushAndCloseLater(openToFlush(address));
      flush.catch(() => {}); // it is reported below
      flushes.add(flush);
    }
  });
  await Promise.all(flushes);
}

/** Makes a directory durable before the only copy of something leaves its old place for it. */
export function makeDurable(places: HeldDirectories, place: number): void {
  if (places.reachable.has(place)) flushAndClose(openToFlush(places.handle(place).address));
  else flushReachable(places.handle(place));
  places.reachable.add(place);
}

/** Flushes a directory, and what leads there. */
export function flushReachable(directory: Handle, flushed = new FlushedDirectories()): void {
  for (const address of flushed.toFlush(directory)) flushAndClose(openToFlush(address));
}

/** The same without blocking the event loop. The directory may be closed before it resolves. */
export async function flushReachableLater(
  directory: Handle,
  flushed = new FlushedDirectories(),
): Promise<void> {
  const files = [...flushed.toFlush(directory)].map(openToFlush);
  await Promise.all(files.map(flushAndCloseLater));
}

/** Undefined for a directory that cannot be flushed: one that is writable but not readable, or any on Windows. */
export function openToFlush(address: Address): number | undefined {
  if (onWindows) return undefined;
  try {
    return sys.open(address, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}
