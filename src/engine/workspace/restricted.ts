// What rules say about the things in some roots, found by walking them: for a sandbox, which shows a command the same
// view of the roots that the tools have. Everything is found and held by handle.

import type { Buffer } from "node:buffer";
import type { Dirent } from "node:fs";
import { Fault } from "../fault.ts";
import { faultOf, ifAllowed, ifThere } from "./errno.ts";
import { TimeSlice } from "./footprint/time-slice.ts";
import { display, Handle } from "./handle.ts";
import { maskedText } from "./masked-file.ts";
import { type Root, under } from "./root.ts";
import { readdirSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";

/** How much masked text one sandbox shows: files beyond that are not shown. The texts are in memory until it begins. */
const mostMaskedBytes = 64 * 1024 * 1024;

/** Roots, and what commands may change in them: a workspace. */
export interface CommandRoots {
  readonly roots: readonly Root[];
  isFreeForCommands(root: Root, at: string): boolean;
}

export interface Restricted extends Disposable {
  readonly handle: Handle;
  readonly isDirectory: boolean;
  /** Nothing of it is seen; this text is seen instead; or all of it, with or without changes. */
  readonly seen: "nothing" | Buffer | "read-only" | "read-write";
}

/**
 * The paths with other access than their parent directory. The caller disposes of each. Not computed on systems
 * without race-free handles: there a sandbox works by paths. Faults: `no_sandbox` where there are more than `most`.
 */
export async function restrictedIn(
  given: CommandRoots,
  most = Number.POSITIVE_INFINITY,
): Promise<Restricted[]> {
  const found: Restricted[] = [];
  if (!byDescriptor) return found;
  const sum = { slice: new TimeSlice(), most, paths: 0, maskedBytes: 0 };
  try {
    const places = new Set(given.roots.map(({ handle }) => handle.whereabouts()));
    for (const root of given.roots) {
      if (!root.rules.restrict) continue;
      const isFree = (at: string) => given.isFreeForCommands(root, at);
      const state = isChangeable(given, root) ? "read-write" : "read-only";
      const at = root.handle.whereabouts();
      if (!(await isWalked({ root, isFree, places, sum }, root.handle, at, state, found)))
        throw new Fault("permission_denied", { path: display(at) });
    }
    return found;
  } catch (error) {
    for (const one of found) one[Symbol.dispose]();
    throw faultOf(error, given.roots[0]?.path ?? "");
  }
}

/** Whether commands may change things directly in a root, as far as the rules go. */
export function isChangeable(given: CommandRoots, root: Root): boolean {
  return given.isFreeForCommands(root, display(root.handle.whereabouts()));
}

type RootAccess = "read-only" | "read-write";

interface Walked {
  readonly root: Root;
  isFree(at: string): boolean;
  /** Where the roots are: one in another decides about itself and what is in it. */
  readonly places: ReadonlySet<string>;
  readonly sum: WalkSum;
}

/** Of all roots together. */
interface WalkSum {
  /** A tree may be large, and others are served meanwhile. */
  readonly slice: TimeSlice;
  readonly most: number;
  paths: number;
  maskedBytes: number;
}

/** Adds what it finds, held. False if this user may not list the directory. */
async function isWalked(
  walked: Walked,
  directory: Handle,
  at: string,
  state: RootAccess,
  found: Restricted[],
): Promise<boolean> {
  const { sum } = walked;
  const entries = entriesOf(directory);
  if (entries === undefined) return false;
  for (const entry of entries) {
    if (sum.slice.isOver) await sum.slice.turn();
    const name = entry.name as unknown as Buffer;
    if (entry.isSymbolicLink()) continue;
    const place = under(at, name.toString("latin1"));
    const seen = seenOf(display(place), walked);
    if (seen === state && !entry.isDirectory()) continue;
    const isDirectory = entry.isDirectory();
    if (seen !== "nothing" && isDirectory && walked.places.has(place)) continue;
    const handle = open(directory, name, isDirectory);
    if (handle === undefined) continue;
    const index = found.push(restricted(handle, isDirectory, state)) - 1;
    let shown: Restricted["seen"] = seen === "masked" ? state : seen;
    if (seen === "masked" && !isDirectory) shown = textShown(walked, display(place), handle);
    else if (isDirectory && (shown === "read-only" || shown === "read-write"))
      // One that cannot be listed is not shown: a command that knows the names in it, or opens it up, would see all.
      shown = (await isWalked(walked, handle, place, shown, found)) ? shown : "nothing";
    // A place that no path reaches cannot be covered by itself, so a directory above it is.
    const isTooDeep = found.length > index + 1 && place.length > longestBytes;
    if (isTooDeep) for (const below of found.splice(index + 1)) below[Symbol.dispose]();
    if (seen !== state || shown === "nothing" || isTooDeep) {
      found[index] = restricted(handle, isDirectory, isTooDeep ? "nothing" : shown);
      sum.paths++;
      // Each is open, so the walk ends here: a hostile tree has any number of them.
      if (sum.paths > sum.most)
        throw new Fault("no_sandbox", { problem: { is: "too_many_paths", paths: sum.paths } });
    } else {
      found.splice(index, 1);
      handle.close();
    }
  }
  return true;
}

/** The masked text of a file, unless it cannot be masked, or the texts together take too much room. */
function textShown({ root, sum }: Walked, at: string, handle: Handle): Buffer | "nothing" {
  if (sum.maskedBytes + handle.stat().size > mostMaskedBytes) return "nothing";
  const text = maskedText(root.rules, at, handle.address);
  if (text === undefined || sum.maskedBytes + text.length > mostMaskedBytes) return "nothing";
  sum.maskedBytes += text.length;
  return text;
}

/** The kernel takes paths of 4096 bytes; a name has up to 255, and the sandbox puts something in front. */
const longestBytes = 3500;

function seenOf(at: string, { root, isFree }: Walked): "nothing" | "masked" | RootAccess {
  const { contents } = root.rules.decide(at);
  if (contents === "none") return "nothing";
  if (contents === "masked") return "masked";
  return isFree(at) ? "read-write" : "read-only";
}

function restricted(handle: Handle, isDirectory: boolean, seen: Restricted["seen"]): Restricted {
  return { handle, isDirectory, seen, [Symbol.dispose]: () => handle.close() };
}

/** Undefined if this user may not list them. */
function entriesOf(directory: Handle): Dirent[] | undefined {
  const { address } = directory;
  return ifAllowed(
    () => readdirSync(address, { withFileTypes: true, encoding: "buffer" }) as unknown as Dirent[],
  );
}

/** Undefined if it is gone. */
function open(directory: Handle, name: Buffer, isDirectory: boolean): Handle | undefined {
  return ifThere(() => Handle.open(directory.below(name), { follow: false, directory: isDirectory }));
}
