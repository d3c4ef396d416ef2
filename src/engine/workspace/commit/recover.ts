// After a crash: every commit that a dead process left half done is brought to all or to nothing. Doing it twice,
// or being killed in the middle of it, changes nothing. A commit whose directories are gone is left alone.
import { join } from "node:path";
import { Archive, atOnce } from "../archive/archive.ts";
import { bootId } from "./identity.ts";
import { readJournal } from "./journal.ts";
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
}

/** Recovers what dead processes left. Never touches the journal of a living one. */
export function recover(state: StateDirectory): void {
  const archive = new Archive(state.path);
  for (const folder of state.claim()) {
    const unflushed = new Unflushed();
    const journals = sys
      .names(folder)
      .map(String)
      .filter(name => name.startsWith("journal-"))
      .map(name => readJournal(join(folder, name)))
      .sort((a, b) => (a[0]?.generation ?? 0) - (b[0]?.generation ?? 0));
    let settled = true;
    for (const tale of talesOf(journals.flat())) {
      try {
        settle(tale, { archive, unflushed });
      } catch {
        settled = false; // one that cannot be (a disk that fails) must not keep the others from it
      }
    }
    settled &&= isFlushed(unflushed); // only then does nobody need the journal any more
    if (settled || state.isOld(folder)) state.bury(folder);
    else state.giveBack(folder);
  }
  state.sweepAside();
}

function isFlushed(unflushed: Unflushed): boolean {
  try {
    unflushed.flushNow();
    return true;
  } catch {
    return false;
  }
}

/** Brings one commit to its end; what it did is left to be recorded and flushed by whoever does not do so himself. */
export function settle(tale: Tale, legacy?: Legacy): void {
  const { intent } = tale;
  const powerCut = intent.boot !== bootId();
  using places = Places.reopen(intent.places, !powerCut);
  const scene: Scene = {
    places,
    inodes: tale.inodes,
    blob: range => tale.blob.subarray(range.at, range.at + range.length),
    single: intent.steps.length === 1,
    powerCut,
  };
  let happened = tale.state === "done";
  if (tale.state === "abort") takeBack(tale, scene);
  else if (tale.state === "commit" || (happened && powerCut))
    happened = bringForward(tale, scene) || happened;
  if (tale.state === "commit" || tale.state === "done") {
    if (happened && legacy !== undefined) {
      remember(tale, legacy.archive, scene);
      const there = intent.steps.filter(step => placesOf(step).every(place => isThere(places, place)));
      legacy.unflushed.note(there, places, () => false);
    }
    removeAll(intent.trash, places);
  }
  removeAll(intent.temps, places);
}

function placesOf(step: Step): number[] {
  return step.do === "move" ? [step.from.place, step.to.place] : [step.at.place];
}

/** A change that nobody came to record. What cannot be recorded has happened all the same. */
function remember({ intent: { id, account } }: Tale, archive: Archive, { places, blob }: Scene): void {
  try {
    atOnce(archive.record(id, account, { places, blob }));
  } catch {
    // There is no history of it then.
  }
}

/** Whether it came to its end. */
function bringForward(tale: Tale, scene: Scene): boolean {
  const { steps } = tale.intent;
  const possible = isPossible(steps, scene);
  if (possible) for (const [i, step] of steps.entries()) redo(step, i, scene);
  else if (tale.state === "commit") takeBack(tale, scene);
  return possible;
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
