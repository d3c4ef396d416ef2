// Holding by the working directory, on POSIX systems without /proc (macOS, the BSDs, Linux with /proc hidden). The
// working directory of a process is an object, not a path: once the process is in a directory, a single name in it
// means that directory's entry, whatever is renamed above it. So every call enters the directory that it is about,
// verifies its device and inode, and then uses a single name in it.
//
// A directory stays open while it is held, so that its inode is not given to another. Two directories cannot both be
// the working directory: a call about two (rename, link) is made from one of them and reaches the other by `..` alone,
// which no link can divert. Where neither lies above the other, the call fails with EXDEV.
//
// It changes the working directory of the whole process, so only a process of our own may use it (`take`). The calls
// are synchronous; when the code that makes them has run, the process is back where it was started.
import { isUtf8 } from "node:buffer";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
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
import type { Address, Held, OpenOptions } from "./held.ts";

const {
  O_RDONLY,
  O_ACCMODE = 3,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_NONBLOCK,
} = constants as typeof constants & {
  O_ACCMODE?: number;
};

let taken = false;

/** Whether objects are held this way. */
export function byWorkingDirectory(): boolean {
  return taken;
}

/**
 * From now on the working directory is ours, where there is no better way. To be called before anything is opened, by a
 * program and no library. Other code in the process does not notice: relative paths mean the same.
 */
export function takeWorkingDirectory(): void {
  if (taken || byDescriptor || process.platform === "win32" || !isMainThread) return;
  taken = true;
  home = process.cwd();
  process.cwd = () => home;
}

/** A directory, shared by the handles that are about it or about something in it. */
class Place {
  path: string;
  readonly device: number;
  readonly inode: number;
  readonly own: boolean;
  /** Keeps the inode from being given to another. -1 where the directory may not be read. */
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
let current: Place | undefined;
let home = "/";
let away = false;

function change(path: string): void {
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
function enter(place: Place): void {
  if (current === place) return;
  if (!isAt(place, place.path)) {
    const found = newPathOf(place);
    if (found === undefined || !isAt(place, found)) throw failure("ENOENT", place.path);
    place.path = enterable(whereNow());
  }
  current = place;
}

/** Goes to a path; whether the place is there. */
function isAt(place: Place, path: string): boolean {
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
function newPathOf(place: Place): string | undefined {
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

function isThere(place: Place, path: string): boolean {
  try {
    return place.is(lstatSync(path));
  } catch {
    return false;
  }
}

/** Where the process is, as the system reports it. */
function whereNow(): Buffer {
  return realpathSync.native(".", "buffer");
}

const prefix = `/.polyfs-held-${Math.random().toString(36).slice(2)}/`;
const prefixBytes = Buffer.from(prefix);
const handles = new Map<number, HeldByWorkingDirectory>();
let last = 0;

interface Parsed {
  readonly held: HeldByWorkingDirectory;
  /** What follows the handle's own address, without a leading slash. */
  readonly rest: Address;
}

/** What an address means; undefined for a plain path. */
function parse(address: Address): Parsed | undefined {
  if (typeof address === "string") {
    if (!address.startsWith(prefix)) return undefined;
    const end = address.indexOf("/", prefix.length);
    const held = handles.get(
      Number(end < 0 ? address.slice(prefix.length) : address.slice(prefix.length, end)),
    );
    if (held === undefined) throw failure("EBADF", address);
    return { held, rest: end < 0 ? "" : address.slice(end + 1) };
  }
  if (!address.subarray(0, prefixBytes.length).equals(prefixBytes)) return undefined;
  const end = address.indexOf("/", prefix.length);
  const { held } = parse(address.toString("latin1", 0, end < 0 ? address.length : end)) as Parsed;
  return { held, rest: end < 0 ? "" : address.subarray(end + 1) };
}

/** Enters the directory that an address is about; returns the name to use there, until the next call. */
export function located<A extends Address>(address: A): A | Address {
  if (!taken) return address;
  const parsed = parse(address);
  if (parsed === undefined) return fromHome(address);
  const { held, rest } = parsed;
  enter(held.place);
  if (held.name === undefined) return rest.length === 0 ? "." : relative(rest);
  if (rest.length > 0) throw failure(held.whyClosed, String(address));
  return relative(held.name);
}

/** A relative path of the program is relative to where it was started. */
function fromHome(address: Address): Address {
  if (!away || typeof address !== "string" || address.startsWith("/")) return address;
  return `${home}/${address}`;
}

function relative(rest: Address): Address {
  return typeof rest === "string" ? `./${rest}` : Buffer.concat([Buffer.from("./"), rest]);
}

/** The same for a call that is about two addresses. EXDEV where there is no safe way from one to the other. */
export function bothLocated(from: Address, to: Address): [Address, Address] {
  if (!taken) return [from, to];
  const [a, b] = [parse(from), parse(to)];
  if (a === undefined || b === undefined || a.held.place === b.held.place) {
    // Entering one place does not change what an absolute path means.
    const first = located(from);
    return b === undefined && a !== undefined ? [first, to] : [first, located(to)];
  }
  if (b.held.place.own) return [located(from), absolute(b)];
  if (a.held.place.own) return [absolute(a), located(to)];
  const [up, down] = [steps(a.held.place, b.held.place), steps(b.held.place, a.held.place)];
  if (up !== undefined) return [climbing(b, a, up), located(to)];
  if (down !== undefined) return [located(from), climbing(a, b, down)];
  throw failure("EXDEV", String(from));
}

/** Whether something can be renamed from one held directory into another, or with `deeper` into one below that. */
export function isWithinReach(from: Held, to: Held, deeper: boolean): boolean {
  if (!(from instanceof HeldByWorkingDirectory && to instanceof HeldByWorkingDirectory)) return true;
  const [a, b] = [from.place, to.place];
  if (a.own || b.own || steps(a, b) !== undefined) return true;
  return !deeper && steps(b, a) !== undefined;
}

function absolute({ held, rest }: Parsed): Address {
  const base = Buffer.from(`${held.place.path}/`);
  const last = held.name ?? rest;
  return Buffer.concat([base, typeof last === "string" ? Buffer.from(last) : last]);
}

/** Both as paths that mean the same in another thread. Undefined where another program could divert one of them. */
export function safePaths(from: Address, to: Address): [Address, Address] | undefined {
  if (!taken) return [from, to];
  const [a, b] = [parse(from), parse(to)];
  if (![a, b].every(one => one === undefined || one.held.place.own)) return undefined;
  return [a === undefined ? fromHome(from) : absolute(a), b === undefined ? fromHome(to) : absolute(b)];
}

/** How many directories `above` lies above `below`; undefined where it does not. */
function steps(above: Place, below: Place): number | undefined {
  if (above.is({ dev: below.device, ino: below.inode })) return 0;
  for (const place of [above, below]) refresh(place);
  const top = above.path === "/" ? "/" : `${above.path}/`;
  if (!below.path.startsWith(top)) return undefined;
  return below.path.slice(top.length).split("/").length;
}

function refresh(place: Place): string {
  enter(place);
  const where = whereNow();
  const text = where.toString("utf8");
  if (Buffer.from(text).equals(where)) place.path = text;
  return where.toString("latin1");
}

/** What is called `rest` in a directory so many steps above the one that is entered. */
function climbing(inner: Parsed, outer: Parsed, up: number): Address {
  enter(inner.held.place);
  const way = "../".repeat(up);
  if (!outer.held.place.is(statSync(`./${way}`))) throw failure("ENOENT", outer.held.place.path);
  if (typeof outer.rest === "string") return `./${way}${outer.rest}`;
  return Buffer.concat([Buffer.from(`./${way}`), outer.rest]);
}

/** `openSync` for addresses. What a handle is about is opened as that object, and never through a link. */
export function openLocated(address: Address, flags: number | string = O_RDONLY, mode?: number): number {
  const parsed = taken ? parse(address) : undefined;
  if (
    parsed === undefined ||
    parsed.held.name === undefined ||
    parsed.rest.length > 0 ||
    typeof flags === "string"
  )
    return openSync(located(address), flags, mode);
  const { held } = parsed;
  const isReading = (flags & O_ACCMODE) === O_RDONLY && (flags & O_DIRECTORY) === 0;
  const pinned = isReading ? held.handOver() : undefined;
  if (pinned !== undefined) return pinned;
  const fd = openSync(located(address), flags | O_NOFOLLOW | O_NONBLOCK, mode);
  if (held.is(fstatSync(fd))) return fd;
  closeSync(fd);
  throw failure("ENOENT", String(address));
}

/** What something was opened as, in the directory that the process is in now. */
interface Arrival {
  /** "." for the directory itself. */
  readonly name: Address;
  /** The directory, where it is held already. */
  readonly place: Place | undefined;
}

function arrive(address: Address): Arrival {
  const parsed = parse(address);
  if (parsed === undefined) {
    const path = enterable(fromHome(address)).replace(/(?<=.)\/+$/, "");
    const cut = path.lastIndexOf("/");
    const name = path.slice(cut + 1);
    const isPlain = name !== "" && name !== "." && name !== "..";
    change(isPlain ? path.slice(0, cut) || "/" : path);
    return { name: isPlain ? name : ".", place: undefined };
  }
  const { held, rest } = parsed;
  enter(held.place);
  if (held.name !== undefined && rest.length > 0) throw failure(held.whyClosed, String(address));
  if (held.name !== undefined) return { name: held.name, place: held.place };
  const [above, name] = lastOf(rest);
  if (["", "."].includes(String(name)) && above.length === 0) return { name: ".", place: held.place };
  const isPlain = !["", ".", ".."].includes(String(name));
  if (isPlain && above.length === 0) return { name, place: held.place };
  change(enterable(relative(isPlain ? above : rest)));
  return { name: isPlain ? name : ".", place: undefined };
}

/** The directories of a relative path, and its last name. */
function lastOf(path: Address): [above: Address, name: Address] {
  const cut = typeof path === "string" ? path.lastIndexOf("/") : path.lastIndexOf(47);
  return typeof path === "string"
    ? [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)]
    : [path.subarray(0, Math.max(0, cut)), path.subarray(cut + 1)];
}

/** Node changes only to directories whose path is UTF-8. */
export function enterable(path: Address): string {
  if (typeof path === "string") return path;
  if (!isUtf8(path)) throw failure("EILSEQ", path.toString("latin1"));
  return path.toString("utf8");
}

export class HeldByWorkingDirectory implements Held {
  readonly fd = -1;
  readonly address: string;
  readonly place: Place;
  /** What it is about in its place; undefined for the place itself. */
  readonly name: Address | undefined;
  readonly #known: Stats | undefined;
  readonly #id: number;
  /** A regular file, open for reading. */
  #pin: number;

  private constructor(place: Place, name?: Address, known?: Stats, pin = -1) {
    this.place = place.use();
    [this.name, this.#known, this.#pin] = [name, known, pin];
    this.#id = ++last;
    this.address = `${prefix}${this.#id}`;
    handles.set(this.#id, this);
  }

  static open(address: Address, options: OpenOptions): HeldByWorkingDirectory {
    const { name, place } = arrive(address);
    if (name === ".") return new HeldByWorkingDirectory(place ?? placeHere(undefined, "", options.own));
    const at = relative(name);
    for (let round = 0; round < 5; round++) {
      const stat = lstatSync(at);
      if (options.follow && stat.isSymbolicLink())
        return HeldByWorkingDirectory.open(realpathSync.native(at), { ...options, follow: false });
      if (stat.isDirectory()) {
        // What lies in a directory of polyfs's own is its own too.
        const inner = enteredBelow(at, stat, place, name, options.own || (place?.own ?? false));
        if (inner !== undefined) return new HeldByWorkingDirectory(inner);
        if (options.directory) enterable(at); // else nothing in it could be opened
      } else if (options.directory) throw failure("ENOTDIR", String(name));
      const pin = stat.isFile() ? opened(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) : -1;
      const isSame = pin < 0 || sameAs(fstatSync(pin), stat);
      if (isSame)
        return new HeldByWorkingDirectory(place ?? placeHere(undefined, "", false), name, stat, pin);
      closeSync(pin); // replaced in this moment
    }
    throw failure("ENOENT", String(name));
  }

  get isDirectory(): boolean {
    return this.name === undefined || (this.#known?.isDirectory() ?? false);
  }

  /** Why nothing can be named below it. Node enters only directories whose names are UTF-8. */
  get whyClosed(): "ENOTDIR" | "EILSEQ" | "EACCES" {
    if (!this.isDirectory) return "ENOTDIR";
    return typeof this.name === "object" && !isUtf8(this.name) ? "EILSEQ" : "EACCES";
  }

  is(stat: Stats): boolean {
    return this.#known !== undefined && sameAs(stat, this.#known);
  }

  /** The open file. It can be taken once. */
  handOver(): number | undefined {
    if (this.#pin < 0) return undefined;
    const fd = this.#pin;
    this.#pin = -1;
    return fd;
  }

  whereabouts(): string {
    let where: string;
    try {
      where = refresh(this.place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return `${Buffer.from(this.place.path).toString("latin1")} (deleted)`; // as Linux reports it
    }
    if (this.name === undefined) return where;
    // The system knows how the name is spelled, where more than one spelling leads to it.
    if (!this.#known?.isSymbolicLink())
      return realpathSync.native(relative(this.name), "buffer").toString("latin1");
    const name = typeof this.name === "string" ? Buffer.from(this.name) : this.name;
    return `${where === "/" ? "" : where}/${name.toString("latin1")}`;
  }

  stat(): Stats {
    if (this.name === undefined) {
      if (this.place.pin >= 0) return fstatSync(this.place.pin);
      enter(this.place);
      return statSync(".");
    }
    if (this.#pin >= 0) return fstatSync(this.#pin);
    const now = lstatSync(located(this.address), { throwIfNoEntry: false });
    if (now !== undefined && this.is(now)) return now;
    return this.#known as Stats; // as it was
  }

  statBig(): BigIntStats {
    if (this.name === undefined && this.place.pin >= 0) return fstatSync(this.place.pin, { bigint: true });
    if (this.#pin >= 0) return fstatSync(this.#pin, { bigint: true });
    return lstatSync(located(this.address), { bigint: true });
  }

  currentPath(): string {
    enter(this.place);
    return ".";
  }

  close(): void {
    if (!handles.delete(this.#id)) return;
    if (this.#pin >= 0) closeSync(this.#pin);
    this.place.release();
  }
}

/** The directory that the process is in, as a place. `above` and `name`: how it was reached. */
function placeHere(above: Place | undefined, name: string, own: boolean): Place {
  let path: string;
  try {
    path = enterable(whereNow());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG" || above === undefined) throw error;
    path = `${above.path}/${name}`; // longer than a path may be
  }
  current = new Place(path, own);
  return current;
}

/** A directory in the one that the process is in. Undefined where it may not be entered. */
function enteredBelow(
  at: Address,
  stat: Stats,
  above: Place | undefined,
  name: Address,
  own: boolean,
): Place | undefined {
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

function sameAs(a: Pick<Stats, "dev" | "ino">, b: Pick<Stats, "dev" | "ino">): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/** A descriptor, or -1 where it may not be had. */
function opened(at: Address, flags: number): number {
  try {
    return openSync(at, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EMFILE" || code === "ENFILE") throw error;
    return -1;
  }
}

function failure(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: held directory, '${path}'`), { code, syscall: "open" });
}
