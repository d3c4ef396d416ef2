// What the journal holds about commits. An intent says all that is about to happen; what follows it under the
// same id says how far it came:
//   nothing   it never happened: remove what was staged
//   "commit"  it happened: bring it to its end
//   "abort"   it failed: take it back
//   "done"    nothing is left but old content to remove, and files to flush
//   "settled" a process that recovered it has left nothing to do
import { isAbsolute } from "node:path";
import type { Account } from "../archive/account.ts";
import type { TemporaryNames } from "../archive/log.ts";
import type { JournalRecord } from "./journal.ts";
import { isSingleName, type PlaceRecord, type Spot } from "./place.ts";
import type { Step } from "./step.ts";
import { isTemporaryName } from "./temporary.ts";

export interface Intent {
  readonly is: "intent";
  readonly id: string;
  readonly boot: string;
  readonly places: readonly PlaceRecord[];
  readonly steps: readonly Step[];
  readonly temps: readonly Spot[];
  readonly trash: readonly Spot[];
  /** For the archive: what will have been done. */
  readonly account: Account;
  /** Earlier commits of the same process, all of which was flushed to its place before this one began. */
  readonly flushed?: readonly string[];
}

export type Mark =
  | { readonly is: "commit"; readonly id: string; readonly inodes: readonly number[] }
  | { readonly is: "abort"; readonly id: string }
  | { readonly is: "done"; readonly id: string }
  | { readonly is: "settled"; readonly id: string };

/** A commit as a journal tells it. */
export interface Tale {
  readonly intent: Intent;
  readonly blob: Buffer;
  inodes: readonly number[];
  state: "staged" | "commit" | "abort" | "done";
  /** Whether all that it put in place is on the disk: a later commit may have moved or removed it since. */
  flushed?: boolean;
  /** New contents that are too large for the journal, by their hash, where they are still at hand. */
  readonly contents?: ReadonlyMap<string, Uint8Array>;
}

export function talesOf(records: readonly JournalRecord[]): Tale[] {
  const tales = new Map<string, Tale>();
  for (const { body, blob } of records) {
    const entry = body as Intent | Mark | { is: "start" };
    if (entry.is === "intent") tales.set(entry.id, { intent: entry, blob, inodes: [], state: "staged" });
    if (entry.is === "start" || entry.is === "intent") continue;
    const tale = tales.get(entry.id);
    if (tale === undefined) continue;
    if (entry.is === "settled") {
      tales.delete(entry.id);
      continue;
    }
    if (entry.is === "commit") tale.inodes = entry.inodes;
    // An abort that came to its end is nothing any more: only its temporary files may be left.
    if (entry.is === "done" && tale.state === "abort") tale.state = "staged";
    else tale.state = entry.is;
  }
  for (const { intent } of [...tales.values()]) {
    for (const id of intent.flushed ?? []) {
      const tale = tales.get(id);
      if (tale !== undefined) tale.flushed = true;
    }
  }
  return [...tales.values()];
}

/** Whether all that an intent names is a single name in one of its directories, and what it removes is temporary. */
export function isSound({ id, places, steps, temps, trash, account }: Intent): boolean {
  try {
    const isSpot = ({ place, name }: Spot) => places[place] !== undefined && isSingleName(name);
    const recorded = account.files.flatMap(({ before, after, replaced }) => [before, after, replaced]);
    return (
      /^[0-9a-z]+$/.test(id) &&
      places.every((place, i) =>
        "at" in place ? isAbsolute(place.at) : place.within < i && isSingleName(place.name),
      ) &&
      steps.flatMap(spotsOf).every(isSpot) &&
      [...temps, ...trash].every(spot => isSpot(spot) && isTemporaryName(spot.name)) &&
      recorded.every(kept => kept?.spot === undefined || isSpot(kept.spot))
    );
  } catch {
    return false;
  }
}

/** The temporary names of a commit in the directories of users. Those aside are removed with the state directory's. */
export function temporaryNamesOf({ places, temps, trash }: Intent): TemporaryNames[] {
  const found = new Map<number, string[]>();
  for (const { place, name } of [...temps, ...trash]) {
    const names = found.get(place);
    if (names === undefined) found.set(place, [name]);
    else names.push(name);
  }
  return [...found].flatMap(([place, names]) => {
    const at = places[place];
    return at !== undefined && "at" in at && !at.aside ? [{ at, names }] : [];
  });
}

/** Every name that a step works on. */
export function spotsOf(step: Step): Spot[] {
  if (step.do === "dismantle") return [step.at, step.staged, step.copy, step.begun];
  if (step.do !== "move") return [step.at];
  const { from, to, replaces } = step;
  if (replaces === undefined) return [from, to];
  return [from, to, { place: replaces.asidePlace ?? to.place, name: replaces.aside }];
}
