// After a crash: every commit that a dead process left half done is brought to all or to nothing. Doing it twice,
// or being killed in the middle of it, changes nothing. A commit whose directories are gone is left alone.
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import { Archive, atOnce } from "../archive/archive.ts";
import { errnoOf } from "../errno.ts";
import { bootId } from "./identity.ts";
import { readJournal } from "./journal.ts";
import { Outage } from "./outage.ts";
import { addressOf, Places, type Spot } from "./place.ts";
import { purge } from "./purge.ts";
import { type Tale, talesOf } from "./record.ts";
import type { StateDirectory } from "./state.ts";
import { canRedo, redo, type Scene, type Step, undo } from "./step.ts";
import { sys } from "./syscalls.ts";
import { Unflushed } from "./unflushed.ts";

/** What a dead process has yet to do about its commits: to record what they did, and to flush it to its place. */
interface Legacy {
  readonly archive: Archive;
  readonly unflushed: Unflushed;
  readonly outage: Outage;
}

/** What a dead process left. */
interface Estate {
  readonly folder: string;
  readonly tales: readonly Tale[];
  readonly unflushed: Unflushed;
  settled: boolean;
}

/** Recovers what dead processes left. Never touches the journal of a living one. */
export function recover(state: StateDirectory): void {
  const archive = new Archive(state.path);
  const estates = state.claim().map(estateIn);
  // In the order in which they happened, whichever process made them: one builds on what another wrote.
  const tales = estates
    .flatMap(estate => estate.tales.map(tale => ({ tale, estate })))
    .sort((a, b) => (a.tale.intent.id < b.tale.intent.id ? -1 : 1));
  const outage = new Outage(tales.map(({ tale }) => tale));
  for (const { tale, estate } of tales) {
    // One that cannot be settled (a disk that fails) must not keep the others from it.
    attempt(estate, () => settle(tale, { archive, unflushed: estate.unflushed, outage }));
  }
  const recorded = succeeds(() => archive.flushNow());
  for (const estate of estates) {
    const { folder, unflushed } = estate;
    estate.settled &&= recorded; // the journal and old content stay until the archive is on the disk
    if (estate.settled)
      for (const tale of estate.tales) attempt(estate, () => removeLeftovers(tale, unflushed, outage));
    attempt(estate, () => unflushed.flushNow());
    if (estate.settled || state.isOld(folder)) state.bury(folder);
    else state.giveBack(folder);
  }
  state.sweepAside();
}

function estateIn(folder: string): Estate {
  const journals = sys
    .names(folder)
    .map(String)
    .filter(name => name.startsWith("journal-"))
    .map(name => readJournal(join(folder, name)))
    .sort((a, b) => (a[0]?.generation ?? 0) - (b[0]?.generation ?? 0));
  return { folder, tales: talesOf(journals.flat()), unflushed: new Unflushed(), settled: true };
}

function attempt(estate: Estate, action: () => void): void {
  if (!succeeds(action)) estate.settled = false;
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
function removeLeftovers({ intent, state }: Tale, unflushed: Unflushed, outage: Outage): void {
  using places = Places.reopen(intent.places, intent.boot === bootId(), at => outage.hasMade(at));
  const spots = [...(state === "commit" || state === "done" ? intent.trash : []), ...intent.temps];
  removeAll(spots, places);
  unflushed.noteRemoved(
    spots.filter(({ place }) => isThere(places, place)),
    places,
  );
}

/** Brings one commit to its end. With `legacy`, what it did is also recorded, and its leftovers are removed later. */
export function settle(tale: Tale, legacy?: Legacy): void {
  const { intent } = tale;
  const powerCut = intent.boot !== bootId();
  using places = Places.reopen(intent.places, !powerCut, at => legacy?.outage.hasMade(at) ?? false);
  const scene: Scene = {
    places,
    inodes: tale.inodes,
    blob: range => tale.blob.subarray(range.at, range.at + range.length),
    single: intent.steps.length === 1,
    powerCut,
  };
  let happened =
    tale.state === "done" || tale.flushed === true || (powerCut && legacy?.outage.isOver(tale)) === true;
  if (tale.state === "abort") takeBack(tale, scene);
  else if (happened && powerCut && !tale.flushed) redoWhatIsLost(tale, scene, legacy?.outage);
  else if (tale.state === "commit" && !happened) happened = bringForward(tale, scene, legacy?.outage);
  if (legacy === undefined) {
    if (tale.state === "commit" || tale.state === "done") removeAll(intent.trash, places);
    removeAll(intent.temps, places);
  } else if (happened && (tale.state === "commit" || tale.state === "done")) {
    remember(tale, legacy.archive, scene);
    const there = intent.steps.filter(step => placesOf(step).every(place => isThere(places, place)));
    legacy.unflushed.note(intent.id, there, places, () => false);
  }
}

function placesOf(step: Step): number[] {
  return step.do === "move" ? [step.from.place, step.to.place] : [step.at.place];
}

/** A change that is not recorded yet. Where its content is gone, history still says that it happened. */
function remember({ intent: { id, account } }: Tale, archive: Archive, scene: Scene): void {
  const { places, blob, powerCut } = scene;
  try {
    atOnce(archive.record(id, account, { places, blob, powerCut }));
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof Fault) archive.recordUnkept(id, account);
    else throw error; // a disk that is full or fails: the journal stays for another try
  }
}

/** Whether it came to its end. */
function bringForward(tale: Tale, scene: Scene, outage?: Outage): boolean {
  const { steps } = tale.intent;
  const possible = isPossible(steps, scene);
  if (possible) {
    for (const [i, step] of steps.entries()) {
      outage?.note(step, scene.places);
      redo(step, i, scene);
    }
  } else takeBack(tale, scene);
  return possible;
}

/**
 * After a power cut, does again what the disk has lost of a commit that is known to have happened. What a later commit
 * or somebody else has replaced since stays as it is.
 */
function redoWhatIsLost(tale: Tale, scene: Scene, outage?: Outage): void {
  for (const [i, step] of tale.intent.steps.entries()) {
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (!isThere(scene.places, place) || !canRedo(step, i, scene)) continue;
    outage?.note(step, scene.places);
    redo(step, i, scene);
  }
}

/** Steps in directories that are still to be made are possible when what comes before them is. */
function isPossible(steps: Tale["intent"]["steps"], scene: Scene): boolean {
  return steps.every((step, i) => {
    if (step.do === "make") return true;
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (scene.places.isNew(place) && !isThere(scene.places, place)) return true;
    return canRedo(step, i, scene);
  });
}

function isThere(places: Places, place: number): boolean {
  try {
    places.handle(place);
    return true;
  } catch {
    return false;
  }
}

export function takeBack(tale: Pick<Tale, "intent">, scene: Scene): void {
  const { steps } = tale.intent;
  for (const [i, step] of [...steps.entries()].reverse()) {
    const place = step.do === "move" ? step.to.place : step.at.place;
    if (isThere(scene.places, place)) undo(step, i, scene);
  }
}

export function removeAll(spots: readonly Spot[], places: Places): void {
  for (const spot of spots) {
    if (isThere(places, spot.place)) purge(places.handle(spot.place), addressOf(spot.name));
  }
}
