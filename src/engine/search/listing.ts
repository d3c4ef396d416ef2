// The names in a directory in order, and data derived from them.
import type { DirectoryEntry } from "../workspace/directory.ts";
import { type DirectoryPlan, type PlanContext, planOf, sortAsUnits, sorted } from "./directory-plan.ts";
import { mayHoldRules } from "./ignore.ts";

const most = 2;
const entryBytes = 200; // including derived data
const none: readonly never[] = [];

interface KeptPlan extends Pick<PlanContext, "rules" | "top" | "prefix" | "order" | "hidden" | "place"> {
  readonly plan: DirectoryPlan;
}

export class Listing {
  readonly entries: readonly DirectoryEntry[];
  /** Those that ignore rules may come from. */
  readonly ruleEntries: readonly DirectoryEntry[] = none;
  /** Approximate memory use. */
  readonly bytes: number;
  #plans: readonly KeptPlan[] = none;

  constructor(entries: readonly DirectoryEntry[]) {
    let bytes = 0;
    let isSorted = true;
    let before = "";
    // One pass: the first walk of a tree comes here for every name, and nothing is compiled by then.
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as DirectoryEntry;
      const { name } = entry;
      bytes += name.length + entryBytes;
      if (name <= before) isSorted = false;
      before = name;
      if (name.charCodeAt(0) === 46 && mayHoldRules(name)) this.ruleEntries = [...this.ruleEntries, entry];
    }
    this.entries = isSorted && sortAsUnits(entries) ? entries : sorted(entries);
    this.bytes = bytes;
  }

  /** How to go through it. The same rules lead to the same plan, unless there are globs: these are new each time. */
  plan(occasion: PlanContext): DirectoryPlan {
    const { rules, top, prefix, order, exclude, hidden, place } = occasion;
    if (exclude !== undefined) return planOf(this.entries, occasion);
    for (const cached of this.#plans) {
      const isSame =
        cached.rules === rules &&
        cached.hidden === hidden &&
        cached.order === order &&
        cached.prefix === prefix &&
        cached.top === top &&
        (hidden === undefined || cached.place === place);
      if (isSame) return cached.plan;
    }
    const plan = planOf(this.entries, occasion);
    const cached = { rules, top, prefix, order, hidden, place, plan };
    this.#plans = this.#plans === none ? [cached] : [cached, ...this.#plans.slice(0, most - 1)];
    return plan;
  }
}
