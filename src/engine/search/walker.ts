// Goes through a tree in path order, one step at a time, with every directory held while it is read: what is
// swapped underneath is either gone or seen, never followed.
//
// The order is that of the printed paths as bytes. `a`, `a.txt`, `a/b` are in order, so a directory has two
// places among its siblings: its own, under its name, and that of what lies in it, under its name and a slash.
//
// At most `maxHeld` directories are held open. In a deeper tree the upper ones are let go and, when the walk
// comes back to one that has more to give, opened again from the start, name by name.
import type { Kind } from "../fault.ts";
import type { Directory, Entry } from "../workspace/directory.ts";
import type { Stat } from "../workspace/stat.ts";
import { type Standpoint, standpoint } from "./above.ts";
import type { Globs } from "./globs.ts";
import { everything, type IgnorePolicy, type IgnoreRules } from "./ignore.ts";
import { compareBytes } from "./order.ts";

const maxHeld = 64;

/** What a walk covers. */
export interface Scope {
  /** Ignore files and hidden names; by default everything is in. */
  readonly ignore?: IgnorePolicy | undefined;
  /** Only these are given. Directories are gone through all the same. */
  readonly include?: Globs | undefined;
  /** These are left out, and directories among them not entered. */
  readonly exclude?: Globs | undefined;
  /** "tree": what lies in a directory comes right behind it. By default the order is that of the printed paths. */
  readonly order?: "paths" | "tree" | undefined;
  /** How many levels to go down: 0 is the start's own entries. */
  readonly maxDepth?: number | undefined;
}

/** Something that was found. What it can tell about the disk, it tells only while it is the walk's latest. */
export class WalkEntry implements Entry {
  readonly name: string;
  readonly kind: Kind;
  readonly raw?: Buffer;
  /** Relative to the start, with `/`. */
  readonly path: string;
  /** 0 for the start's own entries. */
  readonly depth: number;
  readonly #parent: () => Directory | undefined;

  constructor(entry: Entry, path: string, depth: number, parent: () => Directory | undefined) {
    this.name = entry.name;
    this.kind = entry.kind;
    if (entry.raw !== undefined) this.raw = entry.raw;
    this.path = path;
    this.depth = depth;
    this.#parent = parent;
  }

  /** The directory that it lies in, not to be closed; undefined where it is gone. */
  get parent(): Directory | undefined {
    return this.#parent();
  }

  /** About the entry itself; undefined where it is gone. */
  stat(): Stat | undefined {
    return this.#parent()?.stat(this);
  }

  /** Where a link points, as it is written there. */
  target(): string | undefined {
    return this.#parent()?.linkTarget(this);
  }
}

/** The place of what lies in a directory, among the directory's siblings. */
class Descent {
  readonly name: string;
  readonly into: Entry;

  constructor(into: Entry, order: Scope["order"]) {
    this.name = order === "tree" ? into.name : `${into.name}/`; // equal names stay in order
    this.into = into;
  }
}

interface Level {
  /** Undefined while let go. */
  directory: Directory | undefined;
  readonly entry: Entry;
  /** "" or a path with a final slash. */
  readonly prefix: string;
  readonly rules: IgnoreRules;
  readonly steps: readonly (Entry | Descent)[];
  next: number;
}

export class Walker implements Disposable {
  readonly #scope: Scope;
  readonly #standpoint: Standpoint;
  readonly #levels: Level[] = [];
  /** Files met, whether given or not. */
  files = 0;
  /** Directories that could not be read. */
  inaccessible = 0;
  /** Entries that the policy leaves out, a directory with all that it holds as one; `.git` does not count. */
  leftOut = 0;

  constructor(start: Directory, scope: Scope) {
    this.#scope = scope;
    this.#standpoint = standpoint(start, scope.ignore ?? everything);
    this.#levels.push(this.#read(start, { name: "", kind: "directory" }, "", this.#standpoint.rules));
  }

  /** The next entry, undefined at the end; "entered" after each directory, so that the caller may pause. */
  next(): WalkEntry | "entered" | undefined {
    for (;;) {
      const level = this.#levels.at(-1);
      if (level === undefined) return undefined;
      const step = level.steps[level.next++];
      if (step === undefined) this.#leave();
      else if (step instanceof Descent) {
        this.#enter(level, step.into);
        return "entered";
      } else {
        if (step.kind === "file") this.files++;
        const path = level.prefix + step.name;
        if (this.#scope.include === undefined || this.#scope.include.matches(path)) {
          return new WalkEntry(step, path, this.#levels.length - 1, this.#latest);
        }
      }
    }
  }

  readonly #latest = (): Directory | undefined => this.#held(this.#levels.length - 1);

  #enter(level: Level, entry: Entry): void {
    const child = this.#held(this.#levels.length - 1)?.child(entry);
    if (child === undefined) {
      this.inaccessible++;
      return;
    }
    try {
      this.#levels.push(this.#read(child, entry, `${level.prefix}${entry.name}/`, level.rules));
    } catch {
      child.close();
      this.inaccessible++;
      return;
    }
    this.#letGo(this.#levels.length - 1 - maxHeld);
  }

  #read(directory: Directory, entry: Entry, prefix: string, rules: IgnoreRules): Level {
    const entries = directory.entries();
    const above = this.#standpoint.prefix + prefix;
    const own = rules.in(directory, above.slice(0, -1), entries);
    const { include, exclude, order, maxDepth = Number.POSITIVE_INFINITY } = this.#scope;
    const goesOn = this.#levels.length < maxDepth;
    const steps: (Entry | Descent)[] = [];
    let plain = true;
    for (const found of entries) {
      const { name, kind } = found;
      const isDirectory = kind === "directory";
      if (own.ignores(above, name, isDirectory)) {
        if (name !== ".git") this.leftOut++;
        continue;
      }
      if (exclude?.matches(prefix + name)) continue;
      if (beyondUnits.test(name)) plain = false;
      steps.push(found);
      if (isDirectory && goesOn && (include === undefined || include.reaches(prefix + name))) {
        steps.push(new Descent(found, order));
      }
    }
    steps.sort(plain ? byUnits : byBytes);
    return { directory, entry, prefix, rules: own, steps, next: 0 };
  }

  #leave(): void {
    this.#letGo(this.#levels.length - 1);
    this.#levels.pop();
  }

  /** Closes a level's directory, but never the start's, which is the caller's. */
  #letGo(index: number): void {
    const level = this.#levels[index];
    if (index <= 0 || level === undefined) return;
    level.directory?.close();
    level.directory = undefined;
  }

  /** The directory of a level, opened again where it was let go; undefined where it is gone. */
  #held(index: number): Directory | undefined {
    const level = this.#levels[index];
    if (level === undefined || level.directory !== undefined) return level?.directory;
    let from = index;
    while (from > 0 && this.#levels[from]?.directory === undefined) from--;
    for (let i = from + 1; i <= index; i++) {
      const at = this.#levels[i] as Level;
      at.directory = this.#levels[i - 1]?.directory?.child(at.entry);
      if (at.directory === undefined) return undefined;
      if (i - 1 <= index - maxHeld) this.#letGo(i - 1);
    }
    return level.directory;
  }

  [Symbol.dispose](): void {
    for (let i = this.#levels.length - 1; i > 0; i--) this.#letGo(i);
    this.#levels.length = 0;
  }
}

/** Names for which the order of code units may not be that of bytes; among them those with marks for bytes. */
const beyondUnits = /[\ud800-\uffff]/;

function byUnits(a: Entry | Descent, b: Entry | Descent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function byBytes(a: Entry | Descent, b: Entry | Descent): number {
  return compareBytes(a.name, b.name) || Buffer.compare(rawOf(a), rawOf(b));
}

function rawOf(step: Entry | Descent): Buffer {
  return (step instanceof Descent ? step.into : step).raw ?? noBytes;
}

const noBytes = Buffer.alloc(0);
