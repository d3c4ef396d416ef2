// The processes in /proc (Linux), for finding what a command left behind. Empty elsewhere.
import { readdirSync, readFileSync } from "node:fs";
import { ifAllowed, unlessFailing } from "../errno.ts";
import { byDescriptor } from "./descriptors.ts";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time in clock ticks since boot: with the pid, this identifies a process. */
  readonly start: number;
}

/**
 * The live processes, without zombies. Throws, as all questions here, where that is not known. With `young`, only those
 * with a higher pid: for the descendants of a process so young that pids cannot have wrapped around since. Reading one
 * costs 45 µs, so this makes the check after every command cheap.
 */
export function listProcesses(young = 0): ProcessEntry[] {
  if (!byDescriptor) return [];
  const beyond = lastNumber() >= young ? young : 0;
  return readdirSync("/proc")
    .filter(name => /^\d+$/.test(name) && Number(name) >= beyond)
    .map(name => entryOf(Number(name)))
    .filter(entry => entry !== undefined);
}

/** The number that was given last. It is lower than earlier ones after they have begun again. */
function lastNumber(): number {
  const load = unlessFailing(() => contents("/proc/loadavg"));
  return Number(load?.trim().split(" ").at(-1) ?? 0);
}

const environments = new WeakMap<ProcessEntry, string>();

/** Whether a process was started with `mark` (`NAME=value`) in its environment. False if that may not be read. */
export function carriesMark(entry: ProcessEntry, mark: string): boolean {
  const environment = environments.get(entry) ?? `\0${contents(`/proc/${entry.pid}/environ`) ?? ""}`;
  environments.set(entry, environment);
  return environment.includes(`\0${mark}\0`);
}

/** A process that lives, by its number. */
export function findProcess(pid: number): ProcessEntry | undefined {
  return byDescriptor ? entryOf(pid) : undefined;
}

/**
 * Whether a thread of a process waits for the other end of a named pipe that it opens. Such a wait may never end.
 * False if the kernel does not tell.
 */
export function isOpeningPipe(pid: number): boolean {
  if (!byDescriptor) return false;
  const threads = `/proc/${pid}/task`;
  try {
    return readdirSync(threads).some(thread =>
      /^(?:wait_for_partner|fifo_open)\b/.test(contents(`${threads}/${thread}/wchan`) ?? ""),
    );
  } catch {
    return false; // it has ended
  }
}

/**
 * When a process started, in clock ticks since boot. Undefined if it is gone; empty if its entry cannot be read, for
 * example because this process has run out of descriptors.
 */
export function startIn(pid: number): string | undefined {
  try {
    return entryIn(pid, readFileSync(`/proc/${pid}/stat`, "latin1"))?.start.toString();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return ["ENOENT", "ESRCH"].includes(code) ? undefined : "";
  }
}

function entryOf(pid: number): ProcessEntry | undefined {
  const stat = contents(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : entryIn(pid, stat);
}

function entryIn(pid: number, stat: string): ProcessEntry | undefined {
  // The name is in parentheses, and may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "X", parent, group, session] = fields;
  // The first thread of a process may end before the others: the process then lives, though it looks like a zombie.
  const threads = Number(fields[17]);
  if (state === "X" || (state === "Z" && threads <= 1)) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: Number(fields[19]),
  };
}

/** Undefined if the process is gone or another user's. */
function contents(path: string): string | undefined {
  return ifAllowed(() => readFileSync(path, "latin1"));
}
