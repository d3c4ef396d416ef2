// Places of the program's own directories: state, configuration, compiled code. What is there decides what the next
// start allows and runs, so no caller may put anything there. Where a root holds such a place, the directory is made
// if it is missing and concealed by its identity (concealed.ts): then it is not seen or reached, the directories above
// it cannot be moved or removed, and the sandbox covers it. Its path is kept as well: a program of the user may remove
// the directory while the server runs, and a link on the way may lead elsewhere.
//
// They are the user's, not only this process's: one that was told to keep its state or its compiled code elsewhere
// reserves the usual places all the same, because other servers of the user work there. A directory that is served
// read-only is no exception: another server would make the place later, and what it keeps there could be read.
import { Fault } from "../fault.ts";
import { makeDirectory } from "./commit/state.ts";
import { usualStatePaths } from "./commit/state-path.ts";
import { conceal } from "./concealed.ts";
import { display } from "./handle.ts";
import { Location } from "./location.ts";
import { isWithin, mayLieIn } from "./root.ts";
import { cacheDirectory, configurationDirectory } from "./system/user-places.ts";

const own = new Set<string>();
/** Those that are in a root, in their written form (name.ts): as they were named, and without links. */
const reserved = new Set<string>();

/** The usual places of the user, wherever this process keeps its own files. */
export function usualPlaces(environment: NodeJS.ProcessEnv): string[] {
  const others = [configurationDirectory(environment), cacheDirectory(environment)];
  return [...usualStatePaths(), ...others.filter(place => place !== undefined)];
}

/** Names the program's own directories besides the usual ones, before roots are opened. */
export function noteOwn(places: readonly string[]): void {
  for (const place of places) own.add(place);
}

/**
 * Reserves those of the program's own directories that are in one of these. To be called before they are served. A command
 * that only looks makes none: it is gone before another server can make one.
 */
export function reserveIn(roots: readonly string[], { makes = true } = {}): void {
  for (const place of new Set([...own, ...usualPlaces(process.env)])) {
    const path = canonical(place);
    if (!roots.some(root => isWithin(path, canonical(root)))) continue;
    reserved.add(place).add(display(path));
    if (makes) makeIfPossible(place);
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
