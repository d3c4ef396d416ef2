// Which entries a walk or a search excludes. One policy for every lister:
//
// - `.rgignore` wins over `.ignore`, which wins over `.gitignore`, at any level; within a kind the
//   deepest file wins; then `.git/info/exclude`, then the user's global excludes.
// - They apply from the granted root down, also if the walk starts further below, and also outside a
//   repository. If the granted root is inside a git repository (one of its parents has `.git`), they apply from
//   the repository's root down, as in git and ripgrep; above the granted root nothing else is read,
//   and above the repository nothing at all, except the user's own git excludes.
// - A walk that starts in an ignored directory includes its entries, unless a rule names them.
// - A repository inside another obeys the outer rules too, like `git check-ignore` in the outer one.
// - An ignore file is opened like any other: links, FIFOs and devices are not read, nor anything beyond the first
//   megabyte. Git does not read links either. ripgrep reads none of them: it gets the rules from us.
import { NameEndings } from "../glob/name-endings.ts";
import type { Directory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import { isShortage } from "../workspace/errno.ts";
import type { Root } from "../workspace/root.ts";
import { userExcludes } from "./excludes.ts";
import { RuleFile } from "./rules.ts";

export interface IgnorePolicy {
  /** Obey ignore files, and leave `.git` out. */
  readonly rules: boolean;
  /** Let names that begin with a dot in. */
  readonly hidden: boolean;
}

export const everything: IgnorePolicy = { rules: false, hidden: true };

const maxRuleBytes = 1024 * 1024;

interface RuleLayer {
  readonly parent: RuleLayer | undefined;
  /** The directory's path from the top: "" or with a final slash. */
  readonly path: string;
  readonly rules: RuleFile;
}

type RuleSource = "ripgrep" | "plain" | "git" | "exclude" | "user";
type Layers = { readonly [S in RuleSource]?: RuleLayer | undefined };

const sources: readonly RuleSource[] = ["ripgrep", "plain", "git", "exclude", "user"];
const ruleFiles = new Map<string, RuleSource>([
  [".rgignore", "ripgrep"],
  [".ignore", "plain"],
  [".gitignore", "git"],
]);

/** Whether rules may come from an entry of this name. */
export function mayHoldRules(name: string): boolean {
  return name === ".git" || ruleFiles.has(name);
}

/**
 * The rules in force in one directory. Paths are relative to the top (ignore-context.ts). Files are read each time;
 * unchanged content gives the same rules object, so results cached with it stay valid.
 */
export class IgnoreRules {
  readonly #layers: Layers;
  readonly #policy: IgnorePolicy;
  /** All layers, in order of precedence. */
  readonly #deciding: readonly RuleLayer[];
  readonly #endings = new NameEndings();
  readonly #made: RulesByContent;
  readonly #number: number;

  private constructor(policy: IgnorePolicy, layers: Layers, made: RulesByContent) {
    this.#made = made;
    this.#number = ++made.latest;
    this.#policy = policy;
    this.#layers = layers;
    this.#deciding = sources.flatMap(source => [...chain(layers[source])]);
    for (const { rules } of this.#deciding) this.#endings.addAll(rules.endings);
  }

  static of(policy: IgnorePolicy, root?: Root): IgnoreRules {
    const text = (policy.rules ? userExcludes(root) : undefined) ?? "";
    const made = root?.caches.of(RulesByContent) ?? new RulesByContent();
    return made.get(`${policy.rules} ${policy.hidden} ${text}`, () => {
      const user = text === "" ? undefined : { parent: undefined, path: "", rules: new RuleFile(text) };
      return new IgnoreRules(policy, { user }, made);
    });
  }

  /** These rules plus the ignore files of the directory at `path`. It is opened only if there are any. */
  in(
    from: Directory | (() => Directory | undefined),
    path: string,
    entries: readonly DirectoryEntry[],
  ): IgnoreRules {
    if (!this.#policy.rules) return this;
    const below = path === "" ? "" : `${path}/`;
    let directory = typeof from === "function" ? undefined : from;
    const added = new Map<RuleSource, string>();
    let key = `${this.#number} ${below}`;
    for (const entry of entries) {
      if (!mayHoldRules(entry.name)) continue;
      const source = ruleFiles.get(entry.name) ?? "exclude";
      directory ??= typeof from === "function" ? from() : from;
      if (directory === undefined) break; // gone
      const text = source === "exclude" ? gitExclude(directory, entry) : contents(directory, entry);
      if (text === undefined) continue;
      added.set(source, text);
      key += ` ${source} ${text.length} ${text}`;
    }
    if (added.size === 0) return this;
    return this.#made.get(key, () => {
      const layers: { -readonly [S in RuleSource]?: RuleLayer | undefined } = { ...this.#layers };
      for (const [source, text] of added) {
        layers[source] = { parent: this.#layers[source], path: below, rules: new RuleFile(text) };
      }
      return new IgnoreRules(this.#policy, layers, this.#made);
    });
  }

  /** `prefix` is the path of the directory that holds the name: "", or with a final slash. */
  ignores(prefix: string, name: string, isDirectory: boolean): boolean {
    if (name.charCodeAt(0) === 46 && (!this.#policy.hidden || (this.#policy.rules && name === ".git")))
      return true;
    if (!this.#endings.mayHave(name)) return false;
    for (let i = 0; i < this.#deciding.length; i++) {
      const { rules, path } = this.#deciding[i] as RuleLayer;
      const decided = rules.decide(prefix, path.length, name, isDirectory);
      if (decided !== undefined) return decided;
    }
    return false;
  }

  /** Whether ignore files count at all. */
  get obeysFiles(): boolean {
    return this.#policy.rules;
  }
}

const maxRules = 10_000;
const maxKeyLength = 4 * 1024 * 1024;

/** The rules of an engine by what they were made of, each once. */
class RulesByContent {
  /** The number of the rules that were made last. */
  latest = 0;
  readonly #rules = new Map<string, IgnoreRules>();
  #keyLength = 0;

  get(key: string, make: () => IgnoreRules): IgnoreRules {
    const before = this.#rules.get(key);
    if (before !== undefined) return before;
    const rules = make();
    this.#keyLength += key.length;
    if (this.#rules.size === maxRules || this.#keyLength > maxKeyLength) {
      this.#rules.clear();
      this.#keyLength = key.length;
    }
    this.#rules.set(key, rules);
    return rules;
  }
}

function* chain(layer: RuleLayer | undefined): Generator<RuleLayer> {
  for (let next = layer; next !== undefined; next = next.parent) yield next;
}

function gitExclude(directory: Directory, entry: DirectoryEntry): string | undefined {
  using git = directory.child(entry);
  using info = git?.child({ name: "info", kind: "directory" });
  return info === undefined ? undefined : contents(info, { name: "exclude", kind: "file" });
}

/** The entries that may hold rules, without listing a directory that may be large. */
export function ruleEntries(directory: Directory): DirectoryEntry[] {
  const found: DirectoryEntry[] = [];
  for (const name of [...ruleFiles.keys(), ".git"]) {
    const kind = directory.stat({ name, kind: "file" })?.kind;
    if (kind === "file" || kind === "directory") found.push({ name, kind });
  }
  return found;
}

function contents(directory: Directory, entry: DirectoryEntry): string | undefined {
  if (entry.kind !== "file") return undefined;
  try {
    using file = directory.file(entry);
    const bytes = file.readNow(0, Math.min(file.size, maxRuleBytes));
    // A line that is cut in two would mean something else.
    const end = file.size > maxRuleBytes ? bytes.lastIndexOf(10) : bytes.length;
    return bytes.subarray(0, Math.max(0, end)).toString("utf8");
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined; // gone or not ours to read: no rules
  }
}
