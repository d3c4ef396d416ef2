// The files of a tree that may hold what is sought, without opening those of which it is known that they cannot
// (workspace/sieve). After a search has gone through a tree of some size, its files are read in the background; from
// then on a search of the same tree begins by asking about each of them. Where too little is known, or the pattern demands
// no text, ripgrep searches as ever.
import { type Need, needOfExpression, needOfText } from "../regex/required.ts";
import { Directory, type Entry } from "../workspace/directory.ts";
import { display, Handle } from "../workspace/handle.ts";
import { isEscaped } from "../workspace/name.ts";
import type { Root } from "../workspace/root.ts";
import { gramsOf } from "../workspace/sieve/grams.ts";
import { fewFiles, sieveOf } from "../workspace/sieve/sieve.ts";
import type { Names } from "../workspace/sieve/sift.ts";
import { verdicts } from "../workspace/sieve/verdict.ts";
import type { Pace, Patience } from "./pace.ts";
import type { Query } from "./ripgrep.ts";
import { walkGroups } from "./walk.ts";
import type { Scope } from "./walker.ts";

export interface Sifted {
  /** Those that may hold it, in path order. */
  readonly paths: readonly string[];
  /** One that need not hold it, to ask about the pattern alone. */
  readonly any: string | undefined;
  /** How many there are in all, without those that are too large. */
  readonly files: number;
  /** Directories that could not be read. */
  readonly inaccessible: number;
}

export interface SiftOptions extends Scope, Pick<Patience, "signal"> {
  readonly maxFileSize?: number | undefined;
  readonly maxFiles?: number | undefined;
}

const afterTheAnswerMs = 30; // a search that has its results still has to tell them
const fewest = 100; // fewer are read in no time
const most = 60_000;
const namesInList = 256;

/** Trees that were looked at as a whole, by what they cover: as they were the last time. */
const studied = new WeakMap<Root, Map<string, Listed | undefined>>();
const mostStudied = 64;

function keyOf({ path }: Directory, { ignore, include, exclude, maxDepth }: Scope): string {
  return JSON.stringify([path, ignore, include?.patterns, exclude?.patterns, maxDepth]);
}

/** What the query demands of a file; undefined where nothing. */
function needOf({ pattern, literal = false, ignoreCase = false }: Query): Need | undefined {
  return literal ? needOfText(pattern, ignoreCase) : needOfExpression(pattern, ignoreCase);
}

/** Whether it takes less than searching a few files to ask about all of the tree. */
export function isQuicklySifted(start: Directory, scope: Scope): boolean {
  return (studied.get(start.root)?.get(keyOf(start, scope))?.files ?? most) <= fewFiles;
}

/** Undefined where it is not worth while, or not known. */
export async function sifted(
  start: Directory,
  query: Query,
  { maxFileSize = Number.POSITIVE_INFINITY, maxFiles = most, signal, ...scope }: SiftOptions,
  pace: Pace,
): Promise<Sifted | undefined> {
  const trees = studied.get(start.root);
  const key = keyOf(start, scope);
  if (!trees?.has(key)) return undefined;
  const sieve = sieveOf(start.root);
  const need = needOf(query);
  if (sieve === undefined || need === undefined) return undefined;
  if (!isQuicklySifted(start, scope)) sieve.wake();
  const tree = await listed(start, scope, { signal, timeoutMs: pace.left }, trees.get(key));
  trees.set(key, tree);
  if (tree === undefined || tree.files > maxFiles) return undefined;
  const known = await sieve.sift(tree, {
    grams: gramsOf(need),
    // The expression may ask for it in its own words.
    ignoreCase: (query.ignoreCase ?? false) || (!query.literal && query.pattern.includes("(?")),
    maxFileSize,
    mostUnknown: tree.files / 10,
    mostFound: tree.files / 10,
  });
  if (known === "unknown") sieve.learn(tree);
  if (typeof known === "string") return undefined;
  const paths: string[] = [];
  const unknown: Names[] = [];
  let files = 0;
  let at = 0;
  for (const { path, names, count } of tree.lists) {
    const own = known.subarray(at, at + count);
    at += count;
    files += count;
    if (own.every(verdict => verdict === verdicts.cannot)) continue;
    for (const [i, name] of names.split("/").entries()) {
      const verdict = own[i];
      if (verdict === verdicts.unknown) unknown.push({ path, names: name, count: 1 });
      if (verdict === verdicts.large) files--;
      else if (verdict !== verdicts.cannot) paths.push(path + name);
    }
  }
  if (unknown.length > 0) sieve.learn({ base: tree.base, lists: unknown });
  const [first] = tree.lists;
  const any = first && first.path + first.names.split("/")[0];
  return { paths, any, files, inaccessible: tree.inaccessible };
}

/** Takes note that a search went through so many files, so that the next one may be quicker. */
export function study(start: Directory, scope: Scope, files: number): void {
  if (files < fewest || files > most || sieveOf(start.root) === undefined) return;
  const known = studied.get(start.root) ?? new Map();
  studied.set(start.root, known);
  const key = keyOf(start, scope);
  if (known.has(key) || known.size >= mostStudied) return;
  known.set(key, undefined);
  // The directory is closed when the search is over.
  const held = { handle: Handle.open(start.address), root: start.root, path: start.path };
  const again = Directory.open(held, start.given);
  setTimeout(() => {
    listed(again, scope, {})
      .then(tree => {
        known.set(key, tree);
        if (tree !== undefined) sieveOf(start.root)?.learn(tree);
      })
      .catch(() => {}) // gone meanwhile: nothing is known, and the next search goes the usual way
      .finally(() => again.close());
  }, afterTheAnswerMs).unref();
}

interface Listed {
  /** Absolute, with a final slash; the paths of the lists are relative to it. */
  readonly base: string;
  readonly lists: readonly Names[];
  readonly files: number;
  readonly inaccessible: number;
}

/** Undefined where there are too many, or names that are not text. Of a tree that did not change, `last` again. */
async function listed(
  start: Directory,
  { ignore, include, exclude, maxDepth }: Scope,
  patience: Patience,
  last?: Listed,
): Promise<Listed | undefined> {
  const base = `${display(start.root.handle.whereabouts())}${start.path.slice(start.root.path.length)}/`;
  const lists: Names[] = [];
  let files = 0;
  let isWhole = !isEscaped(base);
  const covered = { ignore, include, exclude, maxDepth, ...patience };
  const { inaccessible, stopped } = await walkGroups(start, covered, ({ prefix, entries }) => {
    for (const names of listsOf(prefix, entries)) {
      files += names.count;
      isWhole &&= !isEscaped(names.names);
      lists.push(names);
    }
    isWhole &&= files <= most;
    return isWhole;
  });
  if (!isWhole || stopped !== undefined) return undefined;
  const isSame = last?.lists.length === lists.length && lists.every((list, i) => list === last.lists[i]);
  return { base, lists: isSame ? last.lists : lists, files, inaccessible };
}

/** A directory that did not change gives the same entries again. */
const knownLists = new WeakMap<readonly Entry[], readonly Names[]>();

function listsOf(path: string, entries: readonly Entry[]): readonly Names[] {
  const known = knownLists.get(entries);
  if (known !== undefined && (known.length === 0 || known[0]?.path === path)) return known;
  const names = entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  const lists: Names[] = [];
  for (let at = 0; at < names.length; at += namesInList) {
    const some = names.slice(at, at + namesInList);
    lists.push({ path, names: some.join("/"), count: some.length });
  }
  knownLists.set(entries, lists);
  return lists;
}
