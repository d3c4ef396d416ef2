// Removes content that a commit moved aside. A tree is removed from its top: non-empty directories are moved up
// first, so two handles suffice for any depth, and no path has more than one name below a held directory.
import { clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { isConcealed } from "../concealed.ts";
import { sys } from "../disk/syscalls.ts";
import { temporaryName } from "../disk/temporary.ts";
import { errnoOf } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";

/** A file to remove, in a held directory. The generators below leave that to their caller. */
interface DoomedFile {
  readonly directory: Handle;
  readonly address: Address;
}

/** A disk that takes longer for one file is asked in a thread, so the event loop stays responsive. */
const slowMs = 2;

/** Removes `name` from a held directory, whatever it is. A missing entry is fine. */
export function purge(directory: Handle, name: Address): void {
  for (const doomed of purging(directory, name)) if (doomed !== undefined) unlinkNow(doomed);
}

/** The same in pieces, letting others run in between. */
export async function purgeLater(directory: Handle, name: Address): Promise<void> {
  const stat = sys.lstat(directory.below(name));
  if (stat === undefined) return;
  if (!stat.isDirectory()) return sys.unlinkLater(directory.below(name)).catch(unlessGone);
  const slice = new TimeSlice();
  let isSlow = false;
  for (const doomed of purging(directory, name)) {
    if (slice.isOver) await slice.turn();
    if (doomed === undefined) continue;
    const began = clock();
    if (isSlow) await unlinkLater(doomed);
    else unlinkNow(doomed);
    isSlow = clock() - began > slowMs;
  }
}

function unlinkNow({ directory, address }: DoomedFile): void {
  writable(directory, () => attempt(() => sys.unlink(address)));
}

async function unlinkLater(doomed: DoomedFile): Promise<void> {
  try {
    await sys.unlinkLater(doomed.address);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") unlinkNow(doomed); // the directory may have to be made writable
  }
}

function* purging(directory: Handle, name: Address): Generator<DoomedFile | undefined> {
  const address = directory.below(name);
  const stat = sys.lstat(address);
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    yield { directory, address };
    return;
  }
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

function* emptying(top: Handle): Generator<DoomedFile | undefined> {
  const names: Address[] = writable(top, () => sys.names(top.address));
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const address = top.below(name);
    if (!sys.lstat(address)?.isDirectory()) {
      yield { directory: top, address };
      continue;
    }
    using directory = Handle.open(address, { follow: false });
    refuseConcealed(directory);
    for (const inner of writable(directory, () => sys.names(directory.address))) {
      const below = directory.below(inner);
      if (sys.lstat(below)?.isDirectory()) {
        const lifted = temporaryName();
        if (isLifted(below, directory, top, lifted)) names.push(lifted);
        else yield* purging(directory, inner);
        yield undefined;
      } else yield { directory, address: below };
    }
    writable(top, () => attempt(() => sys.rmdir(address)));
    yield undefined;
  }
}

/**
 * Moves the directory `from` up, from `parent` to `top`. Both and the directory itself have to be writable. False if
 * the file system does not rename it, or if it is another user's: an empty one can be removed all the same.
 */
function isLifted(from: Address, parent: Handle, top: Handle, name: string): boolean {
  using directory = Handle.open(from, { follow: false });
  try {
    const lift = () => sys.rename(from, top.below(name));
    writable(parent, () => writable(top, () => writable(directory, lift)));
    return true;
  } catch (error) {
    if (["EXDEV", "EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return false;
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
    if (errnoOf(error) !== "EACCES" || !isOpenedUp(directory)) throw error;
    return action();
  }
}

/** False for another user's. The reason may be another directory. */
function isOpenedUp(directory: Handle): boolean {
  try {
    sys.chmodAt(directory.address, 0o700);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EPERM") return false;
    throw error;
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
