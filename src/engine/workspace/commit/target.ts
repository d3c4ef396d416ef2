// From the path of a change to the spot that it means: a held directory and a name in it, which is never
// followed again. Decided here, on what was opened: the root and its access, links, missing parents.
import { isAbsolute, normalize } from "node:path";
import { Fault } from "../../fault.ts";
import { display } from "../handle.ts";
import { bytesWritten, written } from "../name.ts";
import { parsePath, type WorkspacePath } from "../path.ts";
import { land, landNearest, type Reached, storedName } from "../resolve.ts";
import { isWithin, type Root, under } from "../root.ts";
import { ownForm } from "../windows-path.ts";
import { lockKey } from "./lock.ts";
import { addressOf, type NewSeat, nameOf, type Places, type Seat, type Spot, spotKey } from "./place.ts";
import { sys } from "./syscalls.ts";

const maxLinks = 40;
/** Directories are not made where no program could name what is in them. */
const longestNewPath = 4095;

export interface Target {
  readonly path: WorkspacePath;
  readonly spot: Spot;
  /** Where it really is or will be, for people. */
  readonly at: string;
  /** What must be held to change it. */
  readonly key: string;
  /** The outermost directory that is missing above it. */
  readonly missing?: Spot;
}

export interface Aim {
  readonly roots: readonly Root[];
  readonly places: Places;
  /** Our own state, which no change may touch even where it lies in a root. */
  readonly state: string;
  /** What to do about directories that are missing above the name. */
  readonly missing: "make" | "parent_not_found" | "not_found";
  /** What to do where the name is a symbolic link. Default: the link itself is meant. */
  readonly links?: "follow" | "refuse";
  /** Whether the last name is meant as it is written, because something may be created under it. */
  readonly exact?: boolean;
}

export function aim(path: WorkspacePath, way: Aim): Target {
  const { given } = path;
  for (let from = path, links = 0; links <= maxLinks; links++) {
    const target = seatOf(from, path, way);
    from.root.rules.admitChange(target.at, given);
    if (way.links === undefined || way.places.isNew(target.spot.place)) return target;
    if (way.places.vacated.has(spotKey(target.spot))) return target; // the commit removes what stands there
    const address = way.places.address(target.spot);
    if (!sys.lstat(address)?.isSymbolicLink()) return target;
    if (way.links === "refuse") throw new Fault("is_a_link", { path: given });
    from = behindLink(from, target, given, way);
  }
  throw new Fault("invalid_path", { path: given, reason: "symlink_loop" });
}

function seatOf(from: WorkspacePath, path: WorkspacePath, way: Aim): Target {
  const { given } = path;
  if (from.isRoot) throw new Fault("protected_root", { path: given });
  const known = way.places.seats.get(seatKey(from));
  if (known !== undefined) return targetAt(known, from, path, way);
  const made = way.places.newSeats.get(seatKey(from));
  if (made !== undefined) return targetIn(made, from, path);
  const { landing, missing: below } = nearest(from, given, way);
  const stat = landing.handle.stat();
  try {
    if (!stat.isDirectory()) throw new Fault("not_a_directory", { path: given });
    if (landing.root.access === "read-only") throw new Fault("read_only", { path: given });
    if (isWithin(landing.path, way.state)) throw new Fault("protected_root", { path: given });
  } catch (error) {
    landing.handle.close();
    throw error;
  }
  let place = way.places.add(landing.handle, landing.path, stat);
  const seat: Seat = { place, path: landing.path, device: stat.dev, inode: stat.ino };
  if (below.length === 0) {
    way.places.seats.set(seatKey(from), seat); // the next one in this directory need not look for it again
    return targetAt(seat, from, path, way);
  }
  const names = below.map(nameOf);
  const first: Spot = { place, name: names[0] ?? "" };
  for (const name of names) place = way.places.addNew(place, name);
  const inNew: NewSeat = {
    place,
    path: under(seat.path, below.join("/")),
    key: lockKey(stat.dev, stat.ino, first.name),
    missing: first,
  };
  way.places.newSeats.set(seatKey(from), inNew);
  return targetIn(inNew, from, path);
}

/** A name in a directory that is still to be made. */
function targetIn(
  { place, path: above, key, missing }: NewSeat,
  from: WorkspacePath,
  path: WorkspacePath,
): Target {
  const spot = { place, name: nameOf(from.name) };
  return { path, spot, at: `${above}/${from.name}`, key, ...(missing && { missing }) };
}

/** Tells that a change makes the directory at `target`, so that what comes into it is found there. */
export function makesDirectory(target: Target, { places }: Pick<Aim, "places">): void {
  const { path, spot, at, key } = target;
  const place = places.addNew(spot.place, spot.name);
  const isMissing = !places.isNew(spot.place) && !places.vacated.has(spotKey(spot));
  const missing = target.missing ?? (isMissing ? spot : undefined);
  places.newSeats.set(seatKey(path.below("x")), { place, path: at, key, ...(missing && { missing }) });
}

function seatKey({ root, segments }: WorkspacePath): string {
  return [root.device, root.inode, ...segments.slice(0, -1)].join("/");
}

/** A name in a directory that is there. */
function targetAt(seat: Seat, from: WorkspacePath, path: WorkspacePath, { places, exact }: Aim): Target {
  const name = nameOf(storedName(places.handle(seat.place), from.name, exact ?? from.exact));
  return {
    path,
    spot: { place: seat.place, name },
    at: under(seat.path, display(name)),
    key: lockKey(seat.device, seat.inode, name),
  };
}

/** The nearest directory above that is there, and the names between it and the last one. */
function nearest(from: WorkspacePath, given: string, way: Aim): Reached {
  try {
    if (way.missing === "make") {
      const reached = landNearest(way.roots, from.parent);
      if (reached.missing.length === 0 || bytesWritten(from.absolute).length <= longestNewPath)
        return reached;
      reached.landing.handle.close();
      throw new Fault("invalid_path", { path: given.slice(0, 1000), reason: "too_long" });
    }
    return { landing: land(way.roots, from.parent), missing: [] };
  } catch (error) {
    if (Fault.is(error, "not_found") && way.missing !== "make") throw new Fault(way.missing, { path: given });
    throw retold(error, given);
  }
}

/** The path that a link leads to. One that leads out is refused like any other outside. */
function behindLink(from: WorkspacePath, link: Target, given: string, way: Aim): WorkspacePath {
  let real: string;
  try {
    const landing = land(way.roots, from);
    landing.handle.close();
    real = landing.path;
  } catch (error) {
    if (!Fault.is(error, "not_found")) throw retold(error, given);
    const leads = ownForm(written(sys.readlink(way.places.address(link.spot)))); // it dangles
    real = isAbsolute(leads) ? leads : `${link.at}/../${leads}`;
  }
  try {
    return parsePath(way.roots, normalize(real));
  } catch (error) {
    throw Fault.is(error, "outside_roots") ? new Fault("outside_roots", { path: given }) : error;
  }
}

/** A fault about the path as the caller wrote it, not about where links led on the way. */
function retold(error: unknown, given: string): unknown {
  if (!(error instanceof Fault) || !("path" in error.data)) return error;
  return new Fault(error.code, { ...error.data, path: given }, { cause: error });
}

/** The address of what is to be made missing: something there now means that the path must be resolved anew. */
export function isStillMissing(target: Target, places: Places): boolean {
  if (target.missing === undefined) return true;
  return sys.lstat(places.handle(target.missing.place).below(addressOf(target.missing.name))) === undefined;
}
