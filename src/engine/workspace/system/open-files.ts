// The number of files that the process has open, where the system reports it.
import { readdirSync } from "node:fs";

export function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}
