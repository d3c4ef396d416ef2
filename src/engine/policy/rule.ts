// The rules of a policy, as data. The program reads and checks the file; here a rule is well formed.

/** From least to most. `mask` shows keys and hides values, and lets values be replaced; `read` protects from changes. */
export type AccessLevel = "deny" | "mask" | "read" | "write";

/** Actions that need a person's approval. */
export type AskedAction = "write" | "delete" | "run";

/** One rule: which paths, and what may be done with them. */
export interface PolicyRule {
  /** Globs, `!` excludes; the last one that matches decides whether the rule applies. */
  readonly paths: readonly string[];
  readonly access?: AccessLevel;
  readonly ask?: readonly AskedAction[];
  /** Shown in refusals instead of its number. */
  readonly name?: string;
}

/** The decision of a rule set for one path. */
export interface Decision {
  readonly contents: "none" | "masked" | "full";
  readonly changes: boolean;
  readonly ask: readonly AskedAction[];
  /** The name of the rule that decided about access; undefined if none applies. */
  readonly rule: string | undefined;
  /** The name of the rule that asks; absent where none does. */
  readonly asking?: string;
}

export const unrestricted: Decision = { contents: "full", changes: true, ask: [], rule: undefined };

const levels: { readonly [level in AccessLevel]: Pick<Decision, "contents" | "changes"> } = {
  deny: { contents: "none", changes: false },
  mask: { contents: "masked", changes: true },
  read: { contents: "full", changes: false },
  write: { contents: "full", changes: true },
};

export function decisionFor(
  access: AccessLevel,
  ask: readonly AskedAction[],
  rule: string,
  asking?: string,
): Decision {
  return { ...levels[access], ask, rule, ...(asking !== undefined && { asking }) };
}

const order = { none: 0, masked: 1, full: 2 } as const;

/** What both allow. Of two rule sets that hold for one path, the stricter is named. */
export function narrower(a: Decision, b: Decision): Decision {
  if (a === unrestricted) return b;
  if (b === unrestricted) return a;
  const strict = order[b.contents] < order[a.contents] || (a.changes && !b.changes) ? b : a;
  return {
    contents: order[a.contents] <= order[b.contents] ? a.contents : b.contents,
    changes: a.changes && b.changes,
    ask: [...new Set([...a.ask, ...b.ask])],
    rule: strict.rule ?? a.rule ?? b.rule,
    ...((a.asking ?? b.asking) !== undefined && { asking: a.asking ?? b.asking }),
  };
}

/** The name of a rule in refusals. It has no globs: they could tell callers what the rule hides. */
export function refusingName({ name }: PolicyRule, index: number): string {
  return name ?? `rule ${index + 1}`;
}

/** The name of a rule in warnings and questions, which only people see. */
export function ruleName(rule: PolicyRule, index: number): string {
  const globs = `${rule.paths.slice(0, 3).join(", ")}${rule.paths.length > 3 ? ", …" : ""}`;
  return rule.name ?? `${refusingName(rule, index)} (${globs})`;
}
