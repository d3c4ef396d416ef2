// Rules that can never decide: another rule matches everything that they match, and wins. Only rules that match every
// path are considered, since that is the common mistake.
import { type PolicyRule, ruleName } from "./rule.ts";

export interface Overridden {
  readonly rule: string;
  readonly by: string;
}

export function overriddenRules(rules: readonly PolicyRule[]): Overridden[] {
  const found: Overridden[] = [];
  for (const [i, rule] of rules.entries()) {
    if (rule.access === "deny") continue;
    const by = rules.findIndex((other, j) => i !== j && matchesAll(other) && wins(other, rule, j > i));
    const other = rules[by];
    if (other !== undefined) found.push({ rule: ruleName(rule, i), by: ruleName(other, by) });
  }
  return found;
}

/** Deny wins regardless of order; otherwise a later rule wins for what it sets. */
function wins(other: PolicyRule, rule: PolicyRule, isLater: boolean): boolean {
  if (other.access === "deny") return true;
  return (
    isLater &&
    (rule.access === undefined || other.access !== undefined) &&
    (rule.ask === undefined || other.ask !== undefined)
  );
}

function matchesAll({ paths }: PolicyRule): boolean {
  return paths.some(glob => /^(?:\*\*\/)*\*{1,2}$/.test(glob)) && !paths.some(glob => glob.startsWith("!"));
}
