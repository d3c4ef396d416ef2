// The ignore rules that hold where a walk or a search starts. Ignore files from the top down to the start count too;
// the top is the granted root, or the root of the repository that it lies in.

import { directoriesAbove } from "../workspace/directories-above.ts";
import type { Directory } from "../workspace/directory.ts";
import { type IgnorePolicy, IgnoreRules, ruleEntries } from "./ignore.ts";
import { Reopener } from "./reopen.ts";
import { nestedRules } from "./rule-directories.ts";

export interface IgnoreContext {
  /** The path of the start from the top: "" or with a final slash. */
  readonly prefix: string;
  /** The rules that hold when the start is entered; its own ignore files are not among them. */
  readonly rules: IgnoreRules;
}

export function ignoreContext(start: Directory, policy: IgnorePolicy): IgnoreContext {
  let rules = IgnoreRules.of(policy, start.root);
  let prefix = "";
  if (!policy.rules) return { prefix, rules };
  for (const { directory, name } of directoriesAbove(start)) {
    rules = rules.in(directory, prefix.slice(0, -1), ruleEntries(directory));
    prefix += `${name}/`;
  }
  return { prefix, rules };
}

/** Opens what ripgrep names, if the rules admit it. */
export function reopener(start: Directory, { prefix, rules }: IgnoreContext): Reopener {
  return new Reopener(start, prefix, rules);
}

/**
 * The rules as one ignore file for a ripgrep that starts here. It leaves out no more than the rules do: what ripgrep
 * reads differently is not in it, nor are ignore files further down that no walk has met yet.
 */
export function rulesForRipgrep(start: Directory, { prefix, rules }: IgnoreContext): string {
  if (!rules.obeysFiles) return "";
  const own = rules.in(start, prefix.slice(0, -1), ruleEntries(start));
  return own.forRipgrep(prefix, nestedRules(start, prefix, own));
}
