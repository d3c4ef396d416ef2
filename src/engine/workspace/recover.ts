// After a crash: every commit that a dead process left half done is brought to all or to nothing. Doing it twice,
// or being killed in the middle of it, changes nothing. A commit whose directories are gone is left alone.
import { join } from "node:path";
import { bootId } from "./identity.ts";
import { readJournal } from "./journal.ts";
import { addressOf, Places, type Spot } from "./place.ts";
import { purge } from "./purge.ts";
import { type Tale, talesOf } from "./record.ts";
import type { StateDirectory } from "./state.ts";
import { canRedo, redo, type Scene, undo } from "./step.ts";
import { sys } from "./syscalls.ts";

/** Recovers what dead processes left. Never touches the journal of a living one. */
export function recover(state: StateDirectory): void {
  for (const folder of state.claim()) {
    const journals = sys
      .names(folder)
      .map(String)
      .filter(name => name.startsWith("journal-"))
      .map(name => readJournal(join(folder, name)))
      .sort((a, b) => (a[0]?.generation ?? 0) - (b[0]?.generation ?? 0));
    for (const tale of talesOf(journals.flat())) {
      try {
        settle(tale);
      } catch {
        // One commit that cannot be settled (a disk that fails) must not keep the others from it.
      }
    }
    state.bury(folder);
  }
}

/** Brings one commit to its end. */
export function settle(tale: Tale): void {
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
  if (tale.state === "abort") takeBack(tale, scene);
  else if (tale.state === "commit" || (tale.state === "done" && powerCut)) bringForward(tale, scene);
  if (tale.state === "commit" || tale.state === "done") removeAll(intent.trash, places);
  removeAll(intent.temps, places);
}

function bringForward(tale: Tale, scene: Scene): void {
  const { steps } = tale.intent;
  if (isPossible(steps, scene)) {
    for (const [i, step] of steps.entries()) redo(step, i, scene);
  } else if (tale.state === "commit") takeBack(tale, scene);
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
