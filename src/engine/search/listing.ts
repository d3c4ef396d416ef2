// The names in a directory as they were read, in order, and what was made of them.
import type { Directory, Entry } from "../workspace/directory.ts";
import { type IgnoreRules, mayHoldRules } from "./ignore.ts";
import { inOrder, type Occasion, type Order, type Plan, planOf } from "./plan.ts";

const most = 2;

export class Listing {
  readonly entries: readonly Entry[];
  /** Those that ignore rules may come from. */
  readonly ruleEntries: readonly Entry[];
  readonly #plans: {
    readonly rules: IgnoreRules;
    readonly above: string;
    readonly order: Order;
    readonly plan: Plan;
  }[] = [];

  constructor(directory: Directory) {
    this.entries = inOrder(directory.entries());
    this.ruleEntries = this.entries.filter(mayHoldRules);
  }

  /** How to go through it. The same rules lead to the same plan, unless there are globs: these are new each time. */
  plan(occasion: Occasion): Plan {
    const { rules, above, order, exclude } = occasion;
    if (exclude !== undefined) return planOf(this.entries, occasion);
    for (const kept of this.#plans) {
      if (kept.rules === rules && kept.order === order && kept.above === above) return kept.plan;
    }
    const plan = planOf(this.entries, occasion);
    if (this.#plans.length === most) this.#plans.shift();
    this.#plans.push({ rules, above, order, plan });
    return plan;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    let bytes = this.entries.length * 100;
    for (const { name } of this.entries) bytes += name.length;
    return bytes;
  }
}
