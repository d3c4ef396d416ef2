// A control group for one command: the kernel limits its processes and memory. Only root can create one, and only
// root needs it: other users have a limit on processes per user, which the kernel does not enforce for root.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

const mount = "/sys/fs/cgroup";
const prefix = "polyfs-";

/** Those that could not be removed yet, because a process in the background was left to run in them. */
const occupied = new Set<string>();

export interface GroupLimits {
  readonly processes: number;
  readonly memoryBytes: number;
}

export interface ControlGroup {
  /** A process joins by writing its number here. */
  readonly members: string;
  /** Removes it, when nothing is in it any longer. */
  remove(): void;
}

/** Undefined if none can be created: not root, not Linux, or groups are mounted read-only. */
export function makeControlGroup(id: string, limits: GroupLimits): ControlGroup | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  for (const path of occupied) remove(path);
  const unified = (contents(`${mount}/cgroup.subtree_control`) ?? "").split(/\s/).includes("pids");
  const parent = unified ? mount : `${mount}/pids`;
  const path = `${parent}/${prefix}${process.pid}-${id}`;
  try {
    mkdirSync(path);
  } catch {
    return undefined;
  }
  const group: ControlGroup = { members: `${path}/cgroup.procs`, remove: () => remove(path) };
  try {
    writeFileSync(`${path}/pids.max`, amount(limits.processes));
  } catch {
    group.remove();
    return undefined;
  }
  if (unified) {
    try {
      writeFileSync(`${path}/memory.max`, amount(limits.memoryBytes));
      writeFileSync(`${path}/memory.swap.max`, "0");
    } catch {
      // Memory is not counted here; the limit per process still holds.
    }
  }
  return group;
}

/** Removes groups of killed servers. Those in use stay: the kernel refuses. */
export function sweepControlGroups(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  for (const parent of [mount, `${mount}/pids`]) {
    for (const name of names(parent)) {
      if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length).split("-")[0])))
        remove(`${parent}/${name}`);
    }
  }
}

function amount(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? "max" : String(limit);
}

function isAlive(pid: number): boolean {
  return contents(`/proc/${pid}/stat`) !== undefined;
}

function remove(path: string): void {
  try {
    rmdirSync(path);
    occupied.delete(path);
  } catch {
    occupied.add(path);
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function contents(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
