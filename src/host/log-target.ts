// What the name of a log file leads to, and whether it can be written without waiting.
import { fstatSync, type Stats, statSync } from "node:fs";
import { system } from "../engine/workspace/errno.ts";

/**
 * A file, also one that is yet to be created; a device such as /dev/null or a terminal, which never wait; one of the
 * process's own outputs; or something that a write may wait for, such as a pipe.
 */
export type LogTarget = "file" | "device" | "output" | "error output" | "reader";

/** Faults where that cannot be known, as in a loop of links. */
export function logTarget(path: string): LogTarget {
  const stat = system(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stat === undefined) return "file";
  if (stat.isCharacterDevice()) return "device";
  if (isSame(stat, fstatSync(1))) return "output";
  if (stat.isFile() || stat.isDirectory()) return "file";
  return isSame(stat, fstatSync(2)) ? "error output" : "reader";
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
