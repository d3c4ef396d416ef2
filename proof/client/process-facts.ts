// What the system reports about a server: how much memory it holds, and how many files it has open. Only on Linux.
import { readdirSync, readFileSync } from "node:fs";

/** Resident memory in MB; undefined if the system does not tell, or the process is gone. */
export function residentMb(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

export function openFiles(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}
