// Crash recovery: completes or rolls back every commit that a dead process left unfinished. It is idempotent, and may
// be killed at any point. A commit whose directories are gone is left alone.
//
// A journal is untrusted input. Only authentic records are read, and a commit is recovered only if every directory
// that it works in is in a root that this process may write to. The others stay in their folder, for a process that
// has the grants.

import { Fault } from "../../fault.ts";
import { Archive } from "../archive/archive.ts";
import {
  addressOf,
  type EntryRef,
  type FoundDirectory,
  HeldDirectories,
  openRecorded,
} from "../disk/held-directories.ts";
import { bootId } from "../disk/process-identity.ts";
import { errnoOf, isShortage } from "../errno.ts";
import { atOnce } from "../footprint/time-slice.ts";
import { estateIn, leave, noteRestored } from "./dead-process.ts";
import {
  DiskAway,
  type GrantedRoots,
  NotGranted,
  type OpenDirectories,
  openGranted,
} from "./granted-directories.ts";
import { changesOf, type JournalledCommit, temporaryNamesOf } from "./journalled-commit.ts";
import { PowerCut, pathOf } from "./power-cut.ts";
import { purge } from "./purge.ts";
import { removeRevived } from "./restored-names.ts";
import type { StateDirectory } from "./state.ts";
import { canRedo, redo, removeOldName, type Step, undo } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import type { Unflushed } from "./unflushed.ts";

/** The work that a dead process left: recording its commits, and flushing them. */
interface Legacy {
  readonly archive: Archive;
  readonly unflushed: Unflushed;
  readonly outage: PowerCut;
  readonly open: OpenDirectories;
}

/** A directory on a disk that is not there. */
export interface AwaitedDirectory {
  readonly record: FoundDirectory;
  readonly sameBoot: boolean;
}

/**
 * Recovers what dead processes left in the directories that one of these workspaces may write to. Never touches the
 * journal of a living one. Returns directories that show when there is more to do, because their disk is back.
 */
export function recover(state: StateDirectory, workspaces: readonly GrantedRoots[]): AwaitedDirectory[] {
  try {
    return recoverClaimed(state, workspaces);
  } finally {
    state.release(state.own); // nothing, unless recovery was cut short
  }
}

function recoverClaimed(state: StateDirectory, workspaces: readonly GrantedRoots[]): AwaitedDirectory[] {
  const archive = new Archive(state.path);
  const estates = state.claim().map(folder => estateIn(folder, state.key));
  // In the order in which they happened, whichever process made them: one builds on what another wrote.
  const commits = estates
    .flatMap(estate => estate.commits.map(journalled => ({ journalled, estate })))
    .sort((a, b) => (a.journalled.intent.id < b.journalled.intent.id ? -1 : 1));
  const known = estates.flatMap(({ commits, past }) => [...commits, ...past]);
  const outage = new PowerCut(
    known,
    () => archive.changes.newest(),
    () => state.standing().flatMap(folder => estateIn(folder, state.key).commits),
  );
  const open = openGranted(state, workspaces, outage);
  for (const { journalled, estate } of commits) {
    try {
      settle(journalled, { archive, unflushed: estate.unflushed, outage, open });
      estate.settled.push(journalled);
    } catch (error) {
      // A commit that cannot be settled (the disk fails) must not block the others.
      if (error instanceof DiskAway) estate.away.set(journalled, error.record);
      const isOthers = error instanceof NotGranted;
      (isOthers ? estate.others : estate.failed).push(journalled);
      if (isOthers && isOverHere(journalled, outage)) estate.over.add(journalled);
    }
  }
  const recorded = succeeds(() => archive.flushNow());
  const done = estates.map(({ folder, settled, over, unflushed }) => {
    // The journal and old content stay until the archive is on the disk.
    const cleared = recorded
      ? settled.filter(journalled =>
          succeeds(() => removeLeftovers(journalled, { archive, unflushed, outage, open })),
        )
      : [];
    if (!succeeds(() => unflushed.flushNow())) return [];
    succeeds(() => noteRestored(folder, [...over], state.key));
    return cleared;
  });
  // No journal goes before all that is here is done: the others may need it (power-cut.ts).
  const isAllDone = estates.every(
    ({ commits, others }, i) => done[i]?.length === commits.length - others.length,
  );
  for (const [i, estate] of estates.entries()) leave(estate, done[i] ?? [], state, open, !isAllDone);
  if (recorded) removeRevived(state, workspaces.flat(), archive, open);
  state.sweepAside();
  return estates.flatMap(({ away }) =>
    [...away].map(([{ intent }, record]) => ({ record, sameBoot: intent.boot === bootId() })),
  );
}

function succeeds(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** Removes old content and temporary files of a commit that is settled, recorded and flushed. */
function removeLeftovers(journalled: JournalledCommit, { unflushed, open }: Legacy): void {
  const { intent, state } = journalled;
  using places = HeldDirectories.reopen(intent.places, open(journalled));
  const entries = [...(state === "commit" || state === "done" ? intent.trash : []), ...intent.temps];
  removeAll(entries, places);
  unflushed.noteRemoved(
    entries.filter(({ place }) => places.isThere(place)),
    places,
  );
}

/**
 * Completes one commit. With `legacy`, also records it, and leaves its remains to be removed later; without, removes
 * them here and notes them in `unflushed`. One that happened and has to wait for some of its directories is repeated in
 * the others before that is thrown: later commits build on it.
 */
export function settle(given: JournalledCommit, legacy?: Legacy, unflushed?: Unflushed): void {
  const journalled = legacy === undefined ? given : byName(given, legacy.outage);
  const { intent } = journalled;
  const powerCut = intent.boot !== bootId();
  let happened = hasHappened(journalled, legacy?.outage);
  const open =
    legacy?.open(journalled) ?? (record => journalled.held?.open(record) ?? openRecorded(record, !powerCut));
  let waits: NotGranted | undefined;
  using places = HeldDirectories.reopen(intent.places, record => {
    try {
      return open(record);
    } catch (error) {
      if (!happened || !(error instanceof NotGranted)) throw error;
      waits ??= error;
      return undefined;
    }
  });
  const scene: StepContext = {
    places,
    inodes: journalled.inodes,
    blob: range => journalled.blob.subarray(range.at, range.at + range.length),
    single: intent.steps.length === 1,
    made: journalled.made,
    powerCut,
  };
  if (journalled.state === "abort") takeBack(journalled, scene);
  else if (happened && powerCut && !journalled.flushed) redoWhatIsLost(journalled, scene, legacy?.outage);
  else if (journalled.state === "commit" && !happened) happened = bringForward(journalled, scene);
  if (legacy === undefined) {
    const entries = [...(isMarked(journalled) ? intent.trash : []), ...intent.temps];
    removeAll(entries, places);
    unflushed?.noteRemoved(
      entries.filter(({ place }) => places.isThere(place)),
      places,
    );
    journalled.held?.[Symbol.dispose]();
  } else if (happened) {
    if (waits === undefined) remember(journalled, legacy.archive, scene);
    const there = intent.steps.filter(step => placesOf(step).every(place => places.isThere(place)));
    legacy.unflushed.note(intent.id, there, places, () => false);
  }
  if (waits === undefined) return;
  for (const place of placesHere(intent.steps, places)) journalled.restored?.add(place);
  throw waits;
}

/** The places in which no step needs another one that is not there: a move is repeated only where both are. */
function placesHere(steps: readonly Step[], places: HeldDirectories): number[] {
  const isHere = (step: Step) => placesOf(step).every(place => places.isThere(place));
  const torn = new Set(steps.filter(step => !isHere(step)).flatMap(placesOf));
  return steps.flatMap(placesOf).filter(place => !torn.has(place));
}

function isMarked({ state }: JournalledCommit): boolean {
  return state === "commit" || state === "done";
}

/** A commit without a mark has failed, or was never answered, whatever came after it. */
function hasHappened(journalled: JournalledCommit, outage: PowerCut | undefined): boolean {
  if (!isMarked(journalled)) return false;
  if (journalled.state === "done" || journalled.flushed) return true;
  return journalled.intent.boot !== bootId() && outage?.isOver(journalled) === true;
}

/** Whether a commit that waits has nothing to change any more in the directories that are here. */
function isOverHere(journalled: JournalledCommit, outage: PowerCut): boolean {
  return journalled.state === "staged" || hasHappened(journalled, outage);
}

/** The commit without the inodes of directories that may have been made again. */
function byName(journalled: JournalledCommit, outage: PowerCut): JournalledCommit {
  const { intent } = journalled;
  if (intent.boot === bootId()) return journalled;
  const steps = intent.steps.map((step): Step => {
    if (step.do !== "mode") return step;
    const at = pathOf(step.at, intent.places);
    return at !== undefined && outage.mayBeRemade(at, intent) ? { ...step, inode: undefined } : step;
  });
  return { ...journalled, intent: { ...intent, steps } };
}

function placesOf(step: Step): number[] {
  if (step.do === "dismantle") return [step.at.place, step.copy.place];
  return step.do === "move" ? [step.from.place, step.to.place] : [step.at.place];
}

/** A change that is not recorded yet. Where its content is gone, history still says that it happened. */
function remember({ intent }: JournalledCommit, archive: Archive, scene: StepContext): void {
  const { places, blob, powerCut } = scene;
  const temporary = temporaryNamesOf({ ...intent, places: places.records });
  for (const { id, account } of changesOf(intent)) {
    try {
      atOnce(archive.record(id, account, { places, blob, powerCut, temporary }));
    } catch (error) {
      if (errnoOf(error) === "ENOENT" || (error instanceof Fault && !isShortage(error)))
        archive.recordUnkept(id, account);
      else throw error; // a disk that is full or fails: the journal stays for another try
    }
  }
}

/** Completes a commit. Where that is not possible any more, rolls it back and returns false. */
function bringForward(journalled: JournalledCommit, scene: StepContext): boolean {
  const { steps } = journalled.intent;
  const possible = isPossible(steps, scene);
  if (possible) {
    for (const [i, step] of steps.entries()) redo(step, i, scene);
  } else takeBack(journalled, scene);
  return possible;
}

/**
 * After a power cut, repeats what the disk has lost of a commit that is known to have happened. Anything replaced
 * since stays. A directory that a later commit removed is not made again: that commit names this one as flushed.
 */
function redoWhatIsLost(journalled: JournalledCommit, scene: StepContext, outage?: PowerCut): void {
  const { intent } = journalled;
  for (const [i, step] of intent.steps.entries()) {
    const entry = step.do === "move" ? step.to : step.at;
    if (!scene.places.isThere(entry.place)) continue;
    if (journalled.restored?.has(entry.place)) continue;
    const isOvertaken = step.do !== "make" && outage?.isOvertaken(pathOf(entry, intent.places), intent);
    if (!isOvertaken && canRedo(step, i, scene)) redo(step, i, scene);
    else if (placesOf(step).every(one => scene.places.isThere(one))) removeOldName(step, i, scene);
  }
}

/** A step in a directory that is still to be created is possible if the steps before it are. */
function isPossible(steps: JournalledCommit["intent"]["steps"], scene: StepContext): boolean {
  return steps.every((step, i) => {
    if (step.do === "make") return true;
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (scene.places.isNew(place) && !scene.places.isThere(place)) return true;
    return canRedo(step, i, scene);
  });
}

export function takeBack(journalled: Pick<JournalledCommit, "intent">, scene: StepContext): void {
  const { steps } = journalled.intent;
  for (const [i, step] of [...steps.entries()].reverse()) {
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (scene.places.isThere(place)) undo(step, i, scene);
  }
}

export function removeAll(entries: readonly EntryRef[], places: HeldDirectories): void {
  for (const entry of entries) {
    if (places.isThere(entry.place)) purge(places.handle(entry.place), addressOf(entry.name));
  }
}
