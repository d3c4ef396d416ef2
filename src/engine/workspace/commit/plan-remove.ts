// Plans a removal: moves the entry out of its directory in one step, and removes it when the commit is done.
import { Fault } from "../../fault.ts";
import { sys } from "../disk/syscalls.ts";
import { system } from "../errno.ts";
import { kindOf } from "../stat.ts";
import type { Expectation } from "./change.ts";
import { addPrecondition, type CommitPlan, describe } from "./commit-plan.ts";
import type { Target } from "./target.ts";

export function planRemove(
  plan: CommitPlan,
  change: { readonly recursive?: boolean; readonly expect?: Expectation },
  target: Target,
): void {
  const { given } = target.path;
  const stat = plan.at(target);
  if (stat === undefined) throw new Fault("not_found", { path: given });
  addPrecondition(plan, target, stat, change.expect);
  if (stat.isDirectory()) {
    plan.leaving(target);
    const address = plan.places.address(target.entry);
    if (!change.recursive && system(given, () => sys.names(address)).length > 0)
      throw new Fault("not_empty", { path: given });
  }
  plan.doomed.push({ target, stat, recursive: change.recursive ?? false });
  const before = describe(stat, plan, target);
  const trash = plan.takeAway(target, stat, {
    away: stat.isDirectory() && !change.recursive ? "empty" : "tree",
  });
  plan.outcomes.push({
    change: target,
    effect: "removed",
    kind: kindOf(stat),
    otherNames: stat.isFile() ? stat.nlink - 1 : 0,
    before: { ...before, ...trash },
  });
}
