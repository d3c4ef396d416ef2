// Listings of directories, so that the next walk only checks whether they changed (workspace/directory-stamp.ts).
// Nothing is cached that can change without its directory: no sizes, no times, no ignore files.
//
// They are kept by name below each granted root, within one bound for all. The least recently walked tree is evicted
// first; a tree that exceeds the bound is cached in part, and restarted by the next walk.
import { clock } from "../clock.ts";
import type { Directory, ListedDirectory } from "../workspace/directory.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../workspace/directory-stamp.ts";
import type { Root } from "../workspace/root.ts";
import { Listing } from "./listing.ts";

const maxBytes = 64 * 1024 * 1024; // some 250,000 names
const placeBytes = 500;
const leewayMs = 500; // marks allow for more

/** A directory below a root, with its listing. */
export class CachedDirectory {
  below: Map<string, CachedDirectory> | undefined = undefined;
  mark: DirectoryStamp | undefined = undefined;
  listing: Listing | undefined = undefined;
  #parent = "";
  #prefix = "";

  /** `parent`, its name and a slash: the same string for the same walk, so that comparing costs nothing. */
  prefix(parent: string, name: string): string {
    if (this.#prefix === "" || this.#parent !== parent) {
      this.#parent = parent;
      this.#prefix = `${parent}${name}/`;
    }
    return this.#prefix;
  }
}

/** What is remembered below one root. */
class CachedTree {
  readonly top = new CachedDirectory();
  bytes = 0;
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
    const before = this.#trees.get(key);
    const tree = before === undefined || before.bytes > 0.9 * maxBytes ? new CachedTree() : before;
    this.#trees.delete(key);
    this.#trees.set(key, tree);
    return tree;
  }

  /** How much room there is. */
  get left(): number {
    let bytes = maxBytes;
    for (const tree of this.#trees.values()) bytes -= tree.bytes;
    return bytes;
  }

  /** Evicts other trees until there is room, and returns how much there is. */
  roomBeside(walked: CachedTree): number {
    for (const [key, tree] of this.#trees) {
      if (tree !== walked) this.#trees.delete(key);
      if (this.left >= 0) break;
    }
    return this.left;
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
  /** The space available to this walk alone: concurrent walks have their own bound. */
  #left: number;
  #isFull = false;
  /** The place of the start in its root; undefined if its path does not show it. */
  readonly start: CachedDirectory | undefined;

  constructor({ root, path }: Directory) {
    this.#cache = root.caches.of(ListingCache);
    this.#tree = this.#cache.tree(root);
    this.#left = this.#cache.left;
    let place: CachedDirectory | undefined = this.#tree.top;
    for (const name of path.slice(root.path.length).split("/")) {
      if (place !== undefined && name !== "") place = this.below(place, name);
    }
    this.start = place;
  }

  /** A node further down; undefined if there is no space for it. */
  below(place: CachedDirectory, name: string): CachedDirectory | undefined {
    const before = place.below?.get(name);
    if (before !== undefined || this.#isFull) return before;
    const fresh = new CachedDirectory();
    place.below ??= new Map();
    place.below.set(name, fresh);
    this.#take(placeBytes);
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
    if (place === undefined) return new Listing(directory.allEntries());
    const now = Date.now();
    const stamp = directory.mark();
    const entries = directory.allEntries();
    return this.#keep(place, { stamp, entries }, isSettled(stamp, now) && this.#trusts(stamp.dev, directory));
  }

  /** Caches what was read of a directory since the walk began. */
  keep(listed: ListedDirectory, place: CachedDirectory | undefined): Listing {
    if (place === undefined) return new Listing(listed.entries);
    const { stamp } = listed;
    return this.#keep(place, listed, isSettled(stamp, this.#began) && this.#trusted.get(stamp.dev) === true);
  }

  #keep(place: CachedDirectory, { stamp, entries }: ListedDirectory, isSure: boolean): Listing {
    const listing = new Listing(entries);
    if (place.listing !== undefined) this.#take(-place.listing.bytes);
    const isKept = !this.#isFull && isSure;
    place.mark = isKept ? markOf(stamp) : undefined;
    place.listing = isKept ? listing : undefined;
    if (isKept) this.#take(listing.bytes);
    if (place.below !== undefined) this.#forgetOthers(place.below, listing);
    return listing;
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

  #take(bytes: number): void {
    this.#tree.bytes += bytes;
    this.#left -= bytes;
    if (this.#left >= 0) return;
    this.#left = this.#cache.roomBeside(this.#tree);
    this.#isFull = this.#left < 0;
  }

  /** Forgets places that are no longer directories, and everything below them. */
  #forgetOthers(below: Map<string, CachedDirectory>, { entries }: Listing): void {
    const directories = new Set<string>();
    for (const { name, kind } of entries) if (kind === "directory") directories.add(name);
    for (const [name, gone] of below) {
      if (directories.has(name)) continue;
      below.delete(name);
      for (const waiting = [gone]; ; ) {
        const place = waiting.pop();
        if (place === undefined) break;
        this.#take(-placeBytes - (place.listing?.bytes ?? 0));
        for (const child of place.below?.values() ?? []) waiting.push(child);
      }
    }
  }
}
