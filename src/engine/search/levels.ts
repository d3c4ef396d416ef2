// The directories from the start of a walk down to its current position. At most `maxHeld` are open. In a deeper tree
// the upper ones are closed and reopened from the start, name by name, when needed; so is one that was not opened at
// all.
import type { Directory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import type { DirectoryPlan } from "./directory-plan.ts";
import type { IgnoreRules } from "./ignore.ts";
import type { CachedDirectory } from "./listing-cache.ts";
import type { ReadAhead } from "./read-ahead.ts";

const maxHeld = 64;

export interface WalkLevel {
  /** Undefined while it is not open. */
  directory: Directory | undefined;
  readonly entry: DirectoryEntry;
  /** "" or a path with a final slash. */
  readonly prefix: string;
  /** Its node in the listing cache. */
  readonly cached: CachedDirectory | undefined;
  rules: IgnoreRules;
  plan: DirectoryPlan;
  /** The next stretch of the plan. */
  next: number;
  /** Directories in it that were read before the walk got there. */
  ahead: ReadAhead | undefined;
}

export class Levels implements Disposable {
  readonly #levels: WalkLevel[] = [];

  get length(): number {
    return this.#levels.length;
  }

  get last(): WalkLevel | undefined {
    return this.#levels[this.#levels.length - 1];
  }

  push(level: WalkLevel): void {
    this.#levels.push(level);
    this.#letGo(this.#levels.length - 1 - maxHeld);
  }

  pop(): void {
    this.#letGo(this.#levels.length - 1);
    this.#levels.pop();
  }

  /** The last directory, open; undefined if it is gone. */
  readonly held = (): Directory | undefined => {
    const index = this.#levels.length - 1;
    const level = this.#levels[index];
    if (level === undefined || level.directory !== undefined) return level?.directory;
    let from = index;
    while (from > 0 && this.#levels[from]?.directory === undefined) from--;
    for (let i = from + 1; i <= index; i++) {
      const at = this.#levels[i] as WalkLevel;
      at.directory = this.#levels[i - 1]?.directory?.child(at.entry);
      if (at.directory === undefined) return undefined;
      if (i - 1 <= index - maxHeld) this.#letGo(i - 1);
    }
    return level.directory;
  };

  /** Closes a level's directory, but never the start's, which is the caller's. */
  #letGo(index: number): void {
    const level = this.#levels[index];
    if (index <= 0 || level === undefined) return;
    level.directory?.close();
    level.directory = undefined;
  }

  [Symbol.dispose](): void {
    while (this.#levels.length > 0) this.pop();
  }
}
