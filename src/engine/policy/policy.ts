// A set of rules, asked about paths. Deny wins whatever the order; among the rest the last rule that applies decides,
// separately for access and for questions. A path is asked about by where it really is, links resolved.
import { LruMap } from "./lru-map.ts";
import { folded, type PathGlobs, pathGlobs } from "./path-globs.ts";
import { type AccessLevel, type Decision, decisionFor, narrower, type Rule, unrestricted } from "./rule.ts";

interface Compiled {
  readonly rule: Rule;
  readonly globs: PathGlobs;
  readonly name: string;
}

const remembered = 4096;

export class Policy {
  readonly rules: readonly Rule[];
  readonly #denying: readonly Compiled[];
  readonly #others: readonly Compiled[];
  /** Names that no denying rule can hide, told quickly: listings ask about every entry. */
  readonly #hideable: RegExp;
  readonly #decisions = new LruMap<string, Decision>(remembered);

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    const compiled = rules.map((rule, i) => ({ rule, globs: pathGlobs(rule.paths), name: nameOf(rule, i) }));
    this.#denying = compiled.filter(({ rule }) => rule.access === "deny");
    const endings = this.#denying.flatMap(({ globs }) => globs.endings);
    const isOpen = endings.includes("");
    // Names beyond ASCII may be stored in another normal form.
    this.#hideable = new RegExp(isOpen ? "" : `(?:${endings.map(escaped).join("|")})$|[^\\x20-\\x7e]`, "i");
    // Asked from the end: the last that applies decides.
    this.#others = compiled.filter(({ rule }) => rule.access !== "deny").reverse();
  }

  /** Whether it restricts anything at all. */
  get isEmpty(): boolean {
    return this.rules.length === 0;
  }

  /** Whether an entry of a directory that may be listed could be denied. Never false where one is. */
  mayHide(name: string): boolean {
    return this.#denying.length > 0 && this.#hideable.test(name);
  }

  /**
   * About the thing at `relative` (with `/`, "" for the root itself) below a root at `root` (absolute): globs that
   * begin with `/` are read against the whole path, others against the part below the root.
   */
  decide(root: string, relative: string): Decision {
    if (this.isEmpty) return unrestricted;
    const key = `${root}\0${relative}`;
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const decision = this.#decide(candidates(root, relative));
    this.#decisions.set(key, decision);
    return decision;
  }

  #decide(names: readonly string[]): Decision {
    const denied = this.#denying.find(({ globs }) => globs.match(names));
    if (denied !== undefined) return decisionFor("deny", [], denied.name);
    let access: { level: AccessLevel; name: string } | undefined;
    let ask: Rule["ask"];
    for (const { rule, globs, name } of this.#others) {
      if (
        (access !== undefined || rule.access === undefined) &&
        (ask !== undefined || rule.ask === undefined)
      )
        continue;
      if (!globs.match(names)) continue;
      if (access === undefined && rule.access !== undefined) access = { level: rule.access, name };
      ask ??= rule.ask;
      if (access !== undefined && ask !== undefined) break;
    }
    if (access === undefined) return ask === undefined ? unrestricted : { ...unrestricted, ask };
    return decisionFor(access.level, ask ?? [], access.name);
  }
}

/** What several rule sets together allow: a token's own rules only narrow the server's. */
export function decideAll(policies: readonly Policy[], root: string, relative: string): Decision {
  return policies.reduce(
    (decision, policy) => narrower(decision, policy.decide(root, relative)),
    unrestricted,
  );
}

function nameOf(rule: Rule, index: number): string {
  return (
    rule.name ??
    `rule ${index + 1} (${rule.paths.slice(0, 3).join(", ")}${rule.paths.length > 3 ? ", …" : ""})`
  );
}

/** The path and every directory above it, relative to the root and absolute, folded. */
function candidates(root: string, relative: string): string[] {
  const found: string[] = [];
  const below = folded(relative);
  for (let end = below.length; end > 0; end = below.lastIndexOf("/", end - 1))
    found.push(below.slice(0, end));
  const whole = folded(relative === "" ? root : `${root}/${relative}`);
  for (let end = whole.length; end > 0; end = whole.lastIndexOf("/", end - 1))
    found.push(whole.slice(0, end));
  return found;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
