// The ignore rules that hold where a walk or a search starts. Ignore files from the top down to the start count too;
// the top is the granted root, or the root of the repository that it is in.

import { Fault } from "../fault.ts";
import { directoriesAbove } from "../workspace/directories-above.ts";
import type { Directory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import { type IgnorePolicy, IgnoreRules, ruleEntries } from "./ignore.ts";
import { Reopener } from "./reopen.ts";

export interface IgnoreContext {
  /** The path of the start from the top: "" or with a final slash. */
  readonly prefix: string;
  /** The rules that hold when the start is entered; its own ignore files are not among them. */
  readonly rules: IgnoreRules;
}

export function ignoreContext(start: Directory, policy: IgnorePolicy): IgnoreContext {
  let rules = IgnoreRules.of(policy, start.root);
  let prefix = "";
  if (!policy.rules) return { prefix, rules };
  for (const { directory, name } of directoriesAbove(start)) {
    rules = rules.in(directory, prefix.slice(0, -1), ruleEntries(directory));
    prefix += `${name}/`;
  }
  return { prefix, rules };
}

/** Opens what ripgrep names, if the rules admit it. */
export function reopener(start: Directory, { prefix, rules }: IgnoreContext): Reopener {
  return new Reopener(start, prefix, rules);
}

/** Directories that are looked into before ripgrep starts, and lines that it gets: enough for what is at the top. */
const mostDirectories = 100;
const mostLines = 2000;
/**
 * Below the first level, directories are looked into for as long as that pays: so many of one parent in which nothing
 * is excluded, and so many in all, and the others are left to ripgrep.
 */
const mostBarrenSiblings = 8;
const mostBarren = 24;

/**
 * The paths near the start that the rules exclude, name by name, as one ignore file for a ripgrep that starts here.
 * It holds only decisions made with every ignore file above: a rule passed on as a pattern could hide what a deeper
 * ignore file re-includes. Deeper paths are found by ripgrep and excluded when they are read.
 */
export function rulesForRipgrep(start: Directory, { prefix, rules }: IgnoreContext): string {
  if (!rules.obeysFiles) return "";
  const lines: string[] = [];
  const waiting: PendingDirectory[] = [{ names: [], rules, path: prefix, siblings: { barren: 0 } }];
  let barren = 0;
  for (let i = 0; i < waiting.length && i < mostDirectories && lines.length < mostLines; i++) {
    const next = waiting[i] as PendingDirectory;
    const { names, siblings } = next;
    const isDeep = names.length > 1;
    if (isDeep && barren >= mostBarren) break;
    if (isDeep && siblings.barren >= mostBarrenSiblings) continue;
    const before = lines.length;
    look(start, next, waiting, lines);
    if (lines.length > before) siblings.barren = Number.NEGATIVE_INFINITY;
    else if (isDeep) {
      siblings.barren++;
      barren++;
    }
  }
  return lines.length === 0 ? "" : `${lines.slice(0, mostLines).join("\n")}\n`;
}

/** A directory below the start, with the rules that hold when it is entered. */
interface PendingDirectory {
  readonly names: readonly DirectoryEntry[];
  readonly rules: IgnoreRules;
  /** From the top: "" or with a final slash. */
  readonly path: string;
  /** How many directories of its parent had nothing that is excluded, if none had anything. Shared by all of them. */
  readonly siblings: { barren: number };
}

function look(
  start: Directory,
  { names, rules, path }: PendingDirectory,
  waiting: PendingDirectory[],
  lines: string[],
): void {
  const directory = descend(start, names);
  if (directory === undefined) return;
  try {
    const entries = directory.entries();
    const held = rules.in(directory, path.slice(0, -1), entries);
    const siblings = { barren: 0 };
    for (const entry of entries) {
      const isDirectory = entry.kind === "directory";
      if (held.ignores(path, entry.name, isDirectory)) {
        const line = lineFor([...names, entry]);
        if (line !== undefined) lines.push(isDirectory ? `${line}/` : line);
      } else if (isDirectory && waiting.length < mostDirectories)
        waiting.push({ names: [...names, entry], rules: held, path: `${path}${entry.name}/`, siblings });
    }
  } catch (error) {
    if (Fault.is(error, "too_many_open_files")) throw error; // a directory that cannot be listed cannot be searched either
  } finally {
    if (directory !== start) directory.close();
  }
}

function descend(start: Directory, names: readonly DirectoryEntry[]): Directory | undefined {
  let directory = start;
  for (const entry of names) {
    const child = directory.child(entry);
    if (directory !== start) directory.close();
    if (child === undefined) return undefined;
    directory = child;
  }
  return directory;
}

/** A path as a line that matches nothing else; undefined if a line cannot say it. */
function lineFor(entries: readonly DirectoryEntry[]): string | undefined {
  if (entries.some(({ name, raw }) => raw !== undefined || /[\0-\x1f\x7f]|\s$/.test(name))) return undefined;
  return entries.map(({ name }) => `/${name.replace(/[\\*?[\]{}! #]/g, "\\$&")}`).join("");
}
