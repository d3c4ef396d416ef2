// The names in a directory in order, and data derived from them.
import type { DirectoryNames } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import { bytesOf, pack, sortAsUnits, unpack } from "../workspace/packed-names.ts";
import { type DirectoryPlan, type PlanContext, planOf, sorted } from "./directory-plan.ts";
import { mayHoldRules } from "./ignore.ts";

const most = 2;
const none: readonly never[] = [];

/**
 * What is counted besides strings. A plan or a run is an object with an array, a map or another object; a run keeps a
 * few entries. Where there is room, all entries are kept as objects, with what consumers make of them.
 */
const listingBytes = 150;
const planBytes = 250;
const runBytes = 350;
const entryBytes = 200;

interface KeptPlan extends Pick<PlanContext, "rules" | "top" | "prefix" | "order" | "hidden" | "place"> {
  readonly plan: DirectoryPlan;
  /** Memory use, without entries as objects. */
  readonly bytes: number;
}

export class Listing {
  /** Packed and sorted (workspace/packed-names.ts). */
  readonly names: string;
  /** Those that ignore rules may come from. */
  readonly ruleEntries: readonly DirectoryEntry[];
  /** Memory use, without entries as objects. */
  bytes: number;
  /** What entries take as objects, if they are all kept. */
  readonly entryBytes: number;
  #plans: readonly KeptPlan[] = none;

  constructor({ names, count, isSorted }: DirectoryNames) {
    this.names = isSorted && sortAsUnits(names) ? names : pack(sorted(unpack(names)));
    const mayHold = names.includes("ignore\0") || names.includes(".git\0");
    this.ruleEntries = mayHold ? unpack(names).filter(({ name }) => mayHoldRules(name)) : none;
    this.bytes = listingBytes + bytesOf(names);
    this.entryBytes = count * entryBytes;
  }

  /** Names of directories. */
  directories(): Set<string> {
    const found = new Set<string>();
    for (const { name, kind } of unpack(this.names)) if (kind === "directory") found.add(name);
    return found;
  }

  /** Keeps no entries as objects. */
  shrink(): void {
    for (const { plan } of this.#plans) for (const run of plan.stretches) run.shrink();
  }

  /** How to go through it. The same rules lead to the same plan, unless there are globs: these are new each time. */
  plan(occasion: PlanContext): DirectoryPlan {
    const { rules, top, prefix, order, exclude, hidden, place } = occasion;
    if (exclude !== undefined) return planOf(this.names, occasion);
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
    const plan = planOf(this.names, occasion);
    const bytes = bytesOfPlan(plan, this.names);
    for (const dropped of this.#plans.slice(most - 1)) this.bytes -= dropped.bytes;
    this.bytes += bytes;
    const cached = { rules, top, prefix, order, hidden, place, plan, bytes };
    this.#plans = this.#plans === none ? [cached] : [cached, ...this.#plans.slice(0, most - 1)];
    return plan;
  }
}

/** The runs of a plan that leaves nothing out are parts of the string that the listing has. */
function bytesOfPlan({ stretches }: DirectoryPlan, names: string): number {
  const length = stretches.reduce((sum, run) => sum + run.names.length, 0);
  const own = length < names.length ? bytesOf(names) : 0;
  return planBytes + stretches.length * runBytes + own;
}
