// Plans directories and symbolic links.
import { Fault, type Kind } from "../../fault.ts";
import { system } from "../errno.ts";
import { bytesWritten } from "../name.ts";
import { resolvePath } from "../resolve.ts";
import { kindOf } from "../stat.ts";
import type { CommitPlan } from "./commit-plan.ts";
import type { Target } from "./target.ts";

export function planMkdir(plan: CommitPlan, mode: number | undefined, target: Target): void {
  const { given } = target.path;
  const stat = plan.at(target);
  if (stat !== undefined) {
    const followed = stat.isSymbolicLink() ? system(given, () => kindBehind(plan, target)) : kindOf(stat);
    if (followed !== "directory") throw new Fault("exists", { path: given });
    plan.outcomes.push({ change: target, effect: "none", kind: "directory", otherNames: 0 });
    return;
  }
  plan.makeParents(target.entry.place, given);
  if (plan.makes(target.entry)) makeDirectory(plan, mode, target);
  plan.outcomes.push({
    change: target,
    effect: "created",
    kind: "directory",
    otherNames: 0,
    after: { kind: "directory", size: 0, mode, entry: target.entry },
  });
}

/** A directory that its owner cannot write to gets its mode last: the commit may put something into it. */
function makeDirectory(plan: CommitPlan, mode: number | undefined, { path: { given }, entry }: Target): void {
  const isOpen = mode === undefined || (mode & 0o300) === 0o300;
  const first = isOpen ? mode : mode | 0o700;
  plan.steps.push({ do: "make", given, at: entry, ...(first !== undefined && { mode: first }) });
  if (mode === undefined || first === undefined || isOpen) return;
  plan.closings.unshift({ do: "mode", given, at: entry, before: first, after: mode }); // the innermost first
}

export function planMode(plan: CommitPlan, mode: number, target: Target): void {
  const { given } = target.path;
  const stat = plan.at(target);
  if (stat === undefined) throw new Fault("not_found", { path: given });
  if (!stat.isDirectory()) throw new Fault("not_a_directory", { path: given });
  const before = stat.mode & 0o7777;
  const told = { kind: "directory", size: 0 } as const;
  plan.steps.push({ do: "mode", given, at: target.entry, inode: stat.ino, before, after: mode });
  plan.outcomes.push({
    change: target,
    effect: "modified",
    kind: "directory",
    otherNames: 0,
    before: { ...told, mode: before },
    after: { ...told, mode },
  });
}

export function planSymlink(plan: CommitPlan, to: string, target: Target): void {
  const { given } = target.path;
  if (plan.at(target) !== undefined) throw new Fault("exists", { path: given });
  const temp = plan.temp(target.entry);
  plan.stages.push({ kind: "symlink", given, entry: temp, target: to });
  plan.move({ given, from: temp, to: target.entry, kind: "symlink", staged: {} });
  plan.outcomes.push({
    change: target,
    effect: "created",
    kind: "symlink",
    otherNames: 0,
    after: { kind: "symlink", size: bytesWritten(to).length, mode: 0o777, target: to, entry: target.entry },
  });
}

/** The kind of a link's target. A link that leads outside counts as a link: callers learn nothing about the outside. */
function kindBehind(plan: CommitPlan, target: Target): Kind {
  try {
    using handle = resolvePath(plan.roots, target.path).handle;
    return kindOf(handle.stat());
  } catch {
    return "symlink";
  }
}
