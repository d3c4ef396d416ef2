// Refuses to remove or replace what undo could not restore: pipes, sockets and devices, unreadable files, content
// larger than the archive keeps or has room for, and paths longer than the system allows. Also refuses to remove a tree
// of which something would stay (removable.ts). Checks everything before the commit touches anything.
import { constants } from "node:fs";
import { Fault, type Faults } from "../../fault.ts";
import { longestPath, type RetentionLimits } from "../archive/snapshot.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, system } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { written } from "../name.ts";
import { kindOf } from "../stat.ts";
import { freeBelow } from "../system/free-space.ts";
import type { Address } from "../system/held.ts";
import type { CommitPlan, Doomed, Stats } from "./commit-plan.ts";
import { refuseClosed, refuseMounted, refuseStuck } from "./removable.ts";

type Loss = Omit<Faults["irrevocable"], "path" | "inside">;

/** Throws `irrevocable` for the first loss. Without limits, everything may be lost. */
export async function refuseIrrevocable(
  plan: CommitPlan,
  limits: RetentionLimits | undefined,
  state: string,
): Promise<void> {
  const slice = new TimeSlice();
  const budget = { limits, bytes: 0 };
  for (const doomed of plan.doomed) {
    if (doomed.stat.isDirectory()) await refuseInTree(plan, doomed, budget, slice);
    else if (!doomed.isCopied) {
      if (slice.isOver) await slice.turn();
      const path = doomed.target.path.given;
      const loss = lossOf(plan.places.address(doomed.target.entry), doomed.stat, budget);
      if (loss !== undefined) throw new Fault("irrevocable", { path, ...loss });
    }
  }
  const first = plan.doomed[0];
  if (limits !== undefined && first !== undefined && !hasRoom(plan.doomed, budget.bytes, state))
    throw new Fault("irrevocable", { path: first.target.path.given, reason: "no_room" });
}

/** For the record of a change, besides its contents. */
const recordBytes = 64 * 1024;

/**
 * Whether the archive has room for the removed content. If the archive is on the same disk, lack of room is no reason to
 * refuse: people delete files to make room. The commit then reports that it cannot be undone.
 */
function hasRoom(doomed: readonly Doomed[], bytes: number, state: string): boolean {
  if (freeBelow(state) >= bytes + recordBytes) return true;
  const device = sys.lstat(state)?.dev;
  return device === undefined || doomed.some(({ stat }) => stat.dev === device);
}

interface Budget {
  readonly limits: RetentionLimits | undefined;
  /** Of all files that go. */
  bytes: number;
}

interface TreeLevel {
  readonly handle: Handle;
  readonly name: string;
  readonly left: Buffer[];
  /** Of its path, in bytes. */
  readonly length: number;
}

async function refuseInTree(
  plan: CommitPlan,
  { target, recursive, isCopied }: Doomed,
  ofAll: Budget,
  slice: TimeSlice,
): Promise<void> {
  if (!recursive) return;
  const { given } = target.path;
  const budget = isCopied ? { limits: undefined, bytes: 0 } : ofAll;
  const open: TreeLevel[] = [];
  const insideOf = (name: string) => [...open.slice(1).map(level => level.name), name].join("/");
  const refuse = (name: string, loss: Loss): never => {
    const inside = insideOf(name);
    throw new Fault("irrevocable", { path: given, ...(inside !== "" && { inside }), ...loss });
  };
  /** Undefined for a directory that may not be read, where that is a loss. */
  const namesIn = (handle: Handle, path: string): Buffer[] | undefined => {
    try {
      return system(path, () => sys.names(handle.address));
    } catch (error) {
      if (budget.limits && Fault.is(error, "permission_denied")) return undefined;
      throw error;
    }
  };
  const enter = (address: Address, name: string, length: number) => {
    const path = name === "" ? given : `${given}/${insideOf(name)}`;
    const handle = system(given, () => Handle.open(address, { follow: false }));
    try {
      const left = namesIn(handle, path) ?? refuse(name, { reason: "unreadable" });
      if (left.length > 0) refuseClosed(handle, path);
      open.push({ handle, name, left, length });
    } catch (error) {
      handle.close();
      throw error;
    }
    if (open.length === 1) refuseMounted(handle, inside => `${given}/${inside}`);
  };
  try {
    enter(plan.places.address(target.entry), "", Buffer.byteLength(target.at));
    for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
      if (slice.isOver) await slice.turn();
      const next = level.left.pop();
      if (next === undefined) {
        open.pop()?.handle.close();
        continue;
      }
      const address = level.handle.below(next);
      const name = written(next);
      const length = level.length + 1 + next.length;
      const stat = system(given, () => sys.lstat(address));
      if (stat === undefined) continue;
      if (budget.limits && length > longestPath) refuse(name, { reason: "too_long" });
      const loss = lossOf(address, stat, budget);
      if (loss !== undefined) refuse(name, loss);
      refuseStuck(address, stat, level.handle, () => `${given}/${insideOf(name)}`);
      if (stat.isDirectory()) enter(address, name, length);
    }
  } finally {
    for (const { handle } of open) handle.close();
  }
}

function lossOf(address: Address, stat: Stats, budget: Budget): Loss | undefined {
  const { limits } = budget;
  if (limits === undefined || stat.isDirectory() || stat.isSymbolicLink()) return undefined;
  if (!stat.isFile()) return { reason: "special", kind: kindOf(stat) };
  budget.bytes += stat.size;
  const { maxFileBytes, maxChangeBytes } = limits;
  if (stat.size > maxFileBytes) return { reason: "too_large", bytes: stat.size, limits };
  if (budget.bytes > maxChangeBytes) return { reason: "too_large", bytes: budget.bytes, limits };
  return isReadable(address, stat) ? undefined : { reason: "unreadable" };
}

/** The owner's permission bits decide about the owner. About others and root only the system knows. */
function isReadable(address: Address, stat: Stats): boolean {
  if (stat.uid === process.geteuid?.() && (stat.mode & 0o400) !== 0) return true;
  try {
    sys.close(sys.open(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return true; // another process has removed it
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return false;
    throw error;
  }
}
