// Tells whether a directory still holds the names that were read from it: its identity and its times.
//
// Adding, removing or replacing an entry sets the directory's times, and no program can set the change time (ctime).
// But the system's clock ticks: two changes within a tick show the same time. So a stamp counts only if its time was
// clearly past when it was taken, and it is taken before the names are read (as git does for its index): any later
// change shows a later time.
import type { Stats } from "node:fs";

export type DirectoryStamp = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">;

/** Ticks take 1 to 10 ms, and the coarsest of the file systems that are trusted (system/file-system.ts) keep seconds. */
const clearlyMs = 2000;

/** The stamp alone, from a full `stat`. */
export function markOf({ dev, ino, mtimeMs, ctimeMs }: DirectoryStamp): DirectoryStamp {
  return { dev, ino, mtimeMs, ctimeMs };
}

/** Whether a stamp that was taken at `now` or later detects every later change. */
export function isSettled({ ino, ctimeMs }: DirectoryStamp, now: number): boolean {
  return ctimeMs < now - clearlyMs && Number.isSafeInteger(ino);
}

export function isSame(a: DirectoryStamp, b: DirectoryStamp): boolean {
  return a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.dev === b.dev;
}
