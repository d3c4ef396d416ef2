// Directories that were read before, so that the next walk need not read them again: only ask whether they changed
// (workspace/mark.ts). Nothing is kept that can change without its directory: no sizes, no times, no ignore files.
//
// They are kept by name below each granted root, within one bound for all. What no walk came by for the longest time
// goes first, with all that lies below; a walk comes by what lies above first, so nothing in use loses its place.
import type { Directory } from "../workspace/directory.ts";
import { isSame, isSettled, type Mark, markOf } from "../workspace/mark.ts";
import { Listing } from "./listing.ts";

const maxEntries = 400_000;
const maxBytes = 64 * 1024 * 1024;
const placeBytes = 500;

/** A place in the tree below a root, and what was read there. */
export class Known {
  readonly name: string;
  readonly parent: Known | undefined;
  below: Map<string, Known> | undefined;
  mark: Mark | undefined;
  listing: Listing | undefined;
  /** The last walk that came by. */
  walk = 0;

  constructor(name: string, parent: Known | undefined) {
    this.name = name;
    this.parent = parent;
  }
}

const roots = new Map<string, Known>();
/** All places, those that were come by last at the end. */
const places = new Set<Known>();
const held = { entries: 0, bytes: 0 };
let walks = 0;

/** What one walk knows from those before, and leaves to those behind. */
export class Knowledge {
  readonly #walk = ++walks;
  readonly #trusted = new Map<number, boolean>();
  #isFull = false;

  constructor() {
    if (clockWentBack()) for (const place of roots.values()) forget(place);
  }

  /** The place of a directory in its root; undefined where its path cannot tell, or nothing can be kept. */
  placeOf(directory: Directory): Known | undefined {
    const { root, path } = directory;
    if (path.includes("\ufffd") || !this.#trusts(directory.mark().dev, directory)) return undefined;
    const key = `${root.device}:${root.inode}`;
    let place = this.#comeBy(roots, key, undefined);
    for (const name of path.slice(root.path.length).split("/")) {
      if (place !== undefined && name !== "") place = this.below(place, name);
    }
    return place;
  }

  below(place: Known, name: string): Known | undefined {
    place.below ??= new Map();
    return this.#comeBy(place.below, name, place);
  }

  /** The names at a place, if `mark`, which is of now, says that they are still those. */
  recall({ mark, listing }: Known, now: Mark | undefined): Listing | undefined {
    return mark !== undefined && now !== undefined && isSame(mark, now) ? listing : undefined;
  }

  /** Reads a directory, and keeps what it reads if it can be recognised later. */
  read(directory: Directory, place: Known | undefined): Listing {
    if (place === undefined) return new Listing(directory);
    const now = Date.now();
    const mark = directory.mark();
    const listing = new Listing(directory);
    empty(place);
    if (!this.#isFull && isSettled(mark, now) && this.#trusts(mark.dev, directory)) {
      place.mark = markOf(mark);
      place.listing = listing;
      held.entries += listing.entries.length;
      held.bytes += listing.bytes;
      this.#makeRoom();
    }
    if (place.below !== undefined) forgetOthers(place.below, listing);
    return listing;
  }

  /** File systems come and go under the same number, so each walk asks anew. */
  #trusts(device: number, directory: Directory): boolean {
    let trusted = this.#trusted.get(device);
    if (trusted === undefined) {
      trusted = directory.keepsTimes;
      this.#trusted.set(device, trusted);
    }
    return trusted;
  }

  #comeBy(among: Map<string, Known>, name: string, parent: Known | undefined): Known | undefined {
    let place = among.get(name);
    if (place === undefined) {
      if (this.#isFull) return undefined;
      place = new Known(name, parent);
      among.set(name, place);
      held.bytes += placeBytes;
      this.#makeRoom();
    } else if (place.walk !== this.#walk) places.delete(place);
    else return place;
    place.walk = this.#walk;
    places.add(place);
    return place;
  }

  /** Lets go of what other walks left. A tree that is too large by itself stays known in part. */
  #makeRoom(): void {
    if (held.entries <= maxEntries && held.bytes <= maxBytes) return;
    for (const place of places) {
      if (place.walk === this.#walk) {
        this.#isFull = true;
        return;
      }
      forget(place);
      if (held.entries <= maxEntries * 0.75 && held.bytes <= maxBytes * 0.75) return;
    }
  }
}

function empty(place: Known): void {
  if (place.listing === undefined) return;
  held.entries -= place.listing.entries.length;
  held.bytes -= place.listing.bytes;
  place.listing = undefined;
  place.mark = undefined;
}

/** Lets go of places that are no directories any more. */
function forgetOthers(below: ReadonlyMap<string, Known>, { entries }: Listing): void {
  const directories = new Set<string>();
  for (const { name, kind } of entries) if (kind === "directory") directories.add(name);
  for (const [name, place] of below) if (!directories.has(name)) forget(place);
}

/** Lets go of a place and all that lies below it. */
function forget(place: Known): void {
  if (place.parent === undefined) roots.delete(place.name);
  else place.parent.below?.delete(place.name);
  for (const waiting = [place]; ; ) {
    const next = waiting.pop();
    if (next === undefined) return;
    if (places.delete(next)) held.bytes -= placeBytes;
    empty(next);
    for (const child of next.below?.values() ?? []) waiting.push(child);
    next.below = undefined;
  }
}

/** How far the clock of the day was ahead of the one that only runs on. */
let ahead = Number.NEGATIVE_INFINITY;
const leewayMs = 500; // what marks allow for by far

/**
 * Where the clock was set back, a time may come again, and a change look like what was before it. Setting it back and
 * forth between two walks goes unseen; then a change would have to meet the very tick of the one before.
 */
function clockWentBack(): boolean {
  const now = Date.now() - performance.now();
  const wentBack = now < ahead - leewayMs;
  ahead = wentBack ? now : Math.max(ahead, now);
  return wentBack;
}
