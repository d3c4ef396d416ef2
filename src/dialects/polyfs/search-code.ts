// Names the symbol around hits in code, within a budget. Parsing takes about a millisecond for each KB, so an answer
// names the symbols of a few files only: those with the most hits for their size. Files whose structure is known cost
// nothing. A grammar that is not loaded is loaded at once where hits are in a few files, as when one place is looked for;
// elsewhere it is loaded after the answer, for the next search.

import { printable } from "../../contract/wording.ts";
import type { Declared } from "../../engine/syntax/declared.ts";
import { KnownStructures, type VersionedText } from "../../engine/syntax/known-structures.ts";
import type { Structure } from "../../engine/syntax/structure.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { SearchPage } from "./search-page.ts";

/** Characters that one answer parses; more where all hits are in one file. */
const maxParsed = 24_000;
const maxAlone = 40_000;
/** Sources that are held until the answer is complete, in characters. */
const maxHeld = 60 * maxParsed;
/** Files with hits for which an answer waits until their grammars are loaded. */
const fewFiles = 3;
/** Loading must not compete with sending the answer. */
const loadAfterMs = 50;

/** A line of the answer that shows a hit: its number in the file, and its place on the page. */
export interface ShownHit {
  readonly line: number;
  readonly place: number;
}

interface CodeFile {
  readonly source: VersionedText;
  readonly hits: readonly ShownHit[];
  readonly known: Structure | undefined;
}

const structures = new WeakMap<Workspace, KnownStructures>();

/** What is known of the files of a workspace. */
export function structuresOf(workspace: Workspace): KnownStructures {
  const known = structures.get(workspace) ?? new KnownStructures();
  structures.set(workspace, known);
  return known;
}

export class SymbolsAround {
  readonly #structures: KnownStructures;
  #candidates: CodeFile[] = [];
  #held = 0;

  constructor(workspace: Workspace) {
    this.#structures = structuresOf(workspace);
  }

  add(source: VersionedText, hits: readonly ShownHit[]): void {
    const known = this.#structures.get(source);
    if (known === undefined && source.text.length > maxAlone) return;
    this.#candidates.push({ source, hits, known });
    this.#held += source.text.length;
    if (this.#held > maxHeld) this.#drop();
  }

  /** Writes the symbols after the hits on the page. */
  async print(page: SearchPage): Promise<void> {
    const unloaded: VersionedText[] = [];
    const chosen = this.#chosen();
    await Promise.all(
      chosen.map(async ({ source, hits, known }) => {
        const load = chosen.length <= fewFiles;
        const structure = known ?? (await this.#structures.parsed(source, load));
        if (structure === undefined) unloaded.push(source);
        else if (structure.known) extend(page, structure, hits);
      }),
    );
    if (unloaded.length > 0) setTimeout(() => void this.#structures.prepare(unloaded), loadAfterMs).unref();
  }

  #chosen(): CodeFile[] {
    let left = this.#candidates.length === 1 ? maxAlone : maxParsed;
    return this.#candidates.sort(byBenefit).filter(({ source, known }) => {
      const cost = known === undefined ? source.text.length : 0;
      if (cost > left) return false;
      left -= cost;
      return true;
    });
  }

  /** Drops what would not be chosen anyway. */
  #drop(): void {
    this.#candidates = this.#chosen();
    this.#held = this.#candidates.reduce((sum, { source }) => sum + source.text.length, 0);
  }
}

function byBenefit(a: CodeFile, b: CodeFile): number {
  return benefit(b) - benefit(a);
}

function benefit({ source, hits, known }: CodeFile): number {
  return known === undefined ? hits.length / (source.text.length + 1) : Number.POSITIVE_INFINITY;
}

/** ` ‹ Class.method 8-40` after each hit; the lines only where the hit before it was in another symbol. */
function extend(page: SearchPage, structure: Structure, hits: readonly ShownHit[]): void {
  let last: string | undefined;
  for (const { line, place } of hits) {
    const symbol = symbolAround(structure, line);
    if (symbol === undefined) continue;
    const { name, top, to } = symbol;
    page.extend(place, ` ‹ ${printable(name)}${name === last ? "" : ` ${top}-${to}`}`);
    last = name;
  }
}

/** The symbol around a line, without one that begins there. */
function symbolAround({ declared }: Structure, line: number): Declared | undefined {
  return declared.findLast(({ kind, from, to, local }) => {
    const isSmall = kind === "variable" && (local || from === to);
    return !isSmall && from < line && line <= to;
  });
}
