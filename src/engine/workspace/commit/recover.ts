// Crash recovery: completes or rolls back every commit that a dead process left unfinished. It is idempotent, and may
// be killed at any point. A commit whose directories are gone is left alone.
//
// A journal is untrusted input. Only authentic records are read, and a commit is recovered only if every directory
// that it works in is in a root that this process may write to. The others stay in their folder, for a process that
// has the grants.

import { basename, dirname } from "node:path/posix";
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
import type { Handle } from "../handle.ts";
import type { Root } from "../root.ts";
import { type DeadProcess, estateIn, leave } from "./dead-process.ts";
import { NotGranted, openGranted } from "./granted-directories.ts";
import { changesOf, type JournalledCommit, temporaryNamesOf } from "./journalled-commit.ts";
import { PowerCut, pathOf } from "./power-cut.ts";
import { purge } from "./purge.ts";
import { removeRevived } from "./restored-names.ts";
import type { StateDirectory } from "./state.ts";
import { canRedo, redo, removeOldName, type Step, undo } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import { movedEntries, type Unflushed } from "./unflushed.ts";

/** The work that a dead process left: recording its commits, and flushing them. */
interface Legacy {
  readonly archive: Archive;
  readonly unflushed: Unflushed;
  readonly outage: PowerCut;
  readonly open: (journalled: {
    readonly intent: Pick<JournalledCommit["intent"], "boot">;
  }) => (record: FoundDirectory) => Handle | undefined;
}

/** Recovers what dead processes left in these roots. Never touches the journal of a living one. */
export function recover(state: StateDirectory, roots: readonly Root[]): void {
  const archive = new Archive(state.path);
  const estates = state.claim().map(folder => estateIn(folder, state.key));
  // In the order in which they happened, whichever process made them: one builds on what another wrote.
  const commits = estates
    .flatMap(estate => estate.commits.map(journalled => ({ journalled, estate })))
    .sort((a, b) => (a.journalled.intent.id < b.journalled.intent.id ? -1 : 1));
  const journalled = commits.map(one => one.journalled);
  const outage = new PowerCut(journalled, () => archive.changes.newest());
  const open = openGranted(state, roots, outage);
  for (const { journalled, estate } of commits) {
    try {
      flushBeneath(journalled, estates);
      settle(journalled, { archive, unflushed: estate.unflushed, outage, open });
      estate.settled.push(journalled);
    } catch (error) {
      // A commit that cannot be settled (the disk fails) must not block the others.
      (error instanceof NotGranted ? estate.others : estate.failed).push(journalled);
    }
  }
  const recorded = succeeds(() => archive.flushNow());
  for (const estate of estates) {
    const { settled, unflushed } = estate;
    // The journal and old content stay until the archive is on the disk.
    const cleared = recorded
      ? settled.filter(journalled =>
          succeeds(() => removeLeftovers(journalled, { archive, unflushed, outage, open })),
        )
      : [];
    const flushed = succeeds(() => unflushed.flushNow());
    leave(estate, flushed ? cleared : [], state);
  }
  if (recorded) removeRevived(state, roots, archive, open({ intent: { boot: "" } }));
  state.sweepAside();
}

/**
 * As before any move: what is moved or removed is flushed where earlier commits put it. Afterwards it would not be found
 * there, and could be lost while their journals go.
 */
function flushBeneath(
  { intent: { steps, places } }: JournalledCommit,
  estates: readonly DeadProcess[],
): void {
  const moved = movedEntries(steps).flatMap(entry => pathOf(entry, places) ?? []);
  for (const { unflushed } of estates)
    if (moved.some(path => unflushed.overlaps(dirname(path), basename(path)))) unflushed.flushNow();
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
function removeLeftovers(journalled: JournalledCommit, { unflushed, outage, open }: Legacy): void {
  const { intent, state } = journalled;
  using places = HeldDirectories.reopen(intent.places, open(journalled), at => outage.hasMade(at));
  const entries = [...(state === "commit" || state === "done" ? intent.trash : []), ...intent.temps];
  removeAll(entries, places);
  unflushed.noteRemoved(
    entries.filter(({ place }) => places.isThere(place)),
    places,
  );
}

/**
 * Completes one commit. With `legacy`, also records it, and leaves its remains to be removed later; without, removes
 * them here and notes them in `unflushed`.
 */
export function settle(journalled: JournalledCommit, legacy?: Legacy, unflushed?: Unflushed): void {
  const { intent } = journalled;
  const powerCut = intent.boot !== bootId();
  const open =
    legacy?.open(journalled) ?? (record => journalled.held?.open(record) ?? openRecorded(record, !powerCut));
  using places = HeldDirectories.reopen(intent.places, open, at => legacy?.outage.hasMade(at) ?? false);
  const scene: StepContext = {
    places,
    inodes: journalled.inodes,
    blob: range => journalled.blob.subarray(range.at, range.at + range.length),
    single: intent.steps.length === 1,
    made: journalled.made,
    powerCut,
  };
  let happened =
    journalled.state === "done" ||
    journalled.flushed === true ||
    (powerCut && legacy?.outage.isOver(journalled)) === true;
  if (journalled.state === "abort") takeBack(journalled, scene);
  else if (happened && powerCut && !journalled.flushed) redoWhatIsLost(journalled, scene, legacy?.outage);
  else if (journalled.state === "commit" && !happened)
    happened = bringForward(journalled, scene, legacy?.outage);
  if (legacy === undefined) {
    const isOver = journalled.state === "commit" || journalled.state === "done";
    const entries = [...(isOver ? intent.trash : []), ...intent.temps];
    removeAll(entries, places);
    unflushed?.noteRemoved(
      entries.filter(({ place }) => places.isThere(place)),
      places,
    );
    journalled.held?.[Symbol.dispose]();
  } else if (happened && (journalled.state === "commit" || journalled.state === "done")) {
    remember(journalled, legacy.archive, scene);
    const there = intent.steps.filter(step => placesOf(step).every(place => places.isThere(place)));
    legacy.unflushed.note(intent.id, there, places, () => false);
  }
}

function placesOf(step: Step): number[] {
  if (step.do === "dismantle") return [step.at.place, step.copy.place];
  return step.do === "move" ? [step.from.place, step.to.place] : [step.at.place];
}

/** A change that is not recorded yet. Where its content is gone, history still says that it happened. */
function remember({ intent }: JournalledCommit, archive: Archive, scene: StepContext): void {
  const temporary = temporaryNamesOf(intent);
  const { places, blob, powerCut } = scene;
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
function bringForward(journalled: JournalledCommit, scene: StepContext, outage?: PowerCut): boolean {
  const { steps } = journalled.intent;
  const possible = isPossible(steps, scene);
  if (possible) {
    for (const [i, step] of steps.entries()) {
      outage?.note(step, scene.places);
      redo(step, i, scene);
    }
  } else takeBack(journalled, scene);
  return possible;
}

/**
 * After a power cut, repeats what the disk has lost of a commit that is known to have happened. Anything replaced
 * since stays.
 */
function redoWhatIsLost(journalled: JournalledCommit, scene: StepContext, outage?: PowerCut): void {
  for (const [i, step] of journalled.intent.steps.entries()) {
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (!scene.places.isThere(place)) continue;
    if (canRedo(step, i, scene)) {
      outage?.note(step, scene.places);
      redo(step, i, scene);
    } else if (placesOf(step).every(one => scene.places.isThere(one))) removeOldName(step, i, scene);
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
