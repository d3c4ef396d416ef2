// A directory that the user granted, held open from the start: the grant is for that directory, not for whatever its
// name leads to later.
import { constants } from "node:fs";
import { Fault } from "../fault.ts";
import { foldName } from "../text/fold-name.ts";
import { type DiskTop, topOf } from "./disk/disk-top.ts";
import { EngineCaches } from "./engine-caches.ts";
import { system } from "./errno.ts";
import { display, Handle } from "./handle.ts";
import { Rules } from "./rules.ts";
import { accessSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";
import { lstatIfThere } from "./system/identity.ts";
import { mountOf } from "./system/mounts.ts";
import { caseless, ownForm } from "./windows-path.ts";
import { isWithin } from "./within.ts";

export { isWithin };

/** The kernel appends this to the path of a deleted object. A file may really be named so. */
const deleted = " (deleted)";

/** Whether a directory may be changed, or only read. */
export type Access = "read-write" | "read-only";

export class Root implements Disposable {
  /** The canonical path, for people. */
  readonly path: string;
  /** The same in the form of `whereabouts`. @internal */
  readonly bytes: string;
  /** The path as the user wrote it, absolute: callers may use this spelling too. */
  readonly spelling: string;
  readonly access: Access;
  #handle: Handle | undefined;
  /** @internal */
  readonly device: number;
  /** @internal */
  readonly inode: number;
  #mount: number | undefined;
  #diskTop: { readonly is: DiskTop | undefined } | undefined;
  /** The rules about what is in it. @internal */
  readonly rules: Rules;

  /** What its engine remembers about the files in it. @internal */
  readonly caches: EngineCaches;

  /** `held` is the directory, if it is already open; the root takes it over. @internal */
  constructor(
    spelling: string,
    access: Access,
    held?: Handle,
    rules = new Rules(),
    caches = new EngineCaches(),
  ) {
    this.rules = rules;
    this.caches = caches;
    this.spelling = ownForm(spelling);
    this.access = access;
    this.#handle = held ?? system(spelling, () => Handle.open(spelling));
    const stat = this.handle.stat();
    try {
      if (!stat.isDirectory()) throw new Fault("not_a_directory", { path: spelling });
      // Holding a directory needs no permission, serving it does: better to fail now than at every call.
      system(spelling, () => accessSync(this.handle.address, constants.R_OK | constants.X_OK));
    } catch (error) {
      this.handle.close();
      throw error;
    }
    this.device = stat.dev;
    this.inode = stat.ino;
    this.bytes = this.handle.whereabouts();
    this.path = display(this.bytes);
  }

  /** The same directory under these rules, held a second time. The caller disposes of it. @internal */
  withRules(rules: Rules): Root {
    return new Root(this.spelling, this.access, Handle.open(this.handle.address), rules, this.caches);
  }

  /** The directory itself. @internal */
  get handle(): Handle {
    if (this.#handle === undefined)
      throw new Error(`${this.spelling} was used after its engine had been disposed of: open another engine`);
    return this.#handle;
  }

  /** Whether its engine was disposed of. @internal */
  get isClosed(): boolean {
    return this.#handle === undefined;
  }

  /**
   * Whether the whereabouts of something (bytes) are in this root, asking where the root is *now*.
   *
   * @internal
   */
  holds(whereabouts: string): boolean {
    const own = this.handle.whereabouts();
    // A path-only handle may now lead to another directory, which was not granted.
    if (!byDescriptor && !this.is(this.handle.stat())) return false;
    if (!isWithin(whereabouts, own) && !this.#isSpelledOtherwise(whereabouts, own)) return false;
    return !(own.endsWith(deleted) && this.#isDeleted(own));
  }

  /** Whether a path leads through this directory by another spelling, on a file system that ignores case or form. */
  #isSpelledOtherwise(whereabouts: string, own: string): boolean {
    if (!mayLieIn(display(whereabouts), display(own))) return false;
    const start = whereabouts.split("/").slice(0, own.split("/").length).join("/");
    const named = lstatIfThere(Buffer.from(start, "latin1"));
    return named !== undefined && this.is(named);
  }

  /**
   * The mount that it is in, on Linux. The handle keeps it alive, so that its number is not given to another.
   *
   * @internal
   */
  get mount(): number | undefined {
    this.#mount ??= mountOf(this.handle);
    return this.#mount;
  }

  /**
   * The top of the file system that a directory in it is on.
   *
   * @internal
   */
  diskTopOf(directory: Handle, device: number): DiskTop | undefined {
    if (device !== this.device) return topOf(directory.whereabouts(), device);
    this.#diskTop ??= { is: topOf(this.bytes, device) };
    return this.#diskTop.is;
  }

  /** Whether `own` is the path of a deleted directory, and not of one that is really named so. */
  #isDeleted(own: string): boolean {
    const named = lstatIfThere(Buffer.from(own, "latin1"));
    return named === undefined || !this.is(named);
  }

  /** @internal */
  is(stat: { dev: number; ino: number }): boolean {
    return stat.dev === this.device && stat.ino === this.inode;
  }

  [Symbol.dispose](): void {
    this.#handle?.close();
    this.#handle = undefined;
  }
}

/**
 * Whether `path` may be `directory` or be below it by another spelling, on a file system that ignores case or Unicode
 * form. Used to protect a directory: protecting too much is harmless.
 */
export function mayLieIn(path: string, directory: string): boolean {
  return isWithin(path, directory) || isWithin(foldName(path), foldName(directory));
}

/** The path of `name` in `directory`, which may be the top of a file system (`/`, `C:/`). */
export function under(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** The root that decides about `whereabouts`: the most specific one that holds it. */
export function rootHolding(roots: readonly Root[], whereabouts: string): Root | undefined {
  let best: Root | undefined;
  for (const root of roots) {
    if (root.holds(whereabouts) && (best === undefined || root.path.length > best.path.length)) best = root;
  }
  return best;
}

/** The root that a path names by its spelling or its canonical path, and the rest of the path. */
export function rootNamed(
  roots: readonly Root[],
  absolute: string,
): { root: Root; rest: string } | undefined {
  let best: { root: Root; rest: string; length: number } | undefined;
  for (const root of roots) {
    for (const name of [root.path, root.spelling]) {
      if (isWithin(caseless(absolute), caseless(name)) && (best === undefined || name.length > best.length)) {
        best = { root, rest: absolute.slice(name.length), length: name.length };
      }
    }
  }
  return best;
}
