// Search in files: a lazy stream of files with their hits, in path order. `plan` says which way (strategy.ts), and
// there is one runner for each. What ripgrep reports is sorted, and each file is opened again from the held start before
// its lines are given (reopen.ts, confirm.ts), so that the order is ours, the policy is ours, and nothing leaks from
// outside.

import { Fault } from "../fault.ts";
import { once } from "../once.ts";
import type { Directory } from "../workspace/directory.ts";
import { EarlyStart } from "./early-start.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import { everything } from "./ignore.ts";
import { ignoreContext, rulesForRipgrep } from "./ignore-context.ts";
import { searchFile, searchInProcess } from "./in-process.ts";
import { literalFinder, plainWherePossible } from "./literal.ts";
import { type Query, ripgrepPath } from "./ripgrep.ts";
import { launch, type RipgrepRun } from "./ripgrep-run.ts";
import { searchByRipgrep } from "./ripgrep-search.ts";
import type { Handover, SearchContext } from "./search-context.ts";
import { chooseStrategy, type Strategy } from "./strategy.ts";
import { wasSearched } from "./tree-size.ts";
import { widened } from "./widen.ts";
import { WorkSlice } from "./work-slice.ts";

export interface Search extends AsyncIterable<FileHits> {
  readonly report: Readonly<GrepReport>;
}

type Hits = AsyncGenerator<FileHits, void, undefined>;

const maxPatternBytes = 4096;
const fromTheStart: Handover = { behind: undefined, hits: 0 };

const runners: { readonly [S in Strategy]: (job: SearchContext) => Hits } = {
  async *nothing() {},
  async *file(job) {
    const found = await searchFile(job);
    if (found === undefined) yield* searchByRipgrep(job, fromTheStart);
    else yield* found;
  },
  async *process(job) {
    const handover = yield* searchInProcess(job);
    if (handover !== undefined) yield* searchByRipgrep(job, handover);
  },
  async *both(job) {
    await job.early.begin();
    yield* runners.process(job);
  },
  async *ripgrep(job) {
    yield* searchByRipgrep(job, fromTheStart);
  },
};

/** Faults: `invalid_pattern`, `cancelled`, `spawn_failed`. */
export function grep(start: Directory, query: Query, options: GrepOptions = {}): Search {
  const report: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
  return { report, [Symbol.asyncIterator]: () => hits(start, query, options, report) };
}

async function* hits(start: Directory, asked: Query, options: GrepOptions, report: GrepReport): Hits {
  refuseLong(asked);
  const query = options.countsFiles ? asked : plainWherePossible(asked);
  void ripgrepPath(); // to be known when it is needed
  const slice = new WorkSlice(options);
  const find = literalFinder(query);
  const isFile = options.file !== undefined;
  const context = once(() => ignoreContext(start, isFile ? everything : (options.ignore ?? everything)));
  const wider = once(async () => (options.reading === "detected" ? await widened(query) : undefined));
  const launched = async (signal: AbortSignal): Promise<RipgrepRun> => {
    const timeoutMs = options.timeoutMs === undefined ? undefined : slice.left;
    const rules = rulesForRipgrep(start, context());
    const sought = (await wider())?.query ?? query;
    return await launch(
      { start, query: sought, options: { ...options, timeoutMs, signal }, rules, file: options.file },
      report,
    );
  };
  using early = new EarlyStart(launched, slice, options.signal);
  const strategy = chooseStrategy(query, {
    isFile,
    isPlain: find !== undefined && !options.countsFiles,
    wasSearched: wasSearched(start),
  });
  yield* runners[strategy]({ start, query, find, options, report, slice, early, context, wider });
}

function refuseLong({ pattern }: Query): void {
  if (Buffer.byteLength(pattern) <= maxPatternBytes) return;
  const problem = { is: "too_long", limit: maxPatternBytes, unit: "bytes" } as const;
  throw new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "regex", problem });
}
