// Searches the few files that may hold what is sought (sifted.ts): plain text here, expressions by ripgrep, which is
// told their names. What it reports is confirmed as ever; what is read here is opened in the same way.
import type { Directory } from "../workspace/directory.ts";
import { isAccepted, launch } from "./collect.ts";
import { confirmed } from "./confirm.ts";
import { given, hitsOf } from "./give.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import { type Handover, matching, searchText } from "./here.ts";
import type { Finder } from "./lines-with.ts";
import { compareBytes } from "./order.ts";
import type { Pace } from "./pace.ts";
import type { Query } from "./ripgrep.ts";
import type { Sifted } from "./sifted.ts";
import type { Sight } from "./sight.ts";
import { turn } from "./turns.ts";

/** A search of a tree of which it is known where to look. */
export interface Aimed {
  readonly start: Directory;
  readonly query: Query;
  /** How the query is looked for here; undefined where that is ripgrep's business. */
  readonly find: Finder | undefined;
  readonly options: GrepOptions;
  readonly sight: Sight;
  readonly pace: Pace;
}

const mostArgumentBytes = 256 * 1024;

/** Whether ripgrep can be told of all these files at once. */
export function canBeNamed({ paths }: Sifted): boolean {
  return paths.reduce((sum, path) => sum + Buffer.byteLength(path) + 3, 0) <= mostArgumentBytes;
}

/** Gives what a search of the whole would, behind what was given already. */
export async function* searchSifted(
  aimed: Aimed,
  sifted: Sifted,
  handover: Handover,
  report: GrepReport,
): AsyncGenerator<FileHits, void, undefined> {
  const { query, find, options, pace } = aimed;
  const { limit = Number.POSITIVE_INFINITY } = options;
  const { behind } = handover;
  const paths = sifted.paths.filter(path => behind === undefined || compareBytes(path, behind.path) > 0);
  report.files = sifted.files;
  report.inaccessible = sifted.inaccessible;
  let { hits } = handover;
  let next = 0;
  if (find !== undefined) {
    using trail = aimed.sight.trail();
    for (; next < paths.length; next++) {
      if (pace.isDue) await pace.rest();
      const path = paths[next] ?? "";
      using file = trail.open(Buffer.from(path));
      if (file === undefined) {
        report.inaccessible++;
        continue;
      }
      const lines = await searchText(file, find, options);
      if (lines === undefined) break; // ripgrep's business, with all behind it
      if (lines.length === 0) continue;
      const count = matching(lines);
      yield given(path, file, lines, count, options);
      hits += hitsOf(count, options);
      if (hits < limit) continue;
      report.stopped = "limit";
      return;
    }
  }
  // Where nothing is left, ripgrep still has to say whether it takes the expression.
  const left = paths.length > 0 || sifted.any === undefined ? paths.slice(next) : [sifted.any];
  if (left.length === 0 || (paths.length === 0 && (find !== undefined || isAccepted(query)))) return;
  yield* named({ ...aimed, options: { ...options, limit: limit - hits } }, left, report);
}

async function* named(
  { start, query, options, sight, pace }: Aimed,
  files: readonly string[],
  report: GrepReport,
): AsyncGenerator<FileHits, void, undefined> {
  using _ = await turn(pace.left, options.signal);
  const own: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
  const limits = options.timeoutMs === undefined ? options : { ...options, timeoutMs: pace.left };
  const run = await launch(start, query, limits, own, sight.above, files);
  try {
    const { blocks } = await run.blocks();
    report.inaccessible += own.inaccessible;
    report.stopped = own.stopped;
    using trail = sight.trail();
    yield* confirmed(blocks, trail, options, report, pace);
  } finally {
    run.kill();
  }
}
