// Which files the fork and the base moved. Asked for only where a rename may explain a conflict, and computed once.
import { once } from "../once.ts";
import type { ForkChange } from "./difference.ts";
import type { SideAtPath, TreeView } from "./merge-side.ts";
import { type Candidate, pairedRenames } from "./renames.ts";

/** Files that the base has and had not, and those that it had. */
export interface BaseMoves {
  readonly appeared: readonly Candidate[];
  readonly gone: readonly Candidate[];
}

export interface RenameInput {
  readonly changes: readonly ForkChange[];
  /** The base as it is now. */
  readonly theirs: TreeView;
  moves(): Promise<BaseMoves>;
  /** The files that the base has written or exchanged, as they were. */
  rewritten(): Promise<readonly Candidate[]>;
  /** Whether callers see all of a path, in the fork and in the base. */
  isShownWhole(path: string): boolean;
}

export class MergeRenames {
  readonly #inFork: () => Promise<ReadonlyMap<string, string>>;
  readonly #inBase: () => Promise<ReadonlyMap<string, string>>;
  readonly #rewritten: { readonly [side in "fork" | "base"]: () => Promise<readonly Candidate[]> };

  constructor({ changes, theirs, moves, rewritten, isShownWhole }: RenameInput) {
    const shown = () => changes.filter(({ path }) => isShownWhole(path));
    this.#inFork = once(async () => {
      const gone = shown().filter(({ before, after }) => before?.kind === "file" && after?.kind !== "file");
      const added = shown().filter(({ before }) => before === undefined);
      return await pairedRenames(filesOf(gone, "before"), filesOf(added, "after"));
    });
    this.#inBase = once(async () => {
      const { appeared, gone } = await moves();
      const asked = filesOf(
        shown().filter(({ path }) => theirs.at(path)?.kind !== "file"),
        "before",
      );
      const paths = new Set(asked.map(file => file.path));
      return await pairedRenames([...asked, ...gone.filter(file => !paths.has(file.path))], appeared);
    });
    this.#rewritten = { fork: async () => filesOf(shown(), "before"), base: once(rewritten) };
  }

  /** The new path of a file that the fork moved. */
  async inFork(path: string): Promise<string | undefined> {
    return (await this.#inFork()).get(path);
  }

  /**
   * The new path of a file that the base moved. A file that a rule masks or denies has none: the merge would put its
   * lines, or the lines of a conflict, under a path where the rule does not hold, and similarity would confirm guesses
   * about a hidden value.
   */
  async inBase(path: string): Promise<string | undefined> {
    return (await this.#inBase()).get(path);
  }

  /** Whether a side put another one of its files in the place of `before`, as when it exchanged two of them. */
  async isReplaced(side: "fork" | "base", before: Candidate, now: SideAtPath): Promise<boolean> {
    const others = (await this.#rewritten[side]()).filter(({ path }) => path !== before.path);
    const renames = await pairedRenames([before, ...others], [{ path: before.path, side: now }]);
    return renames.size > 0 && !renames.has(before.path);
  }

  /** Whether the fork or the base moved a file to a path. */
  async isNewName(path: string): Promise<boolean> {
    for (const renames of [await this.#inFork(), await this.#inBase()])
      for (const to of renames.values()) if (to === path) return true;
    return false;
  }
}

function filesOf(changes: readonly ForkChange[], which: "before" | "after"): Candidate[] {
  return changes.flatMap(change => {
    const side = change[which];
    return side?.kind === "file" ? [{ path: change.path, side }] : [];
  });
}
