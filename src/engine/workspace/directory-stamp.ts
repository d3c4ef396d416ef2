// What tells that a directory still holds the names that were read from it: which one it is, and when it last changed.
//
// A name that comes, goes or changes its kind sets the directory's times, and the time of change (ctime) cannot be
// set by anybody. But the system's clock ticks: what changes twice within a tick shows the same time. So a mark
// counts only if its time was clearly past when it was taken, and before the names were read (as git has it for its
// index): whatever changes after that shows a later one.
import type { Stats } from "node:fs";

export type DirectoryStamp = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">;

/** Ticks take 1 to 10 ms, and the coarsest of the file systems that are trusted (system/file-system.ts) keep seconds. */
const clearlyMs = 2000;

/** The same, without what else the system told. */
export function markOf({ dev, ino, mtimeMs, ctimeMs }: DirectoryStamp): DirectoryStamp {
  return { dev, ino, mtimeMs, ctimeMs };
}

/** Whether a mark that was taken at `now` or later tells of every change that is made after it. */
export function isSettled({ ino, ctimeMs }: DirectoryStamp, now: number): boolean {
  return ctimeMs < now - clearlyMs && Number.isSafeInteger(ino);
}

export function isSame(a: DirectoryStamp, b: DirectoryStamp): boolean {
  return a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.dev === b.dev;
}
