// Full-text search through everything that was ever changed: old and new contents, as the rules show them. Newest
// change first, for a share of time; the caller goes on from where it stopped.
import { append } from "../engine/append.ts";
import { clock } from "../engine/clock.ts";
import { Fault } from "../engine/fault.ts";
import { isNoText } from "../engine/text/detect.ts";
import { decode } from "../engine/text/text.ts";
import type { RecordedFile } from "../engine/workspace/archive/log.ts";
import type { Snapshot } from "../engine/workspace/archive/snapshot.ts";
import { TimeSlice } from "../engine/workspace/footprint/time-slice.ts";
import type { Hit, SearchResult } from "./api.ts";
import { filesIn } from "./sides.ts";
import { type Filter, matching, type ReviewedPast } from "./summaries.ts";
import { nameOf, type Viewer, visibleFiles } from "./viewer.ts";

const shareMs = 2000;
const maxSearchedBytes = 8 * 1024 * 1024;
const longestLine = 300;
/** Of one side of one file. */
const mostInFile = 20;

export async function searchPast(
  past: ReviewedPast,
  viewer: Viewer,
  text: string,
  filter: Filter,
  limit: number,
): Promise<SearchResult> {
  const hits: Hit[] = [];
  const finder = new PastFinder(viewer, text);
  const began = clock();
  const slice = new TimeSlice();
  let last: string | undefined;
  for (const entry of matching(past, viewer, filter)) {
    if (last !== undefined && (hits.length >= limit || clock() - began > shareMs))
      return { hits, next: last, partial: hits.length < limit };
    if (slice.isOver) await slice.turn();
    const record = past.record(entry.id);
    for (const file of record === undefined ? [] : visibleFiles(viewer, record))
      for (const place of await finder.in(file))
        hits.push({ change: entry.id, time: entry.time, name: nameOf(viewer, place.path), ...place });
    last = entry.id;
  }
  return { hits, partial: false };
}

/** Whether the old or new contents of a change hold a text. */
export async function changeHolds(
  past: ReviewedPast,
  viewer: Viewer,
  finder: PastFinder,
  id: string,
): Promise<boolean> {
  const record = past.record(id);
  for (const file of record === undefined ? [] : visibleFiles(viewer, record))
    if ((await finder.in(file)).length > 0) return true;
  return false;
}

type FoundText = Pick<Hit, "path" | "side" | "line" | "text" | "start" | "end">;

export class PastFinder {
  readonly #viewer: Viewer;
  readonly #wanted: string;
  readonly #folds: boolean;
  /** Contents without a hit, by hash and path: one version is the new side of a change and the old one of the next. */
  readonly #without = new Set<string>();

  constructor(viewer: Viewer, wanted: string) {
    this.#viewer = viewer;
    this.#folds = wanted === wanted.toLowerCase();
    this.#wanted = wanted;
  }

  async in({ at, before, replaced, after }: RecordedFile): Promise<FoundText[]> {
    return [
      ...(await this.#inSnapshot(at, before ?? replaced, "old")),
      ...(await this.#inSnapshot(at, after, "new")),
    ];
  }

  async #inSnapshot(
    at: string,
    snapshot: Snapshot | undefined,
    side: FoundText["side"],
  ): Promise<FoundText[]> {
    const { workspace } = this.#viewer;
    if (snapshot?.kind === "directory") {
      const found: FoundText[] = [];
      for (const one of filesIn(workspace, at, snapshot))
        append(found, await this.#inSnapshot(one.at, one.snapshot, side));
      return found;
    }
    if (snapshot?.kind !== "file" || snapshot.hash === undefined || snapshot.size > maxSearchedBytes)
      return [];
    const key = `${snapshot.hash} ${at}`;
    if (this.#without.has(key) || workspace.isHidden(at)) return [];
    const bytes = workspace.archive.objects.get(snapshot.hash);
    if (bytes === undefined || isNoText(bytes)) return [];
    try {
      const { body } = await decode(at, workspace.shown(at, bytes), { legacy: true });
      const found = this.#places(at, body, side);
      if (found.length === 0) this.#without.add(key);
      return found;
    } catch (error) {
      if (error instanceof Fault) return []; // too large to be masked
      throw error;
    }
  }

  #places(path: string, body: string, side: FoundText["side"]): FoundText[] {
    const text = this.#folds ? body.toLowerCase() : body;
    const found: FoundText[] = [];
    // Lower case may be longer than the text itself: then places are those of the folded text.
    const shown = text.length === body.length ? body : text;
    let line = 1;
    let counted = 0;
    for (let at = text.indexOf(this.#wanted); at >= 0 && found.length < mostInFile; ) {
      for (let end = text.indexOf("\n", counted); end >= 0 && end < at; end = text.indexOf("\n", counted)) {
        line++;
        counted = end + 1;
      }
      const from = Math.max(counted, at - 100);
      const lineEnd = text.indexOf("\n", at);
      const to = Math.min(lineEnd < 0 ? text.length : lineEnd, from + longestLine);
      const start = at - from;
      const end = Math.min(start + this.#wanted.length, to - from);
      found.push({ path, side, line, text: shown.slice(from, to), start, end });
      if (lineEnd < 0) break;
      at = text.indexOf(this.#wanted, lineEnd + 1); // one for each line
    }
    return found;
  }
}
