// The processor time of a process: what a call costs, whatever else the machine does meanwhile.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Of all threads of a process, in milliseconds. Linux only. */
export function processorTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map(thread => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  return times.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
}

const quietMs = 120; // longer than polyfs waits before it records a change
const restMs = 1; // what timers take

/** Waits until a process has nothing left to do. Linux only. */
export async function settled(pid: number): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; ; ) {
    const now = processorTime(pid);
    if (now - before < restMs) return;
    before = now;
    await sleep(quietMs);
  }
}

const tickMs = 10; // of the kernel's accounts

/** Of the processes that it has started and that have ended, in milliseconds. Linux only. */
export function processorTimeOfChildren(pid: number | "self"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

/** Resident, in megabytes. */
export function residentOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

export function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
