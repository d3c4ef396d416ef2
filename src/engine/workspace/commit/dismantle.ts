// Removes a directory that cannot be renamed, such as one from a lower layer of an overlay file system, entry by
// entry in place. A copy was made and flushed before, so the step can be rolled back at any point: a marker beside
// the directory says that the removal has begun.

import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { addressOf, type EntryRef, type HeldDirectories } from "../disk/held-directories.ts";
import { flushAndClose, sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import { purge, purgeLater } from "./purge.ts";
import type { StepContext } from "./step-context.ts";

export interface DismantleStep {
  readonly do: "dismantle";
  readonly given: string;
  readonly at: EntryRef;
  readonly inode: number;
  /** The temporary name that the copy is made under, and the name that it has when this step runs. */
  readonly staged: EntryRef;
  readonly copy: EntryRef;
  readonly begun: EntryRef;
  /** It must be empty. */
  readonly empty?: true;
}

export async function dismantleLater(step: DismantleStep, { places }: StepContext): Promise<void> {
  if (!begin(step, places) || removeEmpty(step, places)) return;
  await purgeLater(places.handle(step.at.place), addressOf(step.at.name));
}

/** The synchronous form. Entries that are gone or replaced stay as they are. */
export function dismantle(step: DismantleStep, { places }: StepContext): void {
  if (!begin(step, places) || removeEmpty(step, places)) return;
  purge(places.handle(step.at.place), addressOf(step.at.name));
}

/** False if the directory no longer exists. */
function begin({ at, inode, begun }: DismantleStep, places: HeldDirectories): boolean {
  if (sys.lstat(places.address(at))?.ino !== inode) return false;
  const marker = places.address(begun);
  if (sys.lstat(marker) !== undefined) return true;
  sys.mkdir(marker, 0o700);
  // The marker must not be lost while the first removal is not.
  flushAndClose(sys.open(places.handle(begun.place).address, constants.O_RDONLY | constants.O_DIRECTORY));
  return true;
}

function removeEmpty({ empty, at, given }: DismantleStep, places: HeldDirectories): boolean {
  if (!empty) return false;
  try {
    sys.rmdir(places.address(at));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOTEMPTY") throw new Fault("not_empty", { path: given });
    throw error;
  }
}

/** Restores from the copy what was removed so far. */
export function reassemble(step: DismantleStep, index: number, { places, inodes }: StepContext): void {
  const begun = places.address(step.begun);
  if (sys.lstat(begun) === undefined) return;
  const at = places.address(step.at);
  const copy = places.address(step.copy);
  const there = sys.lstat(at);
  const isWhole = step.empty === true && there?.ino === step.inode;
  if (!isWhole && sys.lstat(copy)?.ino === inodes[index]) {
    if (there?.ino === step.inode) purge(places.handle(step.at.place), addressOf(step.at.name));
    // Another program's entry: the copy stays, and the next recovery tries again.
    else if (there !== undefined) throw new ConcurrentChange(step.given);
    sys.rename(copy, at);
  }
  sys.rmdir(begun);
}

/** Where no power was lost, the copy is still there unless the removal has ended. */
export function canDismantle(step: DismantleStep, index: number, scene: StepContext): boolean {
  const { places, inodes, powerCut } = scene;
  if (sys.lstat(places.address(step.at))?.ino !== step.inode) return true;
  return (
    powerCut ||
    [step.copy, step.staged].some(entry => sys.lstat(places.address(entry))?.ino === inodes[index])
  );
}
