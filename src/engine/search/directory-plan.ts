// How a walk goes through one directory: which entries the rules include, in which order, and where among them it
// descends. It depends only on the directory's names and the rules, so it can be cached with them.
//
// The order is that of the printed paths as bytes. `a`, `a.txt`, `a/b` are in order, so a directory has two positions
// among its siblings: its own, under its name, and that of its contents, under its name and a slash.
import type { DirectoryEntry } from "../workspace/directory.ts";
import type { HiddenNames } from "../workspace/hidden-names.ts";
import type { Globs } from "./globs.ts";
import type { IgnoreRules } from "./ignore.ts";
import { compareBytes } from "./order.ts";

/** "tree": what is in a directory comes right after it. "paths": the order is that of the printed paths. */
export type WalkOrder = "paths" | "tree";

/** Entries that stay valid until the directory changes, and data derived from them. */
export interface EntryBatch {
  readonly entries: readonly DirectoryEntry[];
  /** Set by the last consumer. */
  text?: BatchText;
}

export interface BatchText {
  /** What kind of text it is. */
  readonly form: string;
  readonly text: string;
  /** How many of the entries it is about. */
  readonly count: number;
}

/** Entries that follow each other, and the directory to go down into after them. */
export interface EntryRun extends EntryBatch {
  /** How many of them are files. */
  readonly files: number;
  readonly into: DirectoryEntry | undefined;
  /** Those of the entries that the latest globs match. */
  chosen?: EntryBatch & { readonly include: Globs };
}

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

/** `entries` are sorted by name. */
export function planOf(entries: readonly DirectoryEntry[], occasion: PlanContext): DirectoryPlan {
  const { rules, top, prefix, order, exclude, hidden, place } = occasion;
  const directoryPath = top + prefix;
  const directory = hidden === undefined ? "" : `${place}/${prefix}`.slice(0, -1);
  const stretches: EntryRun[] = [];
  const waiting: DirectoryEntry[] = []; // to go down into, the next one last
  let stretch: DirectoryEntry[] = [];
  let files = 0;
  let leftOut = 0;
  // Every name of a first walk comes here before this is optimized: no closure shares these variables, which would
  // make each access slower.
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as DirectoryEntry;
    const { name, kind } = entry;
    const isDirectory = kind === "directory";
    if (hidden?.has(directory, name)) continue;
    if (rules.ignores(directoryPath, name, isDirectory)) {
      if (name !== ".git") leftOut++;
      continue;
    }
    if (exclude !== undefined && leaves(exclude, prefix + name, isDirectory)) continue;
    while (waiting.length > 0 && isBefore(waiting[waiting.length - 1] as DirectoryEntry, name)) {
      stretches.push({ entries: stretch, files, into: waiting.pop() });
      stretch = [];
      files = 0;
    }
    stretch.push(entry);
    if (kind === "file") files++;
    else if (isDirectory && order === "paths") wait(waiting, entry);
    const into = isDirectory && order === "tree" ? entry : undefined;
    if (into === undefined && stretch.length < longest) continue;
    stretches.push({ entries: stretch, files, into });
    stretch = [];
    files = 0;
  }
  if (stretch.length > 0 || waiting.length > 0)
    stretches.push({ entries: stretch, files, into: waiting.pop() });
  while (waiting.length > 0) stretches.push({ entries: [], files: 0, into: waiting.pop() });
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

/** Names for which the order of code units may not be that of bytes; among them those with marks for bytes. */
const beyondUnits = /[\ud800-\uffff]/;

/** Sorted by the bytes of their names, which is also the system's order if it has one. */
export function sorted(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  return entries.toSorted(sortAsUnits(entries) ? byUnits : byBytes);
}

/** Whether the code units of these names sort as their bytes do. */
export function sortAsUnits(entries: readonly DirectoryEntry[]): boolean {
  for (const { name } of entries) if (beyondUnits.test(name)) return false;
  return true;
}

function byUnits(a: DirectoryEntry, b: DirectoryEntry): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function byBytes(a: DirectoryEntry, b: DirectoryEntry): number {
  return compareBytes(a.name, b.name) || Buffer.compare(a.raw ?? noBytes, b.raw ?? noBytes);
}

const noBytes = Buffer.alloc(0);
