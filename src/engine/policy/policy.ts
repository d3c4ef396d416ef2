// A set of rules over paths. Deny wins regardless of order; otherwise the last rule that applies decides, separately
// for access and for approval. Paths are canonical, links resolved.
import { NameEndings } from "../glob/name-endings.ts";
import { LruMap } from "../lru-map.ts";
import { once } from "../once.ts";
import { isAscii } from "../text/ascii.ts";
import { NameIndex } from "./name-index.ts";
import { type FoldedPath, folded, foldedForms, type PathGlobs, pathGlobs } from "./path-globs.ts";
import {
  type Decision,
  decisionFor,
  narrower,
  type PolicyRule,
  refusingName,
  ruleName,
  unrestricted,
} from "./rule.ts";

interface CompiledRule {
  readonly rule: PolicyRule;
  readonly globs: PathGlobs;
  readonly name: string;
  readonly refusing: string;
}

const remembered = 4096;

/** The rules in the form that decisions are made with. */
interface Compiled {
  readonly rules: readonly CompiledRule[];
  /** Which rules could apply to a name. */
  readonly index: NameIndex;
  /** Which rules could apply below a directory of the root. */
  readonly byFirst: ReadonlyMap<string, readonly number[]>;
  /** Which of them deny. */
  readonly denying: NameIndex;
  /** The same by the last characters of a name alone. */
  readonly deniedEndings: NameEndings;
}

function compile(rules: readonly PolicyRule[]): Compiled {
  const compiled = rules.map((rule, i) => ({
    rule,
    globs: pathGlobs(rule.paths),
    name: ruleName(rule, i),
    refusing: refusingName(rule, i),
  }));
  const index = new NameIndex();
  const denying = new NameIndex();
  const deniedEndings = new NameEndings();
  const byFirst = new Map<string, readonly number[]>();
  for (const [i, { rule, globs }] of compiled.entries()) {
    for (const { ending, beginning, first } of globs.keys) {
      const indexes = rule.access === "deny" ? [index, denying] : [index];
      if (rule.access === "deny")
        deniedEndings.addAnyCase(beginning === undefined && first === undefined ? ending : "");
      if (beginning !== undefined) for (const one of indexes) one.addBeginning(beginning, i);
      else if (first === undefined) for (const one of indexes) one.addEnding(ending, i);
      else {
        byFirst.set(first, [...(byFirst.get(first) ?? []), i]);
        if (rule.access === "deny") denying.addEnding("", i); // any name below `first`
      }
    }
  }
  return { rules: compiled, index, byFirst, denying, deniedEndings };
}

/**
 * Rules about paths. A rule that denies wins; otherwise the last one that applies to a path decides. They are compiled
 * for the first decision, so that a start does not wait for it.
 */
export class Policy {
  readonly rules: readonly PolicyRule[];
  readonly #compiled: () => Compiled;
  readonly #decisions = new LruMap<string, Decision>(remembered);
  /** Whether no rule could apply to a directory; and the one that was asked about last, since walks go by directory. */
  readonly #freeDirectories = new LruMap<string, boolean>(remembered);
  #last = { root: "", directory: "", isFree: false };

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    this.#compiled = once(() => compile(rules));
  }

  /** Whether it restricts anything at all. */
  get isEmpty(): boolean {
    return this.rules.length === 0;
  }

  /** The endings of the names that `mayHide` may be true for. */
  get deniedEndings(): NameEndings {
    return this.#compiled().deniedEndings;
  }

  /** Whether an entry of a directory that may be listed could be denied. Never false if one is. */
  mayHide(name: string): boolean {
    const { denying, deniedEndings } = this.#compiled();
    if (!deniedEndings.mayHave(name)) return false;
    if (isAscii(name)) return denying.has(name.toLowerCase());
    return foldedForms(name).some(form => denying.has(form));
  }

  /**
   * The decision for `relative` (with `/`, "" for the root itself) below a root at `root` (absolute): globs that
   * begin with `/` match the whole path, others the part below the root. If the root is the top of a
   * file system, a project may begin anywhere: a glob with a slash then restricts at any depth, and widens only from the
   * top.
   */
  decide(root: string, relative: string): Decision {
    if (this.isEmpty || this.#isFree(root, relative)) return unrestricted;
    const key = `${root}\0${relative}`;
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const decision = foldedForms(relative)
      .map(form => this.#decide(root, form))
      .reduce(narrower);
    this.#decisions.set(key, decision);
    return decision;
  }

  /**
   * Whether no rule could apply to a path: to its last name, and to the directory above it, which is looked up. Most
   * paths are decided here, without any glob. May be false although none applies.
   */
  #isFree(root: string, relative: string): boolean {
    if (relative === "") return false;
    const slash = relative.lastIndexOf("/");
    const name = relative.slice(slash + 1);
    if (!isAscii(name)) return false;
    const { index, byFirst } = this.#compiled();
    const form = name.toLowerCase();
    if (index.has(form) || (byFirst.size > 0 && (slash < 0 || isTop(root)) && byFirst.has(form)))
      return false;
    return this.#isFreeDirectory(root, slash < 0 ? "" : relative.slice(0, slash));
  }

  #isFreeDirectory(root: string, directory: string): boolean {
    const last = this.#last;
    if (last.directory === directory && last.root === root) return last.isFree;
    const key = `${root}\0${directory}`;
    let isFree = this.#freeDirectories.get(key);
    if (isFree === undefined) {
      isFree = foldedForms(directory).every(form => this.#possible(root, form).size === 0);
      this.#freeDirectories.set(key, isFree);
    }
    this.#last = { root, directory, isFree };
    return isFree;
  }

  #decide(root: string, relative: string): Decision {
    const path = {
      names: relative.split("/"),
      relative: once(() => upwards(relative)),
      absolute: once(() => upwards(wholePath(root, relative))),
    };
    const applying = this.#applying(root, relative, path);
    const denied = applying.find(({ rule }) => rule.access === "deny");
    if (denied !== undefined) return decisionFor("deny", [], denied.refusing);
    const access = applying.findLast(({ rule }) => rule.access !== undefined);
    const asking = applying.findLast(({ rule }) => rule.ask !== undefined);
    const ask = asking?.rule.ask ?? [];
    const name = ask.length === 0 ? undefined : asking?.name;
    if (access?.rule.access === undefined)
      return name === undefined ? unrestricted : { ...unrestricted, ask, asking: name };
    return decisionFor(access.rule.access, ask, access.refusing, name);
  }

  /** The rules that apply to a path, in order. */
  #applying(root: string, relative: string, path: FoldedPath): CompiledRule[] {
    const possible = this.#possible(root, relative);
    if (possible.size === 0) return [];
    const isAtTop = isTop(root);
    return this.#compiled().rules.filter(
      ({ rule, globs }, i) => possible.has(i) && globs.match(path, isAtTop && rule.access !== "write"),
    );
  }

  /** The rules that could apply to a folded path, by its names. */
  #possible(root: string, relative: string): ReadonlySet<number> {
    const { index, byFirst } = this.#compiled();
    const whole = wholePath(root, relative);
    const possible = new Set<number>();
    for (let end = whole.length; end > 0; ) {
      const slash = whole.lastIndexOf("/", end - 1);
      index.find(whole, slash + 1, end, possible);
      end = slash;
    }
    index.find("", 0, 0, possible);
    const names = relative.split("/");
    for (const name of isTop(root) ? names : names.slice(0, 1))
      for (const id of byFirst.get(name) ?? []) possible.add(id);
    return possible;
  }
}

/** Whether a root is the top of a file system. */
function isTop(root: string): boolean {
  return root === "" || /^[a-z]:$/i.test(root);
}

/** A folded path below a root, from the top. */
function wholePath(root: string, relative: string): string {
  return folded(root) + (relative === "" ? "" : `/${relative}`);
}

/** What several rule sets together allow: a token's own rules only narrow the server's. */
export function decideAll(policies: readonly Policy[], root: string, relative: string): Decision {
  return policies.reduce(
    (decision, policy) => narrower(decision, policy.decide(root, relative)),
    unrestricted,
  );
}

/** A path and every directory above it, the root itself as "". */
function upwards(path: string): string[] {
  const found: string[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) found.push(path.slice(0, end));
  found.push("");
  return found;
}
