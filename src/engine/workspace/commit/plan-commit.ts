// From resolved changes to the plan of a commit. Everything that can be refused is refused here, before the first
// byte is written.
import type { RetentionLimits } from "../archive/snapshot.ts";
import { inSlices } from "../footprint/time-slice.ts";
import type { CommitOptions } from "./change.ts";
import { CommitPlan } from "./commit-plan.ts";
import { refuseIrrevocable } from "./irrevocable.ts";
import { planMkdir, planMode, planSymlink } from "./plan-make.ts";
import { planCopy, planMove } from "./plan-move.ts";
import { planRemove } from "./plan-remove.ts";
import { planWrite } from "./plan-write.ts";
import type { ResolvedChange, ResolvedChanges } from "./resolved-changes.ts";
import type { Aside } from "./state.ts";

interface PlanningOptions {
  readonly limits: RetentionLimits;
  readonly aside?: Aside | undefined;
  /** A directory was found that cannot be renamed. */
  readonly copyDirectories?: boolean;
}

export async function planCommit(
  resolvedChanges: ResolvedChanges,
  options: CommitOptions,
  { limits, aside, copyDirectories = false }: PlanningOptions,
): Promise<CommitPlan> {
  const plan = new CommitPlan(resolvedChanges, aside, copyDirectories);
  await inSlices(resolvedChanges.changes, resolved => {
    plan.base = resolved.base;
    add(plan, resolved, options);
  });
  for (const closing of plan.closings) plan.steps.push(closing);
  await inSlices(resolvedChanges.targets, target => plan.refuseInside(target));
  await refuseIrrevocable(plan, options.irrevocable === "allow" ? undefined : limits, resolvedChanges.state);
  return plan;
}

function add(plan: CommitPlan, resolved: ResolvedChange, options: CommitOptions): void {
  const { change, target, source, original } = resolved;
  if (target === undefined) {
    if (change.kind !== "mkdir") return;
    plan.outcomes.push({ root: change.path, effect: "none", kind: "directory", otherNames: 0 });
  } else if (change.kind === "write") planWrite(plan, change, target, options);
  else if (change.kind === "remove") planRemove(plan, change, target);
  else if (change.kind === "mkdir") planMkdir(plan, change.mode, target);
  else if (change.kind === "mode") planMode(plan, change.mode, target);
  else if (change.kind === "symlink") planSymlink(plan, change.target, target);
  else if (change.kind === "move" && source !== undefined) planMove(plan, change, source, target);
  else if (change.kind === "copy" && original !== undefined) planCopy(plan, change, original, target);
}
