// Makes an answer into a rule: what a person allowed at the review page is written to the end of the policy file, where
// it decides over the rule that asked. Servers read the file again by themselves.
import { Fault } from "../../engine/fault.ts";
import type { Need } from "../../engine/policy/approval.ts";
import { ruleName } from "../../engine/policy/rule.ts";
import { readNamedFile, replaceNamedFile } from "../../engine/workspace/system/named-file.ts";
import { parseStrictJson } from "../../host/strict-json.ts";
import { claimFile } from "../claimed-file.ts";
import type { ChosenPolicy } from "./policy-choice.ts";
import { type PolicyDocument, parsePolicy } from "./policy-file.ts";

type DocumentRule = PolicyDocument["rules"][number];

/** Undefined if no file holds the policy. */
export function ruleWriter({ file }: ChosenPolicy) {
  if (file === undefined) return undefined;
  return async (needs: readonly Need[]): Promise<{ file: string; text: string }> => {
    using _ = await claimFile(file);
    const before = readNamedFile(file);
    const parsed = parsePolicy(before);
    if ("wrong" in parsed) throw new Fault("invalid_argument", { message: `the policy ${file} is invalid` });
    const rules = rulesFor(needs, parsed.document.rules);
    // As it is written, not as it was read: what the schema knows nothing about stays.
    const document = parseStrictJson(before) as { rules: unknown[] };
    document.rules.push(...rules);
    const text = `${JSON.stringify(document, undefined, 2)}\n`;
    const after = parsePolicy(text);
    if ("wrong" in after) throw new Fault("invalid_argument", { message: after.wrong.join("; ") });
    replaceNamedFile(file, text);
    return { file, text: rules.map(rule => JSON.stringify(rule)).join("\n") };
  };
}

/** Stops asking about what was allowed, for exactly these paths; the rest of the rule stays. */
function rulesFor(needs: readonly Need[], existing: readonly DocumentRule[]): DocumentRule[] {
  const byAsk = new Map<string, { ask: NonNullable<DocumentRule["ask"]>; paths: string[] }>();
  const actions = new Map<string, Set<Need["question"]>>();
  for (const { at, question } of needs) actions.set(at, (actions.get(at) ?? new Set()).add(question));
  for (const [at, allowed] of actions) {
    const name = needs.find(need => need.at === at)?.rule;
    const asking = existing.find((rule, i) => ruleName(rule, i) === name);
    const ask = (asking?.ask ?? []).filter(question => !allowed.has(question));
    const key = ask.join(" ");
    const group = byAsk.get(key) ?? { ask, paths: [] };
    group.paths.push(literal(at));
    byAsk.set(key, group);
  }
  const name = `allowed at the review page on ${new Date().toISOString().slice(0, 10)}`;
  return [...byAsk.values()].map(({ ask, paths }) => ({ name, paths, ask }));
}

/** A glob that matches exactly this path. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}(,!]/g, "\\$&");
}
