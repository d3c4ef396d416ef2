// Places of the program's own directories: state, configuration, compiled code. What is there decides what the next
// start allows and runs, so no caller may put anything there. Where a root holds such a place, the directory is made
// if it is missing and concealed by its identity (concealed.ts): then it is not seen or reached, the directories above
// it cannot be moved or removed, and the sandbox covers it. Its path is kept as well: a program of the user may remove
// the directory while the server runs, and a link on the way may lead elsewhere.
import { Fault } from "../fault.ts";
import { makeDirectory } from "./commit/state.ts";
import { conceal } from "./concealed.ts";
import { display } from "./handle.ts";
import { Location } from "./location.ts";
import { type Access, isWithin, mayLieIn } from "./root.ts";

const own = new Set<string>();
/** Those that are in a root, in their written form (name.ts): as they were named, and without links. */
const reserved = new Set<string>();

/** Names the program's own directories, before roots are opened. */
export function noteOwn(places: readonly string[]): void {
  for (const place of places) own.add(place);
}

/** Reserves those of the program's own directories that are in one of these. To be called before they are served. */
export function reserveIn(roots: readonly { readonly path: string; readonly access: Access }[]): void {
  for (const place of own) {
    const path = canonical(place);
    const within = roots.filter(root => isWithin(path, canonical(root.path)));
    if (within.length === 0) continue;
    reserved.add(place).add(display(path));
    if (within.some(({ access }) => access === "read-write")) makeIfPossible(place);
    conceal(place);
  }
}

function canonical(place: string): string {
  using location = new Location(place);
  return location.path;
}

/** Where the server cannot make it, no caller can: they are the same user. */
function makeIfPossible(place: string): void {
  try {
    makeDirectory(place);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

/** Whether a path is one of these places or inside one, in any spelling. */
export function isReserved(path: string): boolean {
  for (const place of reserved) if (mayLieIn(path, place)) return true;
  return false;
}

/** Whether one of these places is below a path. */
export function isAboveReserved(path: string): boolean {
  for (const place of reserved) if (place !== path && mayLieIn(place, path)) return true;
  return false;
}
