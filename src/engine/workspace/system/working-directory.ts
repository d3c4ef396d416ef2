// Holding by the working directory, on POSIX systems without /proc (macOS, the BSDs, Linux with /proc hidden). The
// working directory of a process is an object, not a path: once the process is in a directory, a single name in it
// means that directory's entry, whatever is renamed above it. So every call enters the directory that it is about,
// verifies its device and inode, and then uses a single name in it.
//
// A directory stays open while it is held, so that its inode is not given to another. Two directories cannot both be
// the working directory: a call about two (rename, link) is made from one of them and reaches the other by `..` alone,
// which no link can divert. Where neither is above the other, the call fails with EXDEV.
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
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import {
  byWorkingDirectory,
  change,
  type EnteredDirectory,
  enter,
  enterable,
  enteredBelow,
  failure,
  fromHome,
  opened,
  placeHere,
  sameAs,
  whereNow,
} from "./entered-directory.ts";
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
  if (!byWorkingDirectory()) return address;
  const parsed = parse(address);
  if (parsed === undefined) return fromHome(address);
  const { held, rest } = parsed;
  enter(held.place);
  if (held.name === undefined) return rest.length === 0 ? "." : relative(rest);
  if (rest.length > 0) throw failure(held.whyClosed, String(address));
  return relative(held.name);
}

function relative(rest: Address): Address {
  return typeof rest === "string" ? `./${rest}` : Buffer.concat([Buffer.from("./"), rest]);
}

/** The same for a call that is about two addresses. EXDEV where there is no safe way from one to the other. */
export function bothLocated(from: Address, to: Address): [Address, Address] {
  if (!byWorkingDirectory()) return [from, to];
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

/** Both as paths that mean the same in another thread. Undefined if another program could divert one of them. */
export function safePaths(from: Address, to: Address): [Address, Address] | undefined {
  if (!byWorkingDirectory()) return [from, to];
  const [a, b] = [parse(from), parse(to)];
  if (![a, b].every(one => one === undefined || one.held.place.own)) return undefined;
  return [a === undefined ? fromHome(from) : absolute(a), b === undefined ? fromHome(to) : absolute(b)];
}

/** How many directories `above` lies above `below`; undefined if it does not. */
function steps(above: EnteredDirectory, below: EnteredDirectory): number | undefined {
  if (above.is({ dev: below.device, ino: below.inode })) return 0;
  for (const place of [above, below]) refresh(place);
  const top = above.path === "/" ? "/" : `${above.path}/`;
  if (!below.path.startsWith(top)) return undefined;
  return below.path.slice(top.length).split("/").length;
}

function refresh(place: EnteredDirectory): string {
  enter(place);
  const where = whereNow();
  const text = where.toString("utf8");
  if (Buffer.from(text).equals(where)) place.path = text;
  return where.toString("latin1");
}

/** What is called `rest` in a directory this many steps above the one that is entered. */
function climbing(inner: Parsed, outer: Parsed, up: number): Address {
  enter(inner.held.place);
  const way = "../".repeat(up);
  if (!outer.held.place.is(statSync(`./${way}`))) throw failure("ENOENT", outer.held.place.path);
  if (typeof outer.rest === "string") return `./${way}${outer.rest}`;
  return Buffer.concat([Buffer.from(`./${way}`), outer.rest]);
}

/** `openSync` for addresses. The object of a handle is opened itself, never through a link. */
export function openLocated(address: Address, flags: number | string = O_RDONLY, mode?: number): number {
  const parsed = byWorkingDirectory() ? parse(address) : undefined;
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
  readonly place: EnteredDirectory | undefined;
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

export class HeldByWorkingDirectory implements Held {
  readonly fd = -1;
  readonly address: string;
  readonly place: EnteredDirectory;
  /** The object relative to its place; undefined for the place itself. */
  readonly name: Address | undefined;
  readonly #known: Stats | undefined;
  readonly #id: number;
  /** A regular file, open for reading. */
  #pin: number;

  private constructor(place: EnteredDirectory, name?: Address, known?: Stats, pin = -1) {
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
        // What is in a directory of polyfs's own is its own too.
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
