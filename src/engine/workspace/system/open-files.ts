// The number of files that the process has open, and how many it may have, where the system reports it.
import { readdirSync, readFileSync } from "node:fs";

export function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

/** Undefined if the system does not tell, or sets no limit. */
export function mostOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
