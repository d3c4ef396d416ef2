// The first hits of a common expression, without waiting for the whole tree. Ripgrep finds in no order, so it must be
// through before its first hit in path order is known. But the first few hundred files in that order are found
// quickly by a walk of our own, and ripgrep can be asked about just these while it already searches the whole:
// if they hold enough hits, the whole is ended unread. Both ways give the same answer.
import { clock } from "../clock.ts";
import type { Directory } from "../workspace/directory.ts";
import { launch } from "./collect.ts";
import { confirmed } from "./confirm.ts";
import { hitsOf } from "./give.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import type { Pace } from "./pace.ts";
import type { Query } from "./ripgrep.ts";
import type { Sight } from "./sight.ts";
import { WalkEntry, Walker } from "./walker.ts";

const mostFiles = 256;
const fewestFiles = 32;
const maxArgumentBytes = 64 * 1024;
const maxWalkMs = 20;

/** Enough hits to reach the limit, or undefined where the whole search has to tell. */
export async function firstHits(
  start: Directory,
  query: Query,
  options: GrepOptions,
  sight: Sight,
  pace: Pace,
): Promise<FileHits[] | undefined> {
  const files = head(start, options);
  if (files === undefined || files.length === 0) return undefined;
  const { limit = Number.POSITIVE_INFINITY } = options;
  const limits = options.timeoutMs === undefined ? options : { ...options, timeoutMs: pace.left };
  const run = await launch(start, query, limits, emptyReport(), sight.above, files);
  try {
    const { blocks } = await run.blocks();
    using trail = sight.trail();
    const found: FileHits[] = [];
    let hits = 0;
    for await (const file of confirmed(blocks, trail, options, emptyReport(), pace)) {
      found.push(file);
      hits += hitsOf(file.count ?? 1, options);
      if (hits >= limit) return found;
    }
    return undefined;
  } finally {
    run.kill();
  }
}

function emptyReport(): GrepReport {
  return { files: 0, inaccessible: 0, stopped: undefined };
}

/** The first files in path order; undefined where they are all. */
function head(
  start: Directory,
  { maxFileSize = Number.POSITIVE_INFINITY, limit = mostFiles, maxFiles: allowed, ...options }: GrepOptions,
): string[] | undefined {
  using walker = new Walker(start, { ...options, order: "paths" });
  const files: string[] = [];
  const enough = Math.min(mostFiles, Math.max(fewestFiles, limit));
  const until = clock() + maxWalkMs;
  let bytes = 0;
  let seen = 0;
  for (;;) {
    const entry = walker.next();
    if (entry === undefined) return undefined;
    if (files.length === enough || clock() > until) return files;
    if (!(entry instanceof WalkEntry) || entry.kind !== "file") continue;
    if (seen++ === allowed) return files;
    if (Number.isFinite(maxFileSize) && (entry.stat()?.size ?? 0) > maxFileSize) continue;
    bytes += Buffer.byteLength(entry.path) + 3;
    // What is not valid UTF-8, or too much, cannot be handed over as arguments.
    if (bytes > maxArgumentBytes || entry.raw !== undefined) return files;
    files.push(entry.path);
  }
}
