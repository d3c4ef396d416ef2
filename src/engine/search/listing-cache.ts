// Listings of directories, so that the next walk only checks whether they changed (workspace/directory-stamp.ts).
// Nothing is cached that can change without its directory: no sizes, no times, no ignore files.
//
// They are kept by name below each granted root, within one bound for all. When it is reached, the tree that is
// walked keeps packed names only; then the least recently walked other trees are evicted, and then what lies
// beside the start of the walk. What still finds no room is read again each time, and the rest stays.
import { clock } from "../clock.ts";
import type { Directory, ListedDirectory } from "../workspace/directory.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../workspace/directory-stamp.ts";
import { detached } from "../workspace/packed-names.ts";
import type { Root } from "../workspace/root.ts";
import { Listing } from "./listing.ts";

const maxBytes = 64 * 1024 * 1024; // some 250,000 names as objects, more than a million packed
const placeBytes = 500;
const leewayMs = 500; // marks allow for more

/** A directory below a root, with its listing. */
export class CachedDirectory {
  below: Map<string, CachedDirectory> | undefined = undefined;
  mark: DirectoryStamp | undefined = undefined;
  listing: Listing | undefined = undefined;
  readonly name: string;
  #parent = "";
  #prefix = "";

  constructor(name: string) {
    this.name = name;
  }

  /** `parent`, its name and a slash: the same string for the same walk, so that comparing costs nothing. */
  prefix(parent: string): string {
    if (this.#prefix === "" || this.#parent !== parent) {
      this.#parent = parent;
      this.#prefix = `${parent}${this.name}/`;
    }
    return this.#prefix;
  }
}

/** What is remembered below one root. */
class CachedTree {
  readonly top = new CachedDirectory("");
  bytes = 0;
  /** Whether there is room for entries as objects, which make the next walk quicker. */
  keepsEntries = true;

  shrink(): void {
    this.keepsEntries = false;
    for (const { listing } of placesFrom(this.top)) listing?.shrink();
    this.recount();
  }

  /** What a listing takes. */
  costOf(listing: Listing | undefined): number {
    if (listing === undefined) return 0;
    return listing.bytes + (this.keepsEntries ? listing.entryBytes : 0);
  }

  /** Forgets what does not lie on the way to, or below, a directory; the last one is undefined if it has no place yet. */
  forgetBeside(start: readonly (CachedDirectory | undefined)[]): void {
    for (let i = 0; i + 1 < start.length; i++) {
      const below = start[i]?.below;
      for (const [name, place] of below ?? []) if (place !== start[i + 1]) below?.delete(name);
    }
    this.recount();
  }

  /** Concurrent walks may have counted what is forgotten by now. */
  recount(): void {
    this.bytes = 0;
    for (const place of placesFrom(this.top)) this.bytes += placeBytes + this.costOf(place.listing);
  }
}

function* placesFrom(top: CachedDirectory): Generator<CachedDirectory> {
  const waiting = [top];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place;
    for (const child of place.below?.values() ?? []) waiting.push(child);
  }
}

/** The listings that an engine remembers. */
export class ListingCache {
  /** By root, the most recently walked last. */
  readonly #trees = new Map<string, CachedTree>();
  /** How far the wall clock was ahead of the monotonic one. */
  #ahead = Number.NEGATIVE_INFINITY;

  /** The tree of a root, now the most recently walked. */
  tree({ device, inode }: Root): CachedTree {
    if (this.#clockWentBack()) this.#trees.clear();
    const key = `${device}:${inode}`;
    const tree = this.#trees.get(key) ?? new CachedTree();
    this.#trees.delete(key);
    this.#trees.set(key, tree);
    return tree;
  }

  /** Whether a tree that is walked may grow by so much. It may have been evicted meanwhile. */
  hasRoom(walked: CachedTree, more: number): boolean {
    let bytes = walked.bytes + more;
    for (const tree of this.#trees.values()) if (tree !== walked) bytes += tree.bytes;
    return bytes <= maxBytes;
  }

  /** Tries to make room, for a walk that starts at the end of `start`. */
  makeRoom(walked: CachedTree, more: number, start: readonly (CachedDirectory | undefined)[]): boolean {
    if (walked.keepsEntries) walked.shrink();
    else walked.recount();
    for (const [key, tree] of this.#trees) {
      if (this.hasRoom(walked, more)) return true;
      if (tree !== walked) this.#trees.delete(key);
    }
    if (!this.hasRoom(walked, more)) walked.forgetBeside(start);
    return this.hasRoom(walked, more);
  }

  /**
   * If the clock was set back, a time may repeat, and a change look unchanged. Setting it back and forth between two
   * walks goes unnoticed; then a change would have to hit the exact tick of the previous one.
   */
  #clockWentBack(): boolean {
    const now = Date.now() - clock();
    const wentBack = now < this.#ahead - leewayMs;
    this.#ahead = wentBack ? now : Math.max(this.#ahead, now);
    return wentBack;
  }
}

/** What one walk knows from earlier walks, and leaves for later ones. */
export class Knowledge {
  readonly #cache: ListingCache;
  readonly #tree: CachedTree;
  /** When the walk began. */
  readonly #began = Date.now();
  readonly #trusted = new Map<number, boolean>();
  /** Whether there was no room, even after trying to make some. */
  #isFull = false;
  /** The places from the root to the start. */
  readonly #way: (CachedDirectory | undefined)[];
  /** The place of the start in its root; undefined if its path does not show it. */
  readonly start: CachedDirectory | undefined;

  constructor({ root, path }: Directory) {
    this.#cache = root.caches.of(ListingCache);
    this.#tree = this.#cache.tree(root);
    this.#way = [this.#tree.top];
    let place: CachedDirectory | undefined = this.#tree.top;
    for (const name of path.slice(root.path.length).split("/")) {
      if (place === undefined || name === "") continue;
      this.#way.push(undefined);
      place = this.below(place, name);
      this.#way[this.#way.length - 1] = place;
    }
    this.start = place;
  }

  /** A node further down; undefined if there is no space for it. */
  below(place: CachedDirectory, name: string): CachedDirectory | undefined {
    const before = place.below?.get(name);
    if (before !== undefined) return before;
    if (!this.#fits(placeBytes)) return undefined;
    const fresh = new CachedDirectory(detached(name));
    place.below ??= new Map();
    place.below.set(fresh.name, fresh);
    this.#tree.bytes += placeBytes;
    return fresh;
  }

  /** The names at a place, if `now` says that they are still those. */
  recall({ mark, listing }: CachedDirectory, now: DirectoryStamp | undefined): Listing | undefined {
    return mark !== undefined && now !== undefined && isSame(mark, now) ? listing : undefined;
  }

  /** Whether a stamp of a directory shows every change in it since the walk began. */
  proves(stamp: DirectoryStamp, directory: Directory): boolean {
    return isSettled(stamp, this.#began) && this.#trusts(stamp.dev, directory);
  }

  /** Reads a directory, and caches the listing if a change can be detected later. */
  read(directory: Directory, place: CachedDirectory | undefined): Listing {
    if (place === undefined) return new Listing(directory.allNames());
    const now = Date.now();
    const stamp = directory.mark();
    const read = directory.allNames();
    return this.#keep(place, { stamp, ...read }, isSettled(stamp, now) && this.#trusts(stamp.dev, directory));
  }

  /** Caches what was read of a directory since the walk began. */
  keep(listed: ListedDirectory, place: CachedDirectory | undefined): Listing {
    if (place === undefined) return new Listing(listed);
    const { stamp } = listed;
    return this.#keep(place, listed, isSettled(stamp, this.#began) && this.#trusted.get(stamp.dev) === true);
  }

  #keep(place: CachedDirectory, listed: ListedDirectory, isSure: boolean): Listing {
    this.#tree.bytes -= this.#tree.costOf(place.listing);
    place.mark = undefined;
    place.listing = undefined;
    const listing = new Listing(listed);
    if (isSure && this.#fits(this.#tree.costOf(listing))) {
      place.mark = markOf(listed.stamp);
      place.listing = listing;
      this.#tree.bytes += this.#tree.costOf(listing);
    }
    if (place.below !== undefined) this.#forgetOthers(place.below, listing);
    return listing;
  }

  /** Whether entries may be kept as objects. */
  get keepsEntries(): boolean {
    return this.#tree.keepsEntries;
  }

  /** Counts what a listing takes for its plan, and forgets both if there is no room. */
  hasGrown(place: CachedDirectory | undefined, listing: Listing, bytes: number): void {
    if (place?.listing !== listing) return;
    this.#tree.bytes += bytes;
    if (this.#fits(0)) return;
    this.#tree.bytes -= this.#tree.costOf(listing);
    place.listing = undefined;
    place.mark = undefined;
  }

  #fits(bytes: number): boolean {
    if (this.#cache.hasRoom(this.#tree, bytes)) return true;
    if (this.#isFull) return false;
    this.#isFull = !this.#cache.makeRoom(this.#tree, bytes, this.#way);
    return !this.#isFull;
  }

  /** File systems come and go under the same number, so each walk checks again. */
  #trusts(device: number, directory: Directory): boolean {
    let trusted = this.#trusted.get(device);
    if (trusted === undefined) {
      trusted = directory.keepsTimes;
      this.#trusted.set(device, trusted);
    }
    return trusted;
  }

  /** Forgets places that are no longer directories, and everything below them. */
  #forgetOthers(below: Map<string, CachedDirectory>, listing: Listing): void {
    const directories = listing.directories();
    for (const [name, gone] of below) {
      if (directories.has(name)) continue;
      below.delete(name);
      for (const place of placesFrom(gone)) this.#tree.bytes -= placeBytes + this.#tree.costOf(place.listing);
    }
  }
}
