// Which files the fork and the base moved. Asked for only where a rename may explain a conflict, and computed once.
import { once } from "../once.ts";
import type { ForkChange } from "./difference.ts";
import type { TreeView } from "./merge-side.ts";
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
  /** Whether callers see all of a path, in the fork and in the base. */
  isShownWhole(path: string): boolean;
}

export class MergeRenames {
  readonly #inFork: () => Promise<ReadonlyMap<string, string>>;
  readonly #inBase: () => Promise<ReadonlyMap<string, string>>;

  constructor({ changes, theirs, moves, isShownWhole }: RenameInput) {
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
