// Plans a removal: the thing is taken out of its directory in one step, and let go when the commit is done.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { system } from "../errno.ts";
import { type Address, Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import type { Expectation } from "./change.ts";
import { check, describe, type Plan } from "./plan.ts";
import { sys } from "./syscalls.ts";
import type { Target } from "./target.ts";

export function planRemove(
  plan: Plan,
  change: { readonly recursive?: boolean; readonly expect?: Expectation },
  target: Target,
): void {
  const { given } = target.path;
  const stat = plan.at(target);
  if (stat === undefined) throw new Fault("not_found", { path: given });
  check(plan, target, stat, change.expect);
  if (stat.isDirectory()) {
    plan.leaving(target);
    const address = plan.places.address(target.spot);
    if (change.recursive) system(given, () => refuseStubborn(address, given));
    else if (system(given, () => sys.names(address)).length > 0)
      throw new Fault("not_empty", { path: given });
  }
  const before = describe(stat, plan, target);
  const trash = plan.takeAway(target, stat, stat.isDirectory() && !change.recursive ? "empty" : "tree");
  plan.outcomes.push({
    change: target,
    effect: "removed",
    kind: kindOf(stat),
    otherNames: stat.isFile() ? stat.nlink - 1 : 0,
    before: { ...before, ...trash },
  });
}

/** A tree goes as a whole: directories in it that may not be emptied are found before anything has happened. */
function refuseStubborn(address: Address, given: string): void {
  const user = process.geteuid?.();
  if (user === undefined || user === 0) return;
  using handle = Handle.open(address, { follow: false });
  const names = sys.names(handle.address);
  if (names.length > 0 && handle.stat().uid !== user) {
    sys.access(handle.address, constants.W_OK | constants.X_OK);
  }
  for (const name of names) {
    const below = handle.below(name);
    if (sys.lstat(below)?.isDirectory()) refuseStubborn(below, given);
  }
}
