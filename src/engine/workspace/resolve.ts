// From a WorkspacePath to an open handle, without a moment in which something can be swapped.
//
// Two ways, one answer. *Landing* lets the kernel resolve the whole path in one call and then asks where the
// handle is: outside the roots, it is closed and nothing was done with it. That is quick, but when it fails it
// cannot say whether a name inside is missing or a link led out. So on failure we *walk*: component by
// component, no-follow, from the root's handle, splicing links ourselves. The walk also finds names that are
// stored in another Unicode form, and goes deeper than a path may be long. Everything that lies outside gets
// one uniform fault, so nothing can be learnt about it.
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { isAbsolute, normalize, sep } from "node:path";
import { Fault } from "../fault.ts";
import { errnoOf, faultOf } from "./errno.ts";
import { type Address, display, Handle } from "./handle.ts";
import type { WorkspacePath } from "./path.ts";
import { type Root, rootHolding, rootNamed } from "./root.ts";

const maxLinks = 40;
const maxPathBytes = 4000; // below PATH_MAX with the handle's prefix

/** Something that exists, held, with the root that decides about it. */
export interface Landing {
  readonly handle: Handle;
  readonly root: Root;
  /** Where it really is: canonical, for people. */
  readonly path: string;
}

/** A name in a held directory; the last component is never followed. The handle is the directory's. */
export interface Seat extends Landing {
  readonly name: Address;
}

/** Opens what `path` leads to, links followed. The caller closes the handle. */
export function land(roots: readonly Root[], path: WorkspacePath): Landing {
  const relative = path.relative;
  if (relative.length < maxPathBytes) {
    try {
      const handle = Handle.open(
        relative === "" ? path.root.handle.address : path.root.handle.below(relative),
      );
      const landing = claim(roots, handle);
      if (landing !== undefined) return landing;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "EMFILE" || errno === "ENFILE") throw faultOf(error, path.given);
      return walk(roots, path);
    }
    throw new Fault("outside_roots", { path: path.given });
  }
  return walk(roots, path);
}

/** The directory that holds `path`'s last name, and the name as it is stored there (or to be stored). */
export function seat(roots: readonly Root[], path: WorkspacePath): Seat {
  if (path.isRoot) throw new Fault("protected_root", { path: path.given });
  const directory = land(roots, path.parent);
  if (!directory.handle.stat().isDirectory()) {
    directory.handle.close();
    throw new Fault("not_a_directory", { path: path.given });
  }
  return { ...directory, name: storedName(directory.handle, path.name) };
}

/**
 * Decides on what was opened, never on a path string. The system cannot tell where something is whose path is
 * longer than a path may be; then how it was reached decides: `walked` from a root without following anything.
 */
function claim(
  roots: readonly Root[],
  handle: Handle,
  walked?: { readonly root: Root; readonly names: readonly string[] },
): Landing | undefined {
  try {
    const whereabouts = handle.whereabouts();
    const root = rootHolding(roots, whereabouts);
    if (root !== undefined) return { handle, root, path: display(whereabouts) };
  } catch (error) {
    if (errnoOf(error) === "ENAMETOOLONG" && walked !== undefined) {
      return { handle, root: walked.root, path: [walked.root.path, ...walked.names].join("/") };
    }
    handle.close();
    throw error;
  }
  handle.close();
  return undefined;
}

function walk(roots: readonly Root[], path: WorkspacePath): Landing {
  const { given } = path;
  let root = path.root;
  let names: readonly string[] = path.segments;
  for (let links = 0; links <= maxLinks; links++) {
    const step = descend(root, names, given);
    if (step.handle !== undefined) {
      const landing = claim(roots, step.handle, { root, names });
      if (landing === undefined) throw new Fault("outside_roots", { path: given });
      return landing;
    }
    const next = rootNamed(roots, normalize(step.target));
    if (next === undefined) throw new Fault("outside_roots", { path: given });
    root = next.root;
    names = [...next.rest.split(sep).filter(name => name !== ""), ...step.rest];
  }
  throw new Fault("invalid_path", { path: given, reason: "symlink_loop" });
}

type Step =
  | { readonly handle: Handle }
  | { readonly handle: undefined; readonly target: string; readonly rest: readonly string[] };

/** Goes down from a root without following anything, until the end or the first link. */
function descend(root: Root, names: readonly string[], given: string): Step {
  let current = Handle.open(root.handle.address);
  try {
    for (const [i, name] of names.entries()) {
      const stored = storedName(current, name);
      const next = Handle.open(current.below(stored), { follow: false });
      const stat = next.stat();
      if (stat.isSymbolicLink()) {
        next.close();
        const target = readlinkSync(current.below(stored), "utf8");
        const whole = isAbsolute(target) ? target : `${display(current.whereabouts())}/${target}`;
        current.close();
        return { handle: undefined, target: whole, rest: names.slice(i + 1) };
      }
      current.close();
      current = next;
      if (i < names.length - 1 && !stat.isDirectory()) throw new Fault("not_a_directory", { path: given });
    }
    return { handle: current };
  } catch (error) {
    current.close();
    throw faultOf(error, given);
  }
}

/**
 * The name under which `name` is stored, or `name` itself where nothing fits. It differs where the file system
 * holds another Unicode normal form (macOS stores NFD, people type NFC), or bytes that are not UTF-8 and were
 * shown with marks. The exact name always wins, and two others that fit are none.
 */
export function storedName(directory: Handle, name: string): Address {
  if (!/[^\x20-\x7e]/.test(name)) return name;
  if (lstatSync(directory.below(name), { throwIfNoEntry: false }) !== undefined) return name;
  const wanted = name.normalize("NFC");
  const fits = readdirSync(directory.address, { encoding: "buffer" }).filter(
    entry => entry.toString("utf8").normalize("NFC") === wanted,
  );
  return fits.length === 1 ? (fits[0] as Buffer) : name;
}
