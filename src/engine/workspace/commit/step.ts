// The operations of a commit on a directory. Each can be applied, rolled back, and recognised half done. Replaced or
// removed content is first kept aside under a temporary name: rollback is a rename, and the old bytes stay readable
// until the commit is over.

import { constants } from "node:fs";
import { Fault, type Kind } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import type { ByteRange } from "../archive/pending-record.ts";
import { type EntryRef, entryKey, type HeldDirectories } from "../disk/held-directories.ts";
import { contentAt } from "../disk/if-there.ts";
import { sys, writeAll } from "../disk/syscalls.ts";
import { errnoOf, isAnswer, system } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display, Handle } from "../handle.ts";
import { written } from "../name.ts";
import { byDescriptor } from "../system/descriptors.ts";
import type { Address } from "../system/held.ts";
import { AsideRefused, ConcurrentChange, NotRenamable } from "./concurrent-change.ts";
import { canDismantle, type DismantleStep, dismantle, dismantleLater, reassemble } from "./dismantle.ts";
import { makeDurable } from "./durable-directory.ts";
import { giveMode, modeWhileStaged, type Owner } from "./granted-mode.ts";
import type { StepContext } from "./step-context.ts";

/** Tells whether a file is unchanged. */
export interface FileIdentity {
  readonly inode: number;
  readonly size: number;
  readonly modified: number;
}

/** New content under a temporary name. With `blob`, the journal holds the bytes too. */
export interface StagedAttributes {
  readonly blob?: ByteRange;
  /** Hash of bytes that the journal does not hold: shows after a power cut whether all of them reached the disk. */
  readonly hash?: string;
  readonly mode?: number;
  /** The owner of the file that had this mode (granted-mode.ts). */
  readonly modeOf?: Owner;
  readonly owner?: Owner;
  /** The time to give it, in milliseconds. */
  readonly modified?: number;
}

export interface MoveStep {
  readonly do: "move";
  readonly given: string;
  readonly from: EntryRef;
  readonly to: EntryRef;
  readonly kind: Kind;
  readonly staged?: StagedAttributes;
  /** The entry at `to`, kept under the name `aside`: beside it, or in another directory on the same disk. */
  readonly replaces?: {
    readonly known: FileIdentity;
    readonly kind: Kind;
    readonly aside: string;
    readonly asidePlace?: number;
    /** Its bytes, if the journal holds them: after a power cut they show that it has not been replaced since. */
    readonly was?: ByteRange;
  };
  /** `to` is a fresh temporary name: the entry is removed. */
  readonly away?: "tree" | "empty";
  /** `from` and `to` are one entry of a directory that ignores case. */
  readonly recase?: boolean;
}

export interface MakeStep {
  readonly do: "make";
  readonly given: string;
  readonly at: EntryRef;
  readonly mode?: number;
}

/** Writes into the file itself, so that all its names see it. */
export interface RewriteStep {
  readonly do: "rewrite";
  readonly given: string;
  readonly at: EntryRef;
  readonly inode: number;
  readonly before: ByteRange;
  readonly after: ByteRange;
}

/** Gives a directory other permission bits. */
export interface ModeStep {
  readonly do: "mode";
  readonly given: string;
  readonly at: EntryRef;
  /** Undefined if an earlier step of the commit makes the directory. */
  readonly inode?: number;
  readonly before: number;
  readonly after: number;
}

export type Step = MoveStep | MakeStep | RewriteStep | ModeStep | DismantleStep;

/** Does all steps, and lets everything else run in between. */
export async function applyAll(steps: readonly Step[], scene: StepContext): Promise<void> {
  const slice = new TimeSlice();
  for (const step of steps) {
    if (slice.isOver) await slice.turn();
    if (step.do === "dismantle") await dismantleLater(step, scene);
    else apply(step, scene);
  }
}

export function apply(step: Step, scene: StepContext): void {
  system(step.given, () => {
    if (step.do === "make") make(step, scene.places.address(step.at), scene);
    else if (step.do === "rewrite") rewrite(step, scene, step.after);
    else if (step.do === "mode") changeMode(step, scene, step.after);
    else if (step.do === "dismantle") dismantle(step, scene);
    else move(step, scene);
  });
}

function changeMode(step: ModeStep, { places }: StepContext, mode: number): void {
  if (step.inode === undefined && !isInOtherMode(step, places, mode)) return;
  if (!byDescriptor) {
    sys.chmodAt(places.address(step.at), mode);
    return;
  }
  // Not by a descriptor for reading: a directory may be unreadable to its owner.
  using handle = Handle.open(places.address(step.at), { follow: false, directory: true });
  if (step.inode !== undefined && handle.stat().ino !== step.inode) throw new ConcurrentChange(step.given);
  sys.chmodAt(handle.address, mode);
}

/**
 * Whether a directory that the commit made is as the step found it, or left it, which is the other of its two modes.
 * If not, it is not made yet, or a later commit has given it another mode.
 */
function isInOtherMode(
  { at, before, after }: ModeStep,
  places: StepContext["places"],
  mode: number,
): boolean {
  const stat = sys.lstat(places.address(at));
  return stat?.isDirectory() === true && (stat.mode & 0o7777) === (mode === after ? before : after);
}

/**
 * An explicit mode is set regardless of the umask, and on the directory that was opened: another program may have put
 * a link or a directory of its own under the name since. A new directory is empty.
 */
function make(step: MakeStep, address: Address, scene: StepContext): void {
  const { given, mode } = step;
  try {
    sys.mkdir(address, mode === undefined ? undefined : mode | 0o700); // its owner has to look into it
  } catch (error) {
    // Another program has made it since the commit was planned, which is then planned again.
    if (errnoOf(error) === "EEXIST") throw new ConcurrentChange(given);
    throw error;
  }
  scene.made?.set(step, undefined);
  const there = scene.made && sys.lstat(address);
  if (there !== undefined) scene.made?.set(step, { inode: there.ino, born: there.birthtimeMs });
  if (mode === undefined) return;
  if (!byDescriptor) {
    sys.chmodAt(address, mode);
    return;
  }
  using made = Handle.open(address, { follow: false });
  const stat = made.stat();
  if (!stat.isDirectory() || sys.names(made.address).length > 0) throw new ConcurrentChange(given);
  if ((stat.mode & 0o7777) !== mode) sys.chmodAt(made.address, mode);
}

function move(step: MoveStep, scene: StepContext): void {
  const from = scene.places.address(step.from);
  const to = scene.places.address(step.to);
  if (step.replaces !== undefined) {
    keepAside(step, scene, to);
    sys.rename(from, to);
  } else if (step.recase) {
    recase(from, to, step, scene.places);
  } else if (step.away !== undefined) {
    rename(from, to, step);
    if (step.away === "empty" && sys.names(to).length > 0) {
      throw new Fault("not_empty", { path: step.given });
    }
  } else moveToFree(from, to, step, scene.places);
}

/**
 * Not every system that treats two spellings as one name can change the spelling: Wine's rename succeeds without doing
 * so. Some choose the Unicode form themselves, as HFS+ does.
 */
function recase(from: Address, to: Address, step: MoveStep, places: HeldDirectories): void {
  rename(from, to, step);
  const names = sys.names(places.handle(step.to.place).address);
  const wanted = display(step.to.name).normalize("NFC");
  if (names.some(name => written(name).normalize("NFC") === wanted)) return;
  const message = "ENOTSUP: the file system keeps the spelling of the name, rename";
  throw Object.assign(new Error(message), { code: "ENOTSUP", syscall: "rename" });
}

/** Never replaces an entry that appears at `to` in between. */
function moveToFree(from: Address, to: Address, step: MoveStep, places: HeldDirectories): void {
  if (isLinkable(step.kind)) {
    try {
      sys.link(from, to);
      if (isOnlyCopy(step)) makeDurable(places, step.to.place);
      sys.unlink(from);
      return;
    } catch (error) {
      if (!isWithoutLinks(error)) throw error;
    }
  }
  if (sys.lstat(to) !== undefined) throw new Fault("exists", { path: step.given });
  if (isOnlyCopy(step)) makeDurable(places, step.to.place);
  rename(from, to, step);
}

/** A rename would replace what is there. On Linux link(2) takes a symbolic link for itself, elsewhere it may follow it. */
function isLinkable(kind: Kind): boolean {
  return kind === "file" || (kind === "symlink" && byDescriptor);
}

/** Whether a step takes something to another directory that the journal does not hold. */
function isOnlyCopy({ from, to, staged }: MoveStep): boolean {
  return staged?.blob === undefined && from.place !== to.place;
}

/**
 * Some file systems rename only files: overlayfs refuses to rename a directory of a lower layer. And not every system
 * shows beforehand where one mount ends and another begins.
 */
function rename(from: Address, to: Address, { given }: MoveStep): void {
  try {
    sys.rename(from, to);
  } catch (error) {
    if (errnoOf(error) === "EXDEV") throw new NotRenamable(given);
    throw error;
  }
}

function keepAside(step: MoveStep, scene: StepContext, to: Address): void {
  if (step.replaces === undefined) return;
  const { known, kind } = step.replaces;
  const there = sys.lstat(to);
  const isUntouched = !scene.compared?.has(entryKey(step.to)) || (there && isSame(there, known));
  if (there?.ino !== known.inode || !isUntouched) throw new ConcurrentChange(step.given);
  const aside = asideOf(step, scene);
  if (kind === "file" && step.kind === "file") {
    try {
      sys.link(to, aside);
      return;
    } catch (error) {
      // The step was tried before, and failed after this point.
      if (errnoOf(error) === "EEXIST" && sys.lstat(aside)?.ino === known.inode) return;
      if (step.replaces.asidePlace !== undefined && isRefusal(error)) throw new AsideRefused(step.given);
      if (!isWithoutLinks(error)) throw error;
      if (scene.single) return;
    }
  }
  sys.rename(to, aside);
}

/** Rolls a step back, as far as it was done. */
export function undo(step: Step, index: number, scene: StepContext): void {
  if (step.do === "make") {
    if (scene.made?.has(step) ?? true) removeMade(scene, step);
  } else if (step.do === "rewrite") rewrite(step, scene, step.before);
  else if (step.do === "mode") restoreMode(step, scene);
  else if (step.do === "dismantle") reassemble(step, index, scene);
  else undoMove(step, index, scene);
}

function undoMove(step: MoveStep, index: number, scene: StepContext): void {
  const inode = scene.inodes[index];
  const from = scene.places.address(step.from);
  const to = scene.places.address(step.to);
  const there = sys.lstat(to);
  const source = sys.lstat(from);
  const arrived = there !== undefined && there.ino === inode;
  if (step.recase) {
    if (arrived) sys.rename(to, from);
    return;
  }
  if (step.replaces === undefined) {
    if (!arrived) return;
    if (source === undefined) sys.rename(to, from);
    else if (source.ino === inode) sys.unlink(to);
    return;
  }
  const aside = asideOf(step, scene);
  if (sys.lstat(aside)?.ino !== step.replaces.known.inode) return;
  if (there?.ino === step.replaces.known.inode) {
    sys.unlink(aside);
    return;
  }
  if (arrived && step.staged === undefined && source === undefined) {
    if (step.kind === "file") sys.link(to, from);
    else sys.rename(to, from);
  }
  if (arrived || there === undefined) sys.rename(aside, to);
}

/** Whether a step is done, or can still be done without losing another program's content. */
export function canRedo(step: Step, index: number, scene: StepContext): boolean {
  try {
    if (step.do === "make") return true;
    if (step.do === "rewrite") return isRewritable(step, scene);
    if (step.do === "mode")
      return step.inode === undefined || sys.lstat(scene.places.address(step.at))?.ino === step.inode;
    if (step.do === "dismantle") return canDismantle(step, index, scene);
    return isDone(step, index, scene) || isReady(step, index, scene);
  } catch (error) {
    if (errnoOf(error) !== undefined && !isAnswer(error)) throw error; // recovery would take back what is done
    return false;
  }
}

/** Completes a step from wherever it stopped. */
export function redo(step: Step, index: number, scene: StepContext): void {
  if (step.do === "make") {
    if (sys.lstat(scene.places.address(step.at)) === undefined) apply(step, scene);
  } else if (step.do === "rewrite") rewrite(step, scene, step.after);
  else if (step.do === "mode") changeMode(step, scene, step.after);
  else if (step.do === "dismantle") dismantle(step, scene);
  else redoMove(step, index, scene);
}

function redoMove(step: MoveStep, index: number, scene: StepContext): void {
  if (isDone(step, index, scene)) {
    if (!scene.places.isThere(step.from.place)) return; // another program has removed the directory
    const from = scene.places.address(step.from);
    const source = sys.lstat(from);
    const isTwice = step.staged === undefined ? isLinkedTwice(step, index, scene) : source?.nlink === 2;
    if (isTwice) sys.unlink(from); // it has its new name, and still its old one
    return;
  }
  const from = scene.places.address(step.from);
  if (step.staged !== undefined) restage(step, step.staged, index, scene);
  if (step.replaces !== undefined) {
    const to = scene.places.address(step.to);
    const aside = sys.lstat(asideOf(step, scene));
    const there = sys.lstat(to);
    const isOthers = there !== undefined && there.ino !== step.replaces.known.inode;
    if (isOthers && !scene.powerCut) throw new ConcurrentChange(step.given); // it was not there a moment ago
    if (aside === undefined && !isOthers && there !== undefined) keepAside(step, scene, to);
    sys.rename(from, to);
  } else if (scene.powerCut) {
    if (step.away === undefined && isOnlyCopy(step)) makeDurable(scene.places, step.to.place);
    sys.rename(from, scene.places.address(step.to));
  } else move(step, scene);
}

/** A move without replacement links and unlinks: a crash may come in between. */
function isLinkedTwice(step: MoveStep, index: number, scene: StepContext): boolean {
  if (!isLinkable(step.kind) || step.away !== undefined || step.recase) return false;
  return sys.lstat(scene.places.address(step.from))?.ino === scene.inodes[index];
}

/**
 * Removes the old name of a file whose move is known to have happened, if a power cut has restored that name and the
 * new one was replaced since. The file got its new name on the disk first, so nothing is lost.
 */
export function removeOldName(step: Step, index: number, scene: StepContext): void {
  if (step.do !== "move" || step.staged !== undefined || step.replaces !== undefined) return;
  const there = sys.lstat(scene.places.address(step.to));
  if (there === undefined || there.ino === scene.inodes[index]) return;
  if (isLinkedTwice(step, index, scene)) sys.unlink(scene.places.address(step.from));
}

function isDone(step: MoveStep, index: number, scene: StepContext): boolean {
  const to = scene.places.address(step.to);
  const there = sys.lstat(to);
  // The removed content may be gone although its mark was lost in the power cut.
  if (there === undefined)
    return (
      step.away !== undefined && scene.powerCut && sys.lstat(scene.places.address(step.from)) === undefined
    );
  const blob = step.staged?.blob;
  if (blob === undefined) return there.ino === scene.inodes[index];
  return holds(to, scene.blob(blob));
}

function isReady(step: MoveStep, index: number, scene: StepContext): boolean {
  const source = sys.lstat(scene.places.address(step.from));
  const to = scene.places.address(step.to);
  const there = sys.lstat(to);
  if (step.staged?.blob === undefined && source?.ino !== scene.inodes[index]) return false;
  if (scene.powerCut && !isWhole(step, scene)) return false;
  if (there === undefined) return true;
  const blob = step.staged?.blob;
  // The file of this commit, not of a later one, whose journal may have restarted since or still hold it.
  const isOwn = there.ino === scene.inodes[index];
  if (scene.powerCut && isOwn && blob !== undefined && isTorn(to, scene.blob(blob))) return true;
  if (step.replaces === undefined) return false;
  const { known, was } = step.replaces;
  return isSame(there, known) || (scene.powerCut && was !== undefined && holds(to, scene.blob(was)));
}

/** After a power cut, recovery may have written the file again: then its content identifies it. */
function isRewritable(step: RewriteStep, scene: StepContext): boolean {
  const address = scene.places.address(step.at);
  if (sys.lstat(address)?.ino === step.inode) return true;
  return scene.powerCut && [step.before, step.after].some(range => holds(address, scene.blob(range)));
}

/** The journal's mark may have reached the disk before the staged file: then the commit has not happened. */
function isWhole({ from, staged }: MoveStep, { places }: StepContext): boolean {
  if (staged?.hash === undefined) return true;
  const found = contentAt(places.address(from));
  return found !== undefined && contentHash(found) === staged.hash;
}

/** The staged file as it should be: after a power cut it may be gone, or hold less than was written. */
function restage(step: MoveStep, staged: StagedAttributes, index: number, scene: StepContext): void {
  const { blob, mode, modeOf, owner } = staged;
  if (blob === undefined) return;
  const address = scene.places.address(step.from);
  const stat = sys.lstat(address);
  if (stat?.ino === scene.inodes[index] && holds(address, scene.blob(blob))) return;
  if (stat !== undefined) sys.unlink(address);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = sys.open(address, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, modeWhileStaged(mode));
  try {
    writeAll(fd, scene.blob(blob));
    if (owner !== undefined) sys.chown(fd, owner.user, owner.group);
    if (mode !== undefined) giveMode(fd, mode, modeOf);
    if (staged.modified !== undefined) setModified(fd, staged.modified);
    sys.flush(fd);
  } finally {
    sys.close(fd);
  }
}

export function setModified(fd: number, modified: number): void {
  sys.times(fd, new Date(), new Date(modified));
}

function rewrite(step: RewriteStep, scene: StepContext, range: ByteRange): void {
  const fd = sys.open(scene.places.address(step.at), constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    if (sys.stat(fd).ino !== step.inode && !(scene.powerCut && isRewritable(step, scene)))
      throw new ConcurrentChange(step.given);
    const bytes = scene.blob(range);
    writeAll(fd, bytes);
    sys.truncate(fd, bytes.length);
  } finally {
    sys.close(fd);
  }
}

/** Only if it is still the directory that the commit made: another program may have put its own under the name. */
function removeMade(scene: StepContext, step: MakeStep): void {
  const address = scene.places.address(step.at);
  const made = scene.made?.get(step);
  const there = made && sys.lstat(address);
  if (made !== undefined && (there?.ino !== made.inode || there.birthtimeMs !== made.born)) return;
  try {
    sys.rmdir(address);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
  }
}

function restoreMode(step: ModeStep, scene: StepContext): void {
  const there = sys.lstat(scene.places.address(step.at));
  if (step.inode === undefined || there?.ino === step.inode) changeMode(step, scene, step.before);
}

function asideOf(step: MoveStep, scene: StepContext): Address {
  const { aside = "", asidePlace = step.to.place } = step.replaces ?? {};
  return scene.places.address({ place: asidePlace, name: aside });
}

function isSame(stat: { ino: number; size: number; mtimeMs: number }, known: FileIdentity): boolean {
  return stat.ino === known.inode && stat.size === known.size && stat.mtimeMs === known.modified;
}

/** Only the new bytes and zeros: what a power cut leaves of an unflushed file. */
function isTorn(address: Address, wanted: Uint8Array): boolean {
  const found = contentAt(address);
  if (found === undefined || found.length > wanted.length) return false;
  return found.every((byte, i) => byte === 0 || byte === wanted[i]);
}

function holds(address: Address, bytes: Uint8Array): boolean {
  return contentAt(address)?.equals(bytes) ?? false;
}

const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

function isWithoutLinks(error: unknown): boolean {
  return withoutLinks.has(errnoOf(error) ?? "");
}

/** Whether a directory will not take links at all: another mount, taken away, or closed. */
function isRefusal(error: unknown): boolean {
  return isWithoutLinks(error) || ["ENOENT", "ENOTDIR", "EACCES", "EROFS"].includes(errnoOf(error) ?? "");
}
