// After a crash: every commit that a dead process left half done is brought to all or to nothing. Doing it twice,
// or being killed in the middle of it, changes nothing. A commit whose directories are gone is left alone.
//
// A journal is input. Only what is authentic is read, and a commit is recovered only where every directory that it
// works in lies in a root that this process may write to, as for any other change. The others are left in their
// folder, for a process that has been granted them.
import { Fault } from "../../fault.ts";
import { Archive, atOnce } from "../archive/archive.ts";
import { errnoOf } from "../errno.ts";
import type { Handle } from "../handle.ts";
import type { Root } from "../root.ts";
import { estateIn, leave } from "./estate.ts";
import { NotGranted, openGranted } from "./granted-place.ts";
import { bootId } from "./identity.ts";
import { Outage } from "./outage.ts";
import { addressOf, type FoundPlace, identified, Places, type Spot } from "./place.ts";
import { purge } from "./purge.ts";
import { type Tale, temporaryNamesOf } from "./record.ts";
import { removeRevived } from "./revived.ts";
import type { StateDirectory } from "./state.ts";
import { canRedo, redo, type Scene, type Step, undo } from "./step.ts";
import type { Unflushed } from "./unflushed.ts";

/** What a dead process has yet to do about its commits: to record what they did, and to flush it to its place. */
interface Legacy {
  readonly archive: Archive;
  readonly unflushed: Unflushed;
  readonly outage: Outage;
  readonly open: (tale: {
    readonly intent: Pick<Tale["intent"], "boot">;
  }) => (record: FoundPlace) => Handle | undefined;
}

/** Recovers what dead processes left in these roots. Never touches the journal of a living one. */
export function recover(state: StateDirectory, roots: readonly Root[]): void {
  const archive = new Archive(state.path);
  const estates = state.claim().map(folder => estateIn(folder, state.key));
  // In the order in which they happened, whichever process made them: one builds on what another wrote.
  const tales = estates
    .flatMap(estate => estate.tales.map(tale => ({ tale, estate })))
    .sort((a, b) => (a.tale.intent.id < b.tale.intent.id ? -1 : 1));
  const outage = new Outage(tales.map(({ tale }) => tale));
  const open = openGranted(state, roots, outage);
  for (const { tale, estate } of tales) {
    try {
      settle(tale, { archive, unflushed: estate.unflushed, outage, open });
      estate.settled.push(tale);
    } catch (error) {
      // One that cannot be settled (a disk that fails) must not keep the others from it.
      (error instanceof NotGranted ? estate.others : estate.failed).push(tale);
    }
  }
  const recorded = succeeds(() => archive.flushNow());
  for (const estate of estates) {
    const { settled, unflushed } = estate;
    // The journal and old content stay until the archive is on the disk.
    const cleared = recorded
      ? settled.filter(tale => succeeds(() => removeLeftovers(tale, { archive, unflushed, outage, open })))
      : [];
    const flushed = succeeds(() => unflushed.flushNow());
    leave(estate, flushed ? cleared : [], state);
  }
  if (recorded) removeRevived(state, roots, archive, open({ intent: { boot: "" } }));
  state.sweepAside();
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
function removeLeftovers(tale: Tale, { unflushed, outage, open }: Legacy): void {
  const { intent, state } = tale;
  using places = Places.reopen(intent.places, open(tale), at => outage.hasMade(at));
  const spots = [...(state === "commit" || state === "done" ? intent.trash : []), ...intent.temps];
  removeAll(spots, places);
  unflushed.noteRemoved(
    spots.filter(({ place }) => isThere(places, place)),
    places,
  );
}

/**
 * Brings one commit to its end. With `legacy`, what it did is also recorded, and its leftovers are removed later;
 * without, they are removed here, and `unflushed` is told where.
 */
export function settle(tale: Tale, legacy?: Legacy, unflushed?: Unflushed): void {
  const { intent } = tale;
  const powerCut = intent.boot !== bootId();
  const open = legacy?.open(tale) ?? (record => identified(record, !powerCut));
  using places = Places.reopen(intent.places, open, at => legacy?.outage.hasMade(at) ?? false);
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
    const isOver = tale.state === "commit" || tale.state === "done";
    const spots = [...(isOver ? intent.trash : []), ...intent.temps];
    removeAll(spots, places);
    unflushed?.noteRemoved(
      spots.filter(({ place }) => isThere(places, place)),
      places,
    );
  } else if (happened && (tale.state === "commit" || tale.state === "done")) {
    remember(tale, legacy.archive, scene);
    const there = intent.steps.filter(step => placesOf(step).every(place => isThere(places, place)));
    legacy.unflushed.note(intent.id, there, places, () => false);
  }
}

function placesOf(step: Step): number[] {
  if (step.do === "dismantle") return [step.at.place, step.copy.place];
  return step.do === "move" ? [step.from.place, step.to.place] : [step.at.place];
}

/** A change that is not recorded yet. Where its content is gone, history still says that it happened. */
function remember({ intent }: Tale, archive: Archive, scene: Scene): void {
  const { id, account } = intent;
  const temporary = temporaryNamesOf(intent);
  const { places, blob, powerCut } = scene;
  try {
    atOnce(archive.record(id, account, { places, blob, powerCut, temporary }));
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
