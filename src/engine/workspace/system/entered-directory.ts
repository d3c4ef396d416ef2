// The working directory of the process, which working-directory.ts holds objects by: entering a directory, verifying that
// it is the one that was meant, finding it again after a rename, and going home when the calling code has run.
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import { byDescriptor } from "./descriptors.ts";
import type { Address } from "./held.ts";

const { O_RDONLY, O_DIRECTORY } = constants;

let taken = false;

/** Whether objects are held this way. */
export function byWorkingDirectory(): boolean {
  return taken;
}

/**
 * From now on the working directory is ours, where there is no better way. To be called before anything is opened, by a
 * program, never by a library. Other code in the process does not notice: relative paths mean the same.
 */
export function takeWorkingDirectory(): void {
  if (taken || byDescriptor || process.platform === "win32" || !isMainThread) return;
  taken = true;
  home = process.cwd();
  process.cwd = () => home;
}

/** A directory, shared by the handles that are about it or about something in it. */
export class EnteredDirectory {
  path: string;
  readonly device: number;
  readonly inode: number;
  readonly own: boolean;
  /** Prevents reuse of the inode. -1 if the directory cannot be read. */
  readonly pin: number;
  #uses = 0;

  /** The directory that the process is in. */
  constructor(path: string, own: boolean) {
    const { dev, ino } = statSync(".");
    [this.path, this.device, this.inode, this.own] = [path, dev, ino, own];
    this.pin = opened(".", O_RDONLY | O_DIRECTORY);
  }

  is({ dev, ino }: Pick<Stats, "dev" | "ino">): boolean {
    return ino === this.inode && dev === this.device;
  }

  use(): this {
    this.#uses++;
    return this;
  }

  release(): void {
    if (--this.#uses > 0) return;
    if (current === this) current = undefined;
    if (this.pin >= 0) closeSync(this.pin);
  }
}

/** The place that the process is in, as far as that is known. */
let current: EnteredDirectory | undefined;
let home = "/";
let away = false;

export function change(path: string): void {
  if (!away) queueMicrotask(goHome);
  away = true;
  current = undefined;
  for (const part of parts(path)) process.chdir(part);
}

function goHome(): void {
  away = false;
  current = undefined;
  for (const path of [home, "/"]) {
    try {
      process.chdir(path);
      return;
    } catch {
      // it is gone, or may not be entered any more
    }
  }
}

const mostPathBytes = 1000; // PATH_MAX is 1024 on macOS

/** A path in parts that the system takes. */
function* parts(path: string): Generator<string> {
  let rest = path;
  while (Buffer.byteLength(rest) > mostPathBytes) {
    const cut = rest.lastIndexOf("/", mostPathBytes / 4);
    if (cut <= 1) break; // a name that is too long itself
    yield rest.slice(0, cut);
    rest = `./${rest.slice(cut + 1)}`;
  }
  yield rest;
}

/** Makes a place the working directory. ENOENT where it was deleted, or moved further than a rename. */
export function enter(place: EnteredDirectory): void {
  if (current === place) return;
  if (!isAt(place, place.path)) {
    const found = newPathOf(place);
    if (found === undefined || !isAt(place, found)) throw failure("ENOENT", place.path);
    place.path = enterable(whereNow());
  }
  current = place;
}

/** Goes to a path; whether the place is there. */
function isAt(place: EnteredDirectory, path: string): boolean {
  try {
    change(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
  return place.is(statSync("."));
}

const mostLookedAt = 2000;

/** Where a place is by now, if one directory on its path was renamed: relative to the one above, which is entered. */
function newPathOf(place: EnteredDirectory): string | undefined {
  let left = mostLookedAt;
  let below = "";
  for (let path = place.path; path !== "/" && left > 0; path = dirname(path)) {
    try {
      change(dirname(path));
      const names = readdirSync(".").slice(0, left);
      left -= names.length;
      const found = names.map(name => `./${name}${below}`).find(at => isThere(place, at));
      if (found !== undefined) return found;
    } catch {
      // this one is gone itself, or may not be entered
    }
    below = path.slice(path.lastIndexOf("/")) + below;
  }
  return undefined;
}

function isThere(place: EnteredDirectory, path: string): boolean {
  try {
    return place.is(lstatSync(path));
  } catch {
    return false;
  }
}

/** Where the process is, as the system reports it. */
export function whereNow(): Buffer {
  return realpathSync.native(".", "buffer");
}

/** A relative path of the program is relative to where it was started. */
export function fromHome(address: Address): Address {
  if (!away || typeof address !== "string" || address.startsWith("/")) return address;
  return `${home}/${address}`;
}

/** Node changes only to directories whose path is UTF-8. */
export function enterable(path: Address): string {
  if (typeof path === "string") return path;
  if (!isUtf8(path)) throw failure("EILSEQ", path.toString("latin1"));
  return path.toString("utf8");
}

/** The directory that the process is in, as a place. `above` and `name`: how it was reached. */
export function placeHere(above: EnteredDirectory | undefined, name: string, own: boolean): EnteredDirectory {
  let path: string;
  try {
    path = enterable(whereNow());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG" || above === undefined) throw error;
    path = `${above.path}/${name}`; // longer than a path may be
  }
  current = new EnteredDirectory(path, own);
  return current;
}

/** A directory in the one that the process is in. Undefined if it may not be entered. */
export function enteredBelow(
  at: Address,
  stat: Stats,
  above: EnteredDirectory | undefined,
  name: Address,
  own: boolean,
): EnteredDirectory | undefined {
  const back = above ?? current;
  try {
    change(enterable(at));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EILSEQ") throw error;
    current = back; // it has not moved
    return undefined;
  }
  // A link may have been put there meanwhile.
  if (!sameAs(statSync("."), stat)) throw failure("ENOENT", String(name));
  return placeHere(above, String(name), own);
}

export function sameAs(a: Pick<Stats, "dev" | "ino">, b: Pick<Stats, "dev" | "ino">): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/** A descriptor, or -1 if it cannot be opened. */
export function opened(at: Address, flags: number): number {
  try {
    return openSync(at, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EMFILE" || code === "ENFILE") throw error;
    return -1;
  }
}

export function failure(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: held directory, '${path}'`), { code, syscall: "open" });
}
