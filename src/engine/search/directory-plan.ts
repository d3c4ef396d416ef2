// How a walk goes through one directory: which entries the rules include, in which order, and where among them it
// descends. It depends only on the directory's names and the rules, so it can be cached with them.
//
// The order is that of the printed paths as bytes. `a`, `a.txt`, `a/b` are in order, so a directory has two positions
// among its siblings: its own, under its name, and that of its contents, under its name and a slash.
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import type { HiddenNames } from "../workspace/hidden-names.ts";
import { directoryMark, entryAt, fileMark, sortAsUnits } from "../workspace/packed-names.ts";
import { EntryRun } from "./entry-run.ts";
import type { Globs } from "./globs.ts";
import type { IgnoreRules } from "./ignore.ts";
import { compareBytes } from "./order.ts";

/** "tree": what is in a directory comes right after it. "paths": the order is that of the printed paths. */
export type WalkOrder = "paths" | "tree";

export interface DirectoryPlan {
  readonly stretches: readonly EntryRun[];
  /** Entries that the rules leave out; `.git` does not count. */
  readonly leftOut: number;
}

/**
 * The input of a plan. Paths are "" or end with a slash: of the start, from the top (ignore-context.ts), and from
 * there on.
 */
export interface PlanContext {
  readonly rules: IgnoreRules;
  readonly top: string;
  readonly prefix: string;
  readonly order: WalkOrder;
  readonly exclude: Globs | undefined;
  /** The names that the policy hides, and the canonical path of the start, by which it decides. */
  readonly hidden: HiddenNames | undefined;
  readonly place: string;
}

/** A consumer may open each file of a run, while other work waits. */
const longest = 500;

/** `names` are packed (workspace/packed-names.ts) and sorted. */
export function planOf(names: string, occasion: PlanContext): DirectoryPlan {
  const { rules, top, prefix, order, exclude, hidden, place } = occasion;
  const directoryPath = top + prefix;
  const directory = hidden === undefined ? "" : `${place}/${prefix}`.slice(0, -1);
  const stretches: EntryRun[] = [];
  const waiting: DirectoryEntry[] = []; // to go down into, the next one last
  let stretch = ""; // what belongs to the run, up to `from`
  let from = 0;
  let count = 0;
  let files = 0;
  let leftOut = 0;
  let end: number;
  // Every name of a first walk comes here before this is optimized: no closure shares these variables, which would
  // make each access slower.
  for (let at = 0; at < names.length; at = end + 1) {
    end = names.indexOf("\0", at);
    const name = names.slice(at + 1, end);
    const mark = names.charCodeAt(at);
    const isDirectory = mark === directoryMark;
    const isHidden = hidden?.has(directory, name) ?? false;
    if (isHidden || rules.ignores(directoryPath, name, isDirectory)) {
      if (!isHidden && name !== ".git") leftOut++;
      stretch += names.slice(from, at);
      from = end + 1;
      continue;
    }
    if (exclude !== undefined && leaves(exclude, prefix + name, isDirectory)) {
      stretch += names.slice(from, at);
      from = end + 1;
      continue;
    }
    while (waiting.length > 0 && isBefore(waiting[waiting.length - 1] as DirectoryEntry, name)) {
      stretches.push(new EntryRun(stretch + names.slice(from, at), files, waiting.pop()));
      stretch = "";
      from = at;
      count = 0;
      files = 0;
    }
    count++;
    if (mark === fileMark) files++;
    else if (isDirectory && order === "paths") wait(waiting, entryAt(names, at, end));
    const into = isDirectory && order === "tree" ? entryAt(names, at, end) : undefined;
    if (into === undefined && count < longest) continue;
    stretches.push(new EntryRun(stretch + names.slice(from, end + 1), files, into));
    stretch = "";
    from = end + 1;
    count = 0;
    files = 0;
  }
  if (count > 0 || waiting.length > 0)
    stretches.push(new EntryRun(stretch + names.slice(from), files, waiting.pop()));
  while (waiting.length > 0) stretches.push(new EntryRun("", 0, waiting.pop()));
  return { stretches, leftOut };
}

/** Whether an exclusion leaves an entry out; a directory is left out with all that it holds. */
function leaves(exclude: Globs, path: string, isDirectory: boolean): boolean {
  return isDirectory ? exclude.covers(path) : exclude.matches(path);
}

/** Whether what is in a directory comes before a name. */
function isBefore(directory: DirectoryEntry, name: string): boolean {
  // Most names are no longer form of another.
  if (!name.startsWith(directory.name)) return true;
  return name.length > directory.name.length && name.charCodeAt(directory.name.length) > 47;
}

/** Later entries come before pending ones, unless the two compare equal. */
function wait(waiting: DirectoryEntry[], entry: DirectoryEntry): void {
  let place = waiting.length;
  while (place > 0 && waiting[place - 1]?.name === entry.name) place--;
  waiting.splice(place, 0, entry);
}

/** Sorted by the bytes of their names, which is also the system's order if it has one. */
export function sorted(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  return entries.toSorted(entries.every(({ name }) => sortAsUnits(name)) ? byUnits : byBytes);
}

function byUnits(a: DirectoryEntry, b: DirectoryEntry): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function byBytes(a: DirectoryEntry, b: DirectoryEntry): number {
  return compareBytes(a.name, b.name) || Buffer.compare(a.raw ?? noBytes, b.raw ?? noBytes);
}

const noBytes = Buffer.alloc(0);
