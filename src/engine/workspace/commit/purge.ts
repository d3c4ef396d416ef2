// Removes content that a commit moved aside. A tree is removed from its top: non-empty directories are moved up
// first, so two handles suffice for any depth, and no path has more than one name below a held directory.
import { Fault } from "../../fault.ts";
import { isConcealed } from "../concealed.ts";
import { errnoOf } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";
import { sys } from "./syscalls.ts";
import { temporaryName } from "./temporary.ts";

/** Removes `name` from a held directory, whatever it is. A missing entry is fine. */
export function purge(directory: Handle, name: Address): void {
  for (const _ of purging(directory, name)) {
    // all at once
  }
}

/** The same in pieces, letting others run in between. */
export async function purgeLater(directory: Handle, name: Address): Promise<void> {
  const stat = sys.lstat(directory.below(name));
  if (stat === undefined) return;
  if (!stat.isDirectory()) return sys.unlinkLater(directory.below(name)).catch(unlessGone);
  const slice = new TimeSlice();
  for (const _ of purging(directory, name)) {
    if (slice.isOver) await slice.turn();
  }
}

function* purging(directory: Handle, name: Address): Generator<void> {
  const address = directory.below(name);
  const stat = sys.lstat(address);
  if (stat === undefined) return;
  if (!stat.isDirectory()) return attempt(() => sys.unlink(address));
  for (let round = 0; round < 100; round++) {
    using top = Handle.open(address, { follow: false });
    refuseConcealed(top);
    yield* emptying(top);
    try {
      sys.rmdir(address);
      return;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      if (errnoOf(error) !== "ENOTEMPTY") throw error; // something was written into it in between
    }
  }
}

function* emptying(top: Handle): Generator<void> {
  const names: Address[] = writable(top, () => sys.names(top.address));
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    yield;
    const address = top.below(name);
    if (!sys.lstat(address)?.isDirectory()) {
      writable(top, () => attempt(() => sys.unlink(address)));
      continue;
    }
    using directory = Handle.open(address, { follow: false });
    refuseConcealed(directory);
    for (const inner of writable(directory, () => sys.names(directory.address))) {
      const below = directory.below(inner);
      yield;
      if (sys.lstat(below)?.isDirectory()) {
        const lifted = temporaryName();
        if (isLifted(directory, below, top.below(lifted))) names.push(lifted);
        else yield* purging(directory, inner);
      } else writable(directory, () => attempt(() => sys.unlink(below)));
    }
    writable(top, () => attempt(() => sys.rmdir(address)));
  }
}

/** False where the file system does not rename this directory. */
function isLifted(directory: Handle, from: Address, to: Address): boolean {
  try {
    writable(directory, () => sys.rename(from, to));
    return true;
  } catch (error) {
    if (errnoOf(error) === "EXDEV") return false;
    throw error;
  }
}

/** A command may have moved the server's own directory into this tree; then the tree stays. */
function refuseConcealed(directory: Handle): void {
  if (isConcealed(directory.stat())) throw new Fault("protected_root", { path: "" });
}

/** A directory that its owner made read-only is opened up; it is going away with all that is in it. */
function writable<T>(directory: Handle, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (errnoOf(error) !== "EACCES") throw error;
    sys.chmodAt(directory.address, 0o700);
    return action();
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch (error) {
    unlessGone(error);
  }
}

function unlessGone(error: unknown): void {
  if (errnoOf(error) !== "ENOENT") throw error;
}
