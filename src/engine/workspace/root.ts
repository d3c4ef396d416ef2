// A directory that the user granted: held open from the start, so that what is granted is that directory and
// not whatever later stands under its name.
import { accessSync, constants } from "node:fs";
import { Fault } from "../fault.ts";
import { system } from "./errno.ts";
import { display, Handle } from "./handle.ts";

export type Access = "read-write" | "read-only";

export class Root implements Disposable {
  /** The canonical path, for people. */
  readonly path: string;
  /** The path as the user wrote it, absolute: callers may use this spelling too. */
  readonly spelling: string;
  readonly access: Access;
  readonly handle: Handle;
  readonly device: number;
  readonly inode: number;

  /** `held` is the directory, where it was opened already; it is the root's from then on. */
  constructor(spelling: string, access: Access, held?: Handle) {
    this.spelling = spelling;
    this.access = access;
    this.handle = held ?? system(spelling, () => Handle.open(spelling));
    const stat = this.handle.stat();
    try {
      if (!stat.isDirectory()) throw new Fault("not_a_directory", { path: spelling });
      // A handle needs no permission; serving a directory does: better told now than at every call.
      system(spelling, () => accessSync(this.handle.address, constants.R_OK | constants.X_OK));
    } catch (error) {
      this.handle.close();
      throw error;
    }
    this.device = stat.dev;
    this.inode = stat.ino;
    this.path = display(this.handle.whereabouts());
  }

  /** Whether the whereabouts of something (bytes) lie in this root, asking where the root is *now*. */
  holds(whereabouts: string): boolean {
    return isWithin(whereabouts, this.handle.whereabouts());
  }

  is(stat: { dev: number; ino: number }): boolean {
    return stat.dev === this.device && stat.ino === this.inode;
  }

  [Symbol.dispose](): void {
    this.handle.close();
  }
}

/** Whether `path` is `directory` or lies below it. Both are absolute and without `.` or `..`. */
export function isWithin(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/** The root that decides about `whereabouts`: of those that hold it, the most specific. */
export function rootHolding(roots: readonly Root[], whereabouts: string): Root | undefined {
  let best: Root | undefined;
  for (const root of roots) {
    if (root.holds(whereabouts) && (best === undefined || root.path.length > best.path.length)) best = root;
  }
  return best;
}

/** The root that a path names by its spelling or its canonical path, and the rest of the path below it. */
export function rootNamed(
  roots: readonly Root[],
  absolute: string,
): { root: Root; rest: string } | undefined {
  let best: { root: Root; rest: string; length: number } | undefined;
  for (const root of roots) {
    for (const name of [root.path, root.spelling]) {
      if (isWithin(absolute, name) && (best === undefined || name.length > best.length)) {
        best = { root, rest: absolute.slice(name.length), length: name.length };
      }
    }
  }
  return best;
}
