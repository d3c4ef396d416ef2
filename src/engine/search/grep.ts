// Search in files: a lazy stream of files with their hits, in path order. A few files are searched in
// process (here.ts), those of a known tree through its filters (search-sifted.ts), the rest by ripgrep; what that
// reports is sorted here, and each file is opened again from the held start before its lines are given (trail.ts,
// confirm.ts), so that the order is ours, the policy is ours, and nothing leaks from outside.
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { launch, type Run } from "./collect.ts";
import { confirmed } from "./confirm.ts";
import { finderOf } from "./finder.ts";
import { firstHits } from "./first.ts";
import { hitsOf } from "./give.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import { HeadStart } from "./head-start.ts";
import { rememberSize, searchFile, searchHere } from "./here.ts";
import { everything } from "./ignore.ts";
import type { Block, Place } from "./kept.ts";
import { compareBytes } from "./order.ts";
import { Pace } from "./pace.ts";
import { type Query, ripgrepPath } from "./ripgrep.ts";
import { canBeNamed, searchSifted } from "./search-sifted.ts";
import { isQuicklySifted, sifted, study } from "./sifted.ts";
import { type Sight, sightOf } from "./sight.ts";
import { walk } from "./walk.ts";

export interface Search extends AsyncIterable<FileHits> {
  readonly report: Readonly<GrepReport>;
}

const maxPatternBytes = 4096;
const slack = 1000;

/** The first search of a process: nothing is compiled yet, and before it gets going here, ripgrep is half through. */
let isFirst = true;

/** Faults: `invalid_pattern`, `cancelled`, `spawn_failed`. */
export function grep(start: Directory, query: Query, options: GrepOptions = {}): Search {
  const report: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
  return { report, [Symbol.asyncIterator]: () => hits(start, query, options, report) };
}

async function* hits(
  start: Directory,
  query: Query,
  options: GrepOptions,
  report: GrepReport,
): AsyncGenerator<FileHits, void, undefined> {
  if (Buffer.byteLength(query.pattern) > maxPatternBytes) {
    const pattern = query.pattern.slice(0, 200);
    throw new Fault("invalid_pattern", {
      pattern,
      kind: "regex",
      reason: `longer than ${maxPatternBytes} bytes`,
    });
  }
  if (query.literal && !query.multiline && query.pattern.includes("\n")) return; // no line holds a line break
  void ripgrepPath(); // to be known when it is needed
  const pace = new Pace(options);
  const files = options.file === undefined ? undefined : [options.file];
  let known: Sight | undefined;
  const sight = (): Sight => {
    known ??= sightOf(start, files === undefined ? (options.ignore ?? everything) : everything);
    return known;
  };
  const launched = (signal = options.signal): Promise<Run> => {
    const { above, narrowed } = sight();
    const timeoutMs = options.timeoutMs === undefined ? undefined : pace.left;
    const ignore = narrowed ? everything : options.ignore;
    return launch(start, query, { ...options, ignore, timeoutMs, signal }, report, above, files);
  };
  using headStart = new HeadStart(launched, pace, options.signal);
  const isTree = options.file === undefined;
  if (isFirst && isTree) {
    isFirst = false;
    await headStart.begin();
  }
  const find = finderOf(query);
  let given = 0;
  let behind: Place | undefined;
  let few = isTree && isQuicklySifted(start, options) ? await sifted(start, query, options, pace) : undefined;
  if (options.file !== undefined) {
    const hits = await searchFile(start, options.file, find, options, report);
    if (hits !== undefined) {
      yield* hits;
      return;
    }
  } else if (find !== undefined && few === undefined) {
    const handover = yield* searchHere(start, find, options, report, pace, headStart);
    if (handover === undefined) {
      if (report.stopped === undefined) study(start, options, report.files);
      return;
    }
    given = handover.hits;
    behind = handover.behind;
  }
  if (isTree) few ??= await sifted(start, query, options, pace);
  if (few !== undefined && canBeNamed(few)) {
    const aimed = { start, query, find, options, sight: sight(), pace };
    yield* searchSifted(aimed, few, { behind, hits: given }, report);
    return;
  }
  let whole = await headStart.run();
  const { limit = Number.POSITIVE_INFINITY } = options;
  if (limit < Number.POSITIVE_INFINITY && isTree && !query.literal && find === undefined) {
    const first = await firstHits(start, query, options, sight(), pace);
    if (first !== undefined) {
      report.stopped = "limit";
      yield* first;
      return;
    }
  }
  // Some of what is found may not be confirmed; where that leaves too few, there is another round for the rest.
  for (let enough = limit + slack; ; enough *= 8) {
    try {
      const { blocks, trimmed } = await whole.blocks(behind, enough);
      if (find !== undefined) rememberSize(start, report.files);
      if (isTree) study(start, options, report.files);
      using trail = sight().trail();
      const within = await withinFiles(blocks, start, options, report);
      const left = { ...options, limit: limit - given };
      for await (const file of confirmed(within, trail, left, report, pace)) {
        given += hitsOf(file.count ?? 1, options);
        yield file;
      }
      if (!trimmed || given >= limit || report.stopped !== undefined) return;
      behind = blocks.at(-1);
    } finally {
      whole.kill();
    }
    whole = await launched();
  }
}

/** Those of the blocks that lie in the first `maxFiles` files. Only where there are more, a walk has to tell. */
async function withinFiles(
  blocks: readonly Block[],
  start: Directory,
  { maxFiles = Number.POSITIVE_INFINITY, ...options }: GrepOptions,
  report: GrepReport,
): Promise<readonly Block[]> {
  if (report.files <= maxFiles) return blocks;
  let last: string | undefined;
  let files = 0;
  for await (const entry of walk(start, options)) {
    if (entry.kind !== "file") continue;
    if (files++ === maxFiles) break;
    last = entry.path;
  }
  // Ripgrep was told less than the scope says, and may have looked at files that are not in it.
  report.files = Math.min(files, maxFiles);
  if (files <= maxFiles) return blocks;
  report.stopped ??= "files";
  return blocks.filter(({ path }) => last !== undefined && compareBytes(path, last) <= 0);
}
