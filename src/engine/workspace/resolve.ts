// Resolves a WorkspacePath to an open handle, without a moment in which something can be swapped.
//
// The kernel never follows a link for us. A link may lead through `/proc/PID/root` into another mount namespace,
// where another user has mounted anything under a path that looks like ours, and the path that the kernel reports for
// what it opened there is the path in *that* namespace. So a path is opened name by name, no-follow, from the root's
// handle, which cannot leave the namespace; links are spliced here (`PathWalk`), and a link in procfs is refused.
//
// Opening name by name costs one call per directory. For deep paths it is cheaper to let the kernel resolve the whole
// path and then check two things: the result is exactly where the path says, and in a mount of our namespace. Where
// this fails, for whatever reason (a link on the way, a missing file), `PathWalk` decides. It also finds names that
// are stored in another Unicode form, and handles paths longer than the system's limit. Everything outside gets the
// same fault, so callers learn nothing about it.

import type { Stats } from "node:fs";
import { isAbsolute, parse, resolve } from "node:path";
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import type { Decision } from "../policy/rule.ts";
import { foldName, otherSpelling } from "../text/fold-name.ts";
import { concealsIn, isConcealed } from "./concealed.ts";
import { errnoOf, faultOf } from "./errno.ts";
import { bytesOf, display, Handle, isRaceFree } from "./handle.ts";
import { written } from "./name.ts";
import type { WorkspacePath } from "./path.ts";
import { type Root, rootHolding, rootNamed, under } from "./root.ts";
import { isExactDevice, noteExactDevice, storedName, storedSpelling } from "./stored-name.ts";
import { isProc } from "./synthetic.ts";
import { readlinkSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";
import type { Address } from "./system/held.ts";
import { lstatIfThere } from "./system/identity.ts";
import { isOwnMount } from "./system/mounts.ts";
import { ownForm } from "./windows-path.ts";

const maxLinks = 40;
const maxPathBytes = 4000; // below PATH_MAX with the handle's prefix
const fewNames = 2; // up to here, going name by name is cheaper than asking about the mount

/** Something that exists, held, with the root that decides about it. */
export interface ResolvedPath {
  readonly handle: Handle;
  readonly root: Root;
  /** The canonical path, for display. */
  readonly path: string;
  /** Its stat when it was opened, if requested. */
  readonly stat?: Stats | undefined;
  /** How much of it the rules show, where they were asked. */
  readonly contents?: Decision["contents"];
}

/** A name in a held directory; the last component is never followed. The handle is the directory's. */
export interface ResolvedEntry extends ResolvedPath {
  readonly name: Address;
}

/**
 * Opens what `path` leads to, following links. The caller closes the handle. A path that a rule denies is refused,
 * whether it exists or not.
 */
export function resolvePath(roots: readonly Root[], path: WorkspacePath): ResolvedPath {
  let resolved: ResolvedPath;
  try {
    resolved = reach(roots, path);
  } catch (error) {
    // The reason why a denied path cannot be reached would reveal what is there.
    if (error instanceof Fault) path.root.rules.admit(path.absolute, path.given);
    throw error;
  }
  return admitted(resolved, path);
}

/** Refuses, and closes, what a rule denies. */
function admitted(resolved: ResolvedPath, { given }: WorkspacePath): ResolvedPath {
  const { handle, root, path, stat } = resolved;
  try {
    return { handle, root, path, stat, contents: root.rules.admit(path, given).contents };
  } catch (error) {
    handle.close();
    throw error;
  }
}

function reach(roots: readonly Root[], path: WorkspacePath): ResolvedPath {
  try {
    if (!concealsIn(roots)) {
      const resolved = isRaceFree()
        ? resolveByKernel(roots, path)
        : claim(roots, Handle.open(addressOf(path)));
      if (resolved !== undefined && isDirect(resolved, path)) return resolved;
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EMFILE" || errno === "ENFILE") throw faultOf(error, path.given);
  }
  return new PathWalk(roots, path).land();
}

/** Whether it was reached as its path requires. If not, it is closed, and `PathWalk` says why. */
function isDirect({ handle, path: where }: ResolvedPath, path: WorkspacePath): boolean {
  const is = !path.direct || foldName(where) === foldName(path.absolute);
  if (!is) handle.close();
  return is;
}

/**
 * The same for a directory that something is changed in: by the names as they are stored, so that records of it agree
 * whatever spelling callers use.
 */
export function resolveStored(roots: readonly Root[], path: WorkspacePath): ResolvedPath {
  const resolved = resolvePath(roots, path);
  const { device } = path.root;
  const other = isExactDevice(device) ? undefined : otherSpelling(path.relative);
  if (other === undefined || other.length >= maxPathBytes) return resolved;
  const there = lstatIfThere(path.root.handle.below(other));
  const stat = resolved.handle.stat();
  if (there === undefined && stat.dev === device) noteExactDevice(device);
  if (there === undefined || there.ino !== stat.ino || there.dev !== stat.dev) return resolved;
  resolved.handle.close();
  return admitted(new PathWalk(roots, path, true).land(), path);
}

/** The deepest existing directory on the way to `path`, and the missing names below it. */
export interface NearestExisting {
  readonly resolved: ResolvedPath;
  readonly missing: readonly string[];
}

/**
 * Resolves as much of a directory path as exists, in one walk. Faults: those of `resolvePath`, and `parent_not_found`
 * for a dangling link on the way.
 */
export function resolveNearest(roots: readonly Root[], path: WorkspacePath): NearestExisting {
  try {
    return { resolved: resolveStored(roots, path), missing: [] };
  } catch (error) {
    if (!Fault.is(error, "not_found")) throw error;
  }
  const reached = new PathWalk(roots, path, true).nearest();
  try {
    reached.resolved.root.rules.admit(reached.resolved.path, path.given);
    return reached;
  } catch (error) {
    reached.resolved.handle.close();
    throw error;
  }
}

/**
 * What `path` leads to or, where that does not exist, the nearest ancestor that does. A dangling link counts as
 * missing. Asking each ancestor in turn would be quadratic in the names, of which a path may have 30,000: one walk
 * finds the place.
 */
export function resolveExisting(roots: readonly Root[], path: WorkspacePath): NearestExisting {
  for (let at = path; ; ) {
    try {
      return { resolved: resolvePath(roots, at), missing: path.segments.slice(at.segments.length) };
    } catch (error) {
      if (!Fault.is(error, "not_found") || at.isRoot) throw error;
    }
    const there = new PathWalk(roots, at).depth();
    at = at.upTo(Math.min(there, at.segments.length - 1)); // something may have come or gone meanwhile
  }
}

/** The directory that holds `path`'s last name, and the name as it is stored there (or to be stored). */
export function resolveEntry(roots: readonly Root[], path: WorkspacePath): ResolvedEntry {
  if (path.isRoot) throw new Fault("protected_root", { path: path.given });
  const directory = resolvePath(roots, path.parent);
  try {
    if (!directory.handle.stat().isDirectory()) throw new Fault("not_a_directory", { path: path.given });
    return { ...directory, name: storedName(directory.handle, path.name, path.exact) };
  } catch (error) {
    directory.handle.close();
    throw error;
  }
}

/** Resolves `path` if there is no link on the way. Undefined or an error: `PathWalk` decides. */
function resolveByKernel(roots: readonly Root[], path: WorkspacePath): ResolvedPath | undefined {
  const { root, segments, relative } = path;
  if (relative.length >= maxPathBytes) return undefined;
  const few = segments.length <= fewNames;
  const handle = few ? byName(root, segments) : Handle.open(addressOf(path), { follow: false });
  try {
    const stat = handle.stat();
    const where = handle.whereabouts();
    // What is exactly where its path says, below the root's handle, needs no more questions.
    const exact =
      where === (relative === "" ? root.bytes : `${root.bytes}${slash(root.bytes)}${bytesOf(relative)}`);
    if (exact && !stat.isSymbolicLink() && (few || !byDescriptor || isOwnMount(handle, root))) {
      const holder = roots.length === 1 ? root : rootHolding(roots, where);
      if (holder !== undefined) return { handle, root: holder, path: display(where), stat };
    }
  } catch (error) {
    handle.close();
    throw error;
  }
  handle.close();
  return undefined;
}

function byName(root: Root, names: readonly string[]): Handle {
  if (names.length === 0) return Handle.open(root.handle.address);
  let directory = root.handle;
  try {
    for (const name of names.slice(0, -1)) {
      const next = Handle.open(directory.below(name), { follow: false, directory: true });
      if (directory !== root.handle) directory.close();
      directory = next;
    }
    return Handle.open(directory.below(names.at(-1) ?? ""), { follow: false });
  } finally {
    if (directory !== root.handle) directory.close();
  }
}

function addressOf({ root, relative }: WorkspacePath): Address {
  return relative === "" ? root.handle.address : root.handle.below(relative);
}

function slash(directory: string): string {
  return directory.endsWith("/") ? "" : "/";
}

interface NamesBelowRoot {
  readonly root: Root;
  readonly names: string[];
}

/**
 * Decides on the opened object, never on a path string. The system does not report paths beyond its limit; then the
 * way it was reached decides: by names from a root without following anything.
 */
function claim(roots: readonly Root[], handle: Handle, trail?: NamesBelowRoot): ResolvedPath | undefined {
  try {
    const whereabouts = handle.whereabouts();
    const root = rootHolding(roots, whereabouts);
    if (root !== undefined) return { handle, root, path: display(whereabouts) };
  } catch (error) {
    if (errnoOf(error) === "ENAMETOOLONG" && trail !== undefined) {
      return { handle, root: trail.root, path: under(trail.root.path, trail.names.join("/")) };
    }
    handle.close();
    throw error;
  }
  handle.close();
  return undefined;
}

/** Resolves a path as the kernel would, but for links in procfs. */
class PathWalk {
  readonly #roots: readonly Root[];
  readonly #given: string;
  readonly #exact: boolean;
  readonly #direct: boolean;
  /** Whether names are used as they are stored, where the file system takes other spellings, too. */
  readonly #stored: boolean;
  #current: Handle;
  /** The remaining names, next one last: the path's own names are below those that links added. */
  readonly #names: string[];
  #ownLeft: number;
  /** The names below `#current` if a step fails: undefined if the name comes from a link. */
  #missing: readonly string[] | undefined;
  /**
   * How `#current` was reached. Undefined once the walk has left the roots: then failures are not reported in detail.
   */
  #below: NamesBelowRoot | undefined;
  /** The name that is being opened. */
  #trying: string | undefined;
  #links = 0;

  constructor(
    roots: readonly Root[],
    { root, segments, given, exact, direct }: WorkspacePath,
    stored = false,
  ) {
    this.#stored = stored;
    this.#roots = roots;
    this.#given = given;
    this.#exact = exact;
    this.#direct = direct;
    this.#current = Handle.open(root.handle.address);
    this.#names = segments.toReversed();
    this.#ownLeft = segments.length;
    this.#below = { root, names: [] };
  }

  land(): ResolvedPath {
    try {
      while (this.#names.length > 0) this.#step();
    } catch (error) {
      throw this.#failed(error);
    }
    return this.#landed();
  }

  /** As far as there is something. */
  nearest(): NearestExisting {
    try {
      while (this.#names.length > 0) this.#step();
      this.#missing = [];
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || this.#below === undefined) throw this.#failed(error);
      if (this.#missing === undefined)
        throw this.#failed(new Fault("parent_not_found", { path: this.#given }));
    }
    return { resolved: this.#landed(), missing: this.#missing };
  }

  /** How many of the path's own names lead to something. */
  depth(): number {
    const own = this.#ownLeft;
    try {
      while (this.#names.length > 0) this.#step();
      return own;
    } catch {
      return own - this.#ownLeft - 1;
    } finally {
      this.#current.close();
    }
  }

  #failed(error: unknown): unknown {
    this.#current.close();
    const errno = errnoOf(error);
    if (this.#below === undefined && errno !== "EMFILE" && errno !== "ENFILE") return this.#outside();
    this.#admit(this.#names.toReversed());
    return faultOf(error, this.#given);
  }

  /** Asks the rules about a place that links may have led to, with the names that are left up to the next `..`. */
  #admit(left: readonly string[]): void {
    if (this.#below === undefined) return;
    const { root, names } = this.#below;
    const up = left.indexOf("..");
    const place = [...names, ...(this.#trying === undefined ? [] : [this.#trying])];
    append(place, up < 0 ? left : left.slice(0, up));
    root.rules.admit(place.length === 0 ? root.path : under(root.path, place.join("/")), this.#given);
  }

  #landed(): ResolvedPath {
    const resolved = claim(this.#roots, this.#current, this.#below);
    if (resolved === undefined) throw this.#outside();
    return resolved;
  }

  #step(): void {
    const name = this.#names.pop() ?? "";
    const isOwn = this.#names.length < this.#ownLeft;
    if (isOwn) this.#ownLeft = this.#names.length;
    this.#missing = undefined;
    this.#trying = undefined;
    if (name === "..") {
      this.#admit([]); // a `..` that works would reveal that the denied directory exists
      this.#up();
      return;
    }
    this.#trying = name;
    const directory = this.#current;
    const found = storedName(directory, name, this.#exact);
    const stored =
      this.#stored && typeof found === "string"
        ? storedSpelling(directory, found, directory.stat().dev)
        : found;
    const next = this.#opened(directory.below(stored), name, isOwn);
    const stat = next.stat();
    if (isConcealed(stat)) {
      next.close();
      throw this.#outside();
    }
    if (stat.isSymbolicLink()) {
      next.close();
      if (this.#direct) throw this.#linked(name);
      this.#follow(ownForm(written(readlinkSync(directory.below(stored), "buffer"))));
      return;
    }
    this.#below?.names.push(name);
    this.#trying = undefined;
    this.#go(next, this.#below);
    if (this.#names.length > 0 && !stat.isDirectory())
      throw new Fault("not_a_directory", { path: this.#given });
  }

  #opened(address: Address, name: string, isOwn: boolean): Handle {
    try {
      return Handle.open(address, { follow: false });
    } catch (error) {
      if (isOwn) this.#missing = [name, ...this.#names.toReversed()];
      throw error;
    }
  }

  #up(): void {
    const parent = Handle.open(this.#current.below(".."), { follow: false, directory: true });
    const isBelow = this.#below?.names.pop() !== undefined;
    this.#go(parent, isBelow ? this.#below : undefined);
  }

  #follow(target: string): void {
    if (++this.#links > maxLinks)
      throw new Fault("invalid_path", { path: this.#given, reason: "symlink_loop" });
    // Such a link need not lead where its text says.
    if (isProc(this.#current.address)) throw this.#outside();
    const names = namesIn(target);
    const up = names.findIndex(name => name !== "..");
    const above = up < 0 ? names.length : up;
    if (isAbsolute(target)) this.#restart(parse(target).root, names);
    else if (this.#below === undefined || above <= this.#below.names.length)
      append(this.#names, names.reverse());
    else {
      // It leaves this root; by its spelling it may lead to another one.
      const base = ownForm(resolve(display(this.#current.whereabouts()), ...names.slice(0, above)));
      this.#restart(parse(base).root, [...namesIn(base), ...names.slice(above)]);
    }
  }

  /** Goes on from the top of the file system, or from the root that the first names spell. */
  #restart(top: string, names: readonly string[]): void {
    const dots = names.indexOf("..");
    const plain = dots < 0 ? names : names.slice(0, dots);
    const named = rootNamed(this.#roots, top + plain.join("/"));
    const below = named === undefined ? plain : namesIn(named.rest);
    append(this.#names, names.slice(plain.length).reverse());
    append(this.#names, below.toReversed());
    this.#go(
      Handle.open(named?.root.handle.address ?? top),
      this.#below && named && { root: named.root, names: [] },
    );
  }

  #go(to: Handle, trail: NamesBelowRoot | undefined): void {
    this.#current.close();
    this.#current = to;
    this.#below = trail;
  }

  #linked(name: string): Fault {
    const { root, names } = this.#below ?? { root: undefined, names: [] };
    return new Fault("is_a_link", {
      path: root ? under(root.path, [...names, name].join("/")) : this.#given,
    });
  }

  #outside(): Fault {
    return new Fault("outside_roots", { path: this.#given });
  }
}

function namesIn(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split("/")
    .filter(name => name !== "" && name !== ".");
}
