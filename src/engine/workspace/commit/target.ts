// Resolves the path of a change to an entry: a held directory and a name in it, which is never followed again. Root
// and access, links and missing parents are decided here, on what was opened.
import { isAbsolute, normalize } from "node:path";
import { Fault } from "../../fault.ts";
import {
  addressOf,
  type EntryRef,
  type ExistingParent,
  entryKey,
  type HeldDirectories,
  type NewParent,
  nameOf,
} from "../disk/held-directories.ts";
import { sys } from "../disk/syscalls.ts";
import { display } from "../handle.ts";
import { bytesWritten, written } from "../name.ts";
import { parsePath, type WorkspacePath } from "../path.ts";
import { isAboveReserved, isReserved } from "../reserved.ts";
import { type NearestExisting, resolveNearest, resolvePath, resolveStored } from "../resolve.ts";
import { mayLieIn, type Root, under } from "../root.ts";
import { type Exactness, storedName, storedSpelling } from "../stored-name.ts";
import { ownForm } from "../windows-path.ts";
import { lockKey } from "./lock.ts";

const maxLinks = 40;
/** A directory is not created if no program could name its entries. */
const longestNewPath = 4095;

export interface Target {
  readonly path: WorkspacePath;
  readonly entry: EntryRef;
  /** The canonical path, for display. */
  readonly at: string;
  /** What must be held to change it. */
  readonly key: string;
  /** The outermost directory that is missing above it. */
  readonly missing?: EntryRef;
  /** Whether a regular file was there when the path was resolved. */
  readonly wasFile?: boolean;
}

export interface TargetOptions {
  readonly roots: readonly Root[];
  readonly places: HeldDirectories;
  /** Our own state, which no change may touch even if it is in a root. */
  readonly state: string;
  /** What to do about directories that are missing above the name. */
  readonly missing: "make" | "parent_not_found" | "not_found";
  /** What to do where the name is a symbolic link. Default: the link itself is meant. */
  readonly links?: "follow" | "refuse";
  /** Whether the last name is meant as it is written, because something may be created under it. */
  readonly exact?: Exactness;
  /** An entry that the name leads to is given this spelling. Default: it keeps its own. */
  readonly respell?: boolean;
}

export function resolveTarget(path: WorkspacePath, options: TargetOptions): Target {
  const { given } = path;
  for (let from = path, links = 0; links <= maxLinks; links++) {
    const target = targetOf(from, path, options);
    from.root.rules.admitChange(target.at, given);
    refuseReserved(target, options);
    if (options.links === undefined || options.places.isNew(target.entry.place)) return target;
    if (options.places.vacated.has(entryKey(target.entry))) return target; // the commit removes the entry
    const stat = sys.lstat(options.places.address(target.entry));
    if (!stat?.isSymbolicLink()) return stat?.isFile() ? { ...target, wasFile: true } : target;
    if (options.links === "refuse") throw new Fault("is_a_link", { path: given });
    from = behindLink(from, target, given, options);
  }
  throw new Fault("invalid_path", { path: given, reason: "symlink_loop" });
}

/** Faults: `protected_root` at a place of the program itself, or for a link that leads to one. */
function refuseReserved({ at, entry, path }: Target, { places, links }: TargetOptions): void {
  const isLinkAbove =
    links !== "follow" &&
    isAboveReserved(at) &&
    !places.isNew(entry.place) &&
    sys.lstat(places.address(entry))?.isSymbolicLink();
  if (isLinkAbove || isReserved(at)) throw new Fault("protected_root", { path: path.given });
}

function targetOf(from: WorkspacePath, path: WorkspacePath, options: TargetOptions): Target {
  const { given } = path;
  if (from.isRoot) throw new Fault("protected_root", { path: given });
  const known = options.places.existingParents.get(parentKey(from));
  if (known !== undefined) return targetAt(known, from, path, options);
  const made = options.places.newParents.get(parentKey(from));
  if (made !== undefined) return targetIn(made, from, path);
  const { resolved, missing: below } = nearest(from, given, options);
  const stat = resolved.stat ?? resolved.handle.stat();
  try {
    if (!stat.isDirectory()) throw new Fault("not_a_directory", { path: given });
    if (resolved.root.access === "read-only") throw new Fault("read_only", { path: given });
    if (mayLieIn(resolved.path, options.state)) throw new Fault("protected_root", { path: given });
  } catch (error) {
    resolved.handle.close();
    throw error;
  }
  let place = options.places.add(resolved.handle, resolved.path, stat, () =>
    resolved.root.diskTopOf(resolved.handle, stat.dev),
  );
  const parent: ExistingParent = { place, path: resolved.path, device: stat.dev, inode: stat.ino };
  if (below.length === 0) {
    options.places.existingParents.set(parentKey(from), parent); // the next one in this directory need not look for it again
    return targetAt(parent, from, path, options);
  }
  const names = below.map(nameOf);
  const first: EntryRef = { place, name: names[0] ?? "" };
  for (const name of names) place = options.places.addNew(place, name);
  const inNew: NewParent = {
    place,
    path: under(parent.path, below.join("/")),
    key: lockKey(stat.dev, stat.ino, first.name),
    missing: first,
  };
  options.places.newParents.set(parentKey(from), inNew);
  return targetIn(inNew, from, path);
}

/** A name in a directory that is still to be made. */
function targetIn(
  { place, path: above, key, missing }: NewParent,
  from: WorkspacePath,
  path: WorkspacePath,
): Target {
  const entry = { place, name: nameOf(from.name) };
  return { path, entry, at: `${above}/${from.name}`, key, ...(missing && { missing }) };
}

/** Notes that a change creates the directory at `target`, so that later changes find it. */
export function makesDirectory(target: Target, { places }: Pick<TargetOptions, "places">): void {
  const { path, entry, at, key } = target;
  const place = places.addNew(entry.place, entry.name);
  const isMissing = !places.isNew(entry.place) && !places.vacated.has(entryKey(entry));
  const missing = target.missing ?? (isMissing ? entry : undefined);
  places.newParents.set(parentKey(path.below("x")), { place, path: at, key, ...(missing && { missing }) });
}

function parentKey({ root, segments }: WorkspacePath): string {
  return [root.device, root.inode, ...segments.slice(0, -1)].join("/");
}

/** An entry in an existing directory. */
function targetAt(
  parent: ExistingParent,
  from: WorkspacePath,
  path: WorkspacePath,
  { places, exact, respell }: TargetOptions,
): Target {
  const directory = places.handle(parent.place);
  const stored = storedName(directory, from.name, exact ?? from.exact);
  const name = nameOf(
    respell || typeof stored !== "string" ? stored : storedSpelling(directory, stored, parent.device),
  );
  return {
    path,
    entry: { place: parent.place, name },
    at: under(parent.path, display(name)),
    key: lockKey(parent.device, parent.inode, name),
  };
}

/** The nearest existing ancestor, and the names between it and the last one. */
function nearest(from: WorkspacePath, given: string, options: TargetOptions): NearestExisting {
  try {
    if (options.missing === "make") {
      const reached = resolveNearest(options.roots, from.parent);
      if (reached.missing.length === 0 || bytesWritten(from.absolute).length <= longestNewPath)
        return reached;
      reached.resolved.handle.close();
      throw new Fault("invalid_path", { path: given.slice(0, 1000), reason: "too_long" });
    }
    return { resolved: resolveStored(options.roots, from.parent), missing: [] };
  } catch (error) {
    if (Fault.is(error, "not_found") && options.missing !== "make")
      throw new Fault(options.missing, { path: given });
    throw faultAbout(error, given);
  }
}

/** The path that a link leads to. One that leads outside is refused like any other outside. */
function behindLink(from: WorkspacePath, link: Target, given: string, options: TargetOptions): WorkspacePath {
  let real: string;
  try {
    const resolved = resolvePath(options.roots, from);
    resolved.handle.close();
    real = resolved.path;
  } catch (error) {
    if (!Fault.is(error, "not_found")) throw faultAbout(error, given);
    const leads = ownForm(written(sys.readlink(options.places.address(link.entry)))); // it dangles
    real = isAbsolute(leads) ? leads : `${link.at}/../${leads}`;
  }
  try {
    return parsePath(options.roots, normalize(real));
  } catch (error) {
    throw Fault.is(error, "outside_roots") ? new Fault("outside_roots", { path: given }) : error;
  }
}

/** The same fault, naming the path as the caller wrote it and not a path that links led to. */
function faultAbout(error: unknown, given: string): unknown {
  if (!(error instanceof Fault) || !("path" in error.data)) return error;
  return new Fault(error.code, { ...error.data, path: given }, { cause: error });
}

/** Whether the missing parent is still missing; otherwise the path must be resolved again. */
export function isStillMissing(target: Target, places: HeldDirectories): boolean {
  if (target.missing === undefined) return true;
  return sys.lstat(places.handle(target.missing.place).below(addressOf(target.missing.name))) === undefined;
}
