// Walks a tree in order (directory-plan.ts), one step at a time, with every directory held open while it is read: a
// swapped directory is either gone or noticed, never followed. A directory with a current listing in the cache
// (listing-cache.ts) is neither opened nor read, unless an entry in it is opened.
import type { Kind } from "../fault.ts";
import { type Span, startSpan } from "../span.ts";
import type { Directory, ListedDirectory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import type { Stat } from "../workspace/stat.ts";
import type { DirectoryPlan, WalkOrder } from "./directory-plan.ts";
import { type EntryBatch, EntryRun } from "./entry-run.ts";
import type { Globs } from "./globs.ts";
import { everything, type IgnorePolicy } from "./ignore.ts";
import { type IgnoreContext, ignoreContext } from "./ignore-context.ts";
import { Levels, type WalkLevel } from "./levels.ts";
import type { Listing } from "./listing.ts";
import { Knowledge } from "./listing-cache.ts";
import { ReadAhead } from "./read-ahead.ts";

const maxPathLength = 1000; // shorter in bytes than the longest path

/** The scope of a walk. */
export interface Scope {
  /** Ignore files and hidden names; by default everything is in. */
  readonly ignore?: IgnorePolicy | undefined;
  /** Only these are yielded. Other directories are still entered. */
  readonly include?: Globs | undefined;
  /** These are left out, and directories among them not entered. */
  readonly exclude?: Globs | undefined;
  /** By default that of the printed paths. */
  readonly order?: WalkOrder | undefined;
  /** How many levels to go down: 0 is the start's own entries. */
  readonly maxDepth?: number | undefined;
}

/** An entry. Its methods work only while it is the walk's latest. */
export class WalkEntry implements DirectoryEntry {
  readonly name: string;
  readonly kind: Kind;
  readonly raw?: Buffer;
  /** Relative to the start, with `/`. */
  readonly path: string;
  /** 0 for the start's own entries. */
  readonly depth: number;
  readonly #parent: () => Directory | undefined;

  constructor(entry: DirectoryEntry, path: string, depth: number, parent: () => Directory | undefined) {
    this.name = entry.name;
    this.kind = entry.kind;
    if (entry.raw !== undefined) this.raw = entry.raw;
    this.path = path;
    this.depth = depth;
    this.#parent = parent;
  }

  /** Its parent directory, not to be closed; undefined if it is gone. */
  get parent(): Directory | undefined {
    return this.#parent();
  }

  /** `lstat` of the entry; undefined if it is gone. */
  stat(): Stat | undefined {
    return this.#parent()?.stat(this);
  }

  /** Where a link points, as it is written there. */
  target(): string | undefined {
    return this.#parent()?.linkTarget(this);
  }
}

/** Consecutive entries of one directory: the cheapest way to get many. */
export interface Group {
  /** Of the directory, relative to the start: "", or with a final slash. The path of an entry is this and its name. */
  readonly prefix: string;
  readonly depth: number;
  /** Never empty. */
  readonly entries: readonly DirectoryEntry[];
  /** The same entries: the same object as in the previous walk, if nothing changed and the scope is the same. */
  readonly batch: EntryBatch;
  /** The directory, not to be closed; undefined if it is gone. Only while the group is the walk's latest. */
  readonly parent: () => Directory | undefined;
}

const nothing = new EntryRun("", 0, undefined);
const noEntries: readonly DirectoryEntry[] = [];
const noPlan: DirectoryPlan = { stretches: [], leftOut: 0 };

export class Walker implements Disposable {
  readonly #start: Directory;
  readonly #scope: Scope;
  readonly #context: IgnoreContext;
  readonly #knowledge: Knowledge;
  readonly #levels = new Levels();
  #span: Span | undefined = startSpan("walk");
  #stretch = nothing;
  /** Its entries, while they are given one by one. */
  #entries = noEntries;
  /** The next entry of the stretch. */
  #place = 0;
  /** Files met, whether given or not. */
  files = 0;
  /** Directories that could not be read. */
  inaccessible = 0;
  /** Entries that the policy leaves out, a directory with all that it holds as one; `.git` does not count. */
  leftOut = 0;
  /** Directories that were not entered because they are as deep as the scope goes. */
  tooDeep = 0;

  constructor(start: Directory, scope: Scope) {
    this.#start = start;
    this.#scope = scope;
    this.#context = ignoreContext(start, scope.ignore ?? everything);
    this.#knowledge = new Knowledge(start);
    const cached = this.#knowledge.start;
    const listing = cached && this.#knowledge.recall(cached, start.mark());
    const entry = { name: "", kind: "directory" } as const;
    const { rules } = this.#context;
    const level = this.#push(start, entry, "", cached, rules);
    this.#open(level, listing ?? this.#knowledge.read(start, cached));
  }

  #push(
    directory: WalkLevel["directory"],
    entry: WalkLevel["entry"],
    prefix: string,
    cached: WalkLevel["cached"],
    rules: WalkLevel["rules"],
  ): WalkLevel {
    const level = { directory, entry, prefix, cached, rules, plan: noPlan, next: 0, ahead: undefined };
    this.#levels.push(level);
    return level;
  }

  /** The next entry, undefined at the end; "entered" after each directory, so that the caller may pause. */
  next(): WalkEntry | "entered" | undefined {
    const { include } = this.#scope;
    for (;;) {
      const entry = this.#entries[this.#place++];
      if (entry === undefined) {
        const moved = this.#move();
        this.#place = 0;
        this.#entries =
          moved === "moved" ? this.#stretch.batch(this.#knowledge.keepsEntries).entries : noEntries;
        if (moved !== "moved") return moved;
        continue;
      }
      if (entry.kind === "file") this.files++;
      const path = (this.#levels.last?.prefix ?? "") + entry.name;
      if (include === undefined || include.matches(path))
        return new WalkEntry(entry, path, this.#levels.length - 1, this.#levels.held);
    }
  }

  /** The same, several entries at a time. For use instead of `next`, not in between. */
  nextGroup(): Group | "entered" | undefined {
    const { include } = this.#scope;
    for (;;) {
      const moved = this.#move();
      if (moved !== "moved") return moved;
      const prefix = this.#levels.last?.prefix ?? "";
      this.files += this.#stretch.files;
      const run = this.#stretch;
      const keeps = this.#knowledge.keepsEntries;
      const batch = include === undefined ? run.batch(keeps) : run.chosen(include, prefix, keeps);
      const { entries } = batch;
      if (entries.length > 0)
        return { prefix, depth: this.#levels.length - 1, entries, batch, parent: this.#levels.held };
    }
  }

  /** To the next stretch, or into the directory after the last. */
  #move(): "moved" | "entered" | undefined {
    const { into } = this.#stretch;
    this.#stretch = nothing;
    if (into !== undefined && this.#enter(into)) return "entered";
    for (let level = this.#levels.last; level !== undefined; level = this.#levels.last) {
      const stretch = level.plan.stretches[level.next++];
      if (stretch !== undefined) {
        this.#stretch = stretch;
        return "moved";
      }
      this.#levels.pop();
    }
    return undefined;
  }

  /** False if that is not needed. */
  #enter(entry: DirectoryEntry): boolean {
    const parent = this.#levels.last;
    const { include, maxDepth = Number.POSITIVE_INFINITY } = this.#scope;
    if (parent === undefined) return false;
    const path = parent.prefix + entry.name;
    if (include !== undefined && !include.reaches(path)) return false;
    if (this.#levels.length > maxDepth) {
      this.tooDeep++;
      return false;
    }
    const isCacheable = parent.cached && entry.raw === undefined && path.length < maxPathLength;
    const cached = isCacheable ? this.#knowledge.below(parent.cached, entry.name) : undefined;
    const listing = cached?.mark && this.#knowledge.recall(cached, this.#start.markBelow(path));
    const listed = listing === undefined ? this.#readAhead(parent, entry) : undefined;
    const isOpened = listing === undefined && listed === undefined;
    const directory = isOpened ? this.#levels.held()?.child(entry) : undefined;
    if (isOpened && directory === undefined) {
      this.inaccessible++;
      return true;
    }
    const { rules } = parent;
    const prefix = cached?.prefix(parent.prefix) ?? `${path}/`;
    const level = this.#push(directory, entry, prefix, cached, rules);
    try {
      if (listing !== undefined) this.#open(level, listing);
      else if (listed !== undefined) this.#open(level, this.#knowledge.keep(listed, cached));
      else if (directory !== undefined) this.#open(level, this.#knowledge.read(directory, cached));
    } catch {
      this.#levels.pop();
      this.inaccessible++;
    }
    return true;
  }

  /** What a directory of the last level holds, if it could be read without opening it. */
  #readAhead(parent: WalkLevel, entry: DirectoryEntry): ListedDirectory | undefined {
    if (parent.ahead === undefined) {
      const directory = this.#levels.held();
      if (directory === undefined) return undefined;
      parent.ahead = new ReadAhead(directory, this.#knowledge);
    }
    const { include } = this.#scope;
    return parent.ahead.read(entry, this.#levels.held, parent.plan.stretches, parent.next, one => {
      if (parent.cached?.below?.get(one.name)?.listing !== undefined) return false;
      return include === undefined || include.reaches(parent.prefix + one.name);
    });
  }

  /** Decides how to go through the last level, whose names are those of `listing`. */
  #open(level: WalkLevel, listing: Listing): void {
    const { exclude, order = "paths" } = this.#scope;
    const { prefix } = level;
    const { prefix: top } = this.#context;
    if (listing.ruleEntries.length > 0) {
      level.rules = level.rules.in(this.#levels.held, (top + prefix).slice(0, -1), listing.ruleEntries);
    }
    const { path: place, root } = this.#start;
    const { hidden } = root.rules;
    const { bytes } = listing;
    level.plan = listing.plan({ rules: level.rules, top, prefix, order, exclude, hidden, place });
    if (listing.bytes !== bytes) this.#knowledge.hasGrown(level.cached, listing, listing.bytes - bytes);
    this.leftOut += level.plan.leftOut;
  }

  [Symbol.dispose](): void {
    this.#levels[Symbol.dispose]();
    this.#stretch = nothing;
    this.#entries = noEntries;
    this.#span?.set("files", this.files);
    this.#span?.[Symbol.dispose]();
    this.#span = undefined;
  }
}
