// The entries of a directory that rules hide from listings. One object stands for one set of rules, so a result that
// depends on the rules can be cached together with it.
import { NameEndings } from "../glob/name-endings.ts";
import type { Policy } from "../policy/policy.ts";
import type { Decision } from "../policy/rule.ts";

export interface HidingRules {
  readonly policies: readonly Policy[];
  /** The roots that relative globs are read against. */
  readonly bases: readonly object[];
  readonly decide: (at: string) => Decision;
}

const mostRecent = 16;

export class HiddenNames {
  readonly #rules: HidingRules;
  readonly #endings = new NameEndings();

  constructor(rules: HidingRules) {
    this.#rules = rules;
    for (const { deniedEndings } of rules.policies) this.#endings.addAll(deniedEndings);
  }

  isOf(policies: readonly Policy[], bases = this.#rules.bases): boolean {
    return isSame(this.#rules.policies, policies) && isSame(this.#rules.bases, bases);
  }

  /** Whether `name` is hidden in `directory`, which is not hidden itself. */
  has(directory: string, name: string): boolean {
    if (!this.#endings.mayHave(name)) return false;
    const { policies, decide } = this.#rules;
    return policies.some(one => one.mayHide(name)) && decide(`${directory}/${name}`).contents === "none";
  }
}

/** The sets of rules that the callers of one engine were under last, the latest first. */
export class RecentHiddenNames {
  readonly #recent: HiddenNames[] = [];

  /** The same object for the same rules. */
  of(rules: HidingRules): HiddenNames {
    const recent = this.#recent;
    const at = recent.findIndex(one => one.isOf(rules.policies, rules.bases));
    const hidden = recent[at] ?? new HiddenNames(rules);
    if (at >= 0) recent.splice(at, 1);
    recent.unshift(hidden);
    recent.length = Math.min(recent.length, mostRecent);
    return hidden;
  }
}

function isSame<T>(some: readonly T[], others: readonly T[]): boolean {
  return some === others || (some.length === others.length && some.every((one, i) => one === others[i]));
}
