// Which paths of a workspace git's rules ignore: dependencies and build output are there in a fork, but are neither
// compared nor merged.
import { Fault } from "../fault.ts";
import { IgnoreRules, ruleEntries } from "../search/ignore.ts";
import { isAnswer } from "../workspace/errno.ts";
import type { Workspace } from "../workspace/workspace.ts";

const policy = { rules: true, hidden: true };

export class Ignored {
  readonly #workspace: Workspace;
  /** The rules that hold in a directory, by its path from the root: "" or with a final slash. */
  readonly #rules = new Map<string, IgnoreRules>();
  readonly #ignored = new Map<string, boolean>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Whether a path from the root, or a directory above it, is ignored. Written names (name.ts). */
  has(path: string, isDirectory: boolean): boolean {
    const known = this.#ignored.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf("/");
    const [above, name] = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
    const ignored =
      (above !== "" && this.has(above, true)) ||
      this.#rulesIn(above).ignores(above === "" ? "" : `${above}/`, name, isDirectory);
    if (isDirectory) this.#ignored.set(path, ignored);
    return ignored;
  }

  #rulesIn(path: string): IgnoreRules {
    const known = this.#rules.get(path);
    if (known !== undefined) return known;
    const [root] = this.#workspace.roots;
    const slash = path.lastIndexOf("/");
    const outer =
      path === "" ? IgnoreRules.of(policy, root) : this.#rulesIn(path.slice(0, Math.max(0, slash)));
    const rules = this.#added(outer, path);
    this.#rules.set(path, rules);
    return rules;
  }

  #added(outer: IgnoreRules, path: string): IgnoreRules {
    const [root] = this.#workspace.roots;
    const where = path === "" ? (root?.path ?? "") : `${root?.path}/${path}`;
    try {
      using directory = this.#workspace.directory(this.#workspace.recorded(where));
      if (directory.path !== where) return outer; // through a link, which git does not follow
      return outer.in(directory, path, ruleEntries(directory));
    } catch (error) {
      // Not there, no directory, closed to us, or behind a link that leads out of the tree: no rules of its own.
      if (isAnswer(error) || Fault.is(error, "outside_roots")) return outer;
      throw error;
    }
  }
}
