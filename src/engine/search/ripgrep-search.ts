// Searches a tree or a file with ripgrep: runs it, orders and confirms the results, and runs it again if that leaves
// too few hits, or if it did not finish.

import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { confirmed } from "./confirm.ts";
import type { HitBlock, PathPosition } from "./first-blocks.ts";
import { foreignBytes, withForeign } from "./foreign-files.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import { reopener, rulesForRipgrep } from "./ignore-context.ts";
import { compareBytes } from "./order.ts";
import { hitsOf } from "./result-form.ts";
import { isChained, type Query } from "./ripgrep.ts";
import { launch, type RipgrepResult, type RipgrepRun } from "./ripgrep-run.ts";
import type { Handover, SearchContext } from "./search-context.ts";
import { walk } from "./walk.ts";
import type { Widened } from "./widen.ts";

const slack = 1000;
/** What ripgrep is given when its memory did not suffice for larger files. */
const modestFile = 16 * 1024 * 1024;

export async function* searchByRipgrep(
  job: SearchContext,
  handover: Handover,
): AsyncGenerator<FileHits, void, undefined> {
  const { start, options, report, slice, early } = job;
  const { limit = Number.POSITIVE_INFINITY } = options;
  const attempts = new RipgrepAttempts(job, await early.run());
  let { behind, hits } = handover;
  // Some results may not be confirmed; if that leaves too few, another round searches the rest.
  for (let enough = limit + slack; ; enough *= 8) {
    const { blocks, trimmed } = await attempts.blocks(behind, enough);
    using opened = reopener(start, job.context());
    const within = await withinFiles(blocks, start, options, report);
    const confirming = {
      ...job,
      widened: attempts.widened,
      options: { ...options, limit: limit - hits },
      slice,
    };
    for await (const file of confirmed(confirming, within, opened, report)) {
      hits += hitsOf(file.count ?? 1, options);
      yield file;
    }
    report.inaccessible += opened.unreachable;
    if (!trimmed || hits >= limit || report.stopped !== undefined) break;
    behind = blocks.at(-1);
  }
  report.stopped ??= attempts.incomplete;
}

/** Runs of ripgrep for one search, with one more where a run fails for a reason that may not hold for the next. */
class RipgrepAttempts {
  readonly #job: SearchContext;
  #run: RipgrepRun | undefined;
  #maxFileSize: number | undefined;
  #failures = 0;
  #isRefused = false;
  #foreign: readonly HitBlock[] | undefined;
  /** Undefined once the query itself has to be used. */
  widened: Widened | undefined;
  /** Why the answer is not complete. */
  incomplete: GrepReport["stopped"];

  constructor(job: SearchContext, run: RipgrepRun) {
    this.#job = job;
    this.#run = run;
    this.#maxFileSize = job.options.maxFileSize;
  }

  async blocks(behind: PathPosition | undefined, enough: number): Promise<RipgrepResult> {
    this.widened = this.#isRefused ? undefined : await this.#job.wider();
    for (;;) {
      const run = this.#run ?? (await this.#launch());
      this.#run = undefined;
      try {
        const found = await run.blocks(behind, enough);
        if (!this.#isToBeRepeated(found)) return withForeign(found, await this.#foreignFiles(), behind);
      } catch (error) {
        // Run the query itself to get its error message.
        if (!Fault.is(error, "invalid_pattern") || !this.#isOtherThanTyped()) throw error;
        this.#isRefused = true;
        this.widened = undefined;
      } finally {
        run.kill();
      }
    }
  }

  /** Whether ripgrep was given something else than the caller's own pattern. */
  #isOtherThanTyped(): boolean {
    return !this.#isRefused && (this.widened !== undefined || isChained(this.#job.query));
  }

  #isToBeRepeated({ killedBy }: RipgrepResult): boolean {
    if (killedBy === undefined) return false;
    this.#failures++;
    this.incomplete = "killed";
    if (this.#failures > 1) return false;
    // Rust aborts when it runs out of memory: for a very long line, or a large file as a whole.
    if (killedBy === "SIGABRT") {
      this.#maxFileSize = Math.min(this.#maxFileSize ?? modestFile, modestFile);
      this.incomplete = "memory";
    } else this.incomplete = undefined;
    return true;
  }

  #launch(): Promise<RipgrepRun> {
    const { options, report, query } = this.#job;
    const used = this.widened?.query ?? { ...query, eachMatch: this.#isRefused };
    return this.#launched(used, { ...options, maxFileSize: this.#maxFileSize }, report);
  }

  async #launched(query: Query, options: GrepOptions, report: GrepReport): Promise<RipgrepRun> {
    const { start, slice, context } = this.#job;
    const timeoutMs = options.timeoutMs === undefined ? undefined : slice.left;
    const rules = rulesForRipgrep(start, context());
    const limits = { ...options, timeoutMs };
    return await launch({ start, query, options: limits, rules, file: options.file }, report);
  }

  /** The files in other encodings that the run itself cannot find. */
  async #foreignFiles(): Promise<readonly HitBlock[]> {
    const { options, query } = this.#job;
    if (options.reading !== "detected" || this.widened !== undefined || query.pattern === "") return [];
    this.#foreign ??= await this.#namedForeign();
    return this.#foreign;
  }

  async #namedForeign(): Promise<readonly HitBlock[]> {
    const { options, report } = this.#job;
    const own: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
    const run = await this.#launched(foreignBytes, { ...options, form: "files", countsFiles: false }, own);
    try {
      const { blocks, killedBy } = await run.blocks();
      if (killedBy !== undefined) this.incomplete = "killed";
      report.stopped ??= own.stopped;
      return blocks;
    } finally {
      run.kill();
    }
  }
}

/** The blocks within the first `maxFiles` files. Only if there are more, a walk has to count. */
async function withinFiles(
  blocks: readonly HitBlock[],
  start: Directory,
  { maxFiles = Number.POSITIVE_INFINITY, ...options }: GrepOptions,
  report: GrepReport,
): Promise<readonly HitBlock[]> {
  if (options.countsFiles && start.root.rules.hidden !== undefined)
    report.files = await countVisible(start, options);
  if (report.files <= maxFiles) return blocks;
  let last: string | undefined;
  let files = 0;
  for await (const entry of walk(start, options)) {
    if (entry.kind !== "file") continue;
    if (files++ === maxFiles) break;
    last = entry.path;
  }
  // ripgrep gets a wider scope than requested, and may have searched files outside it.
  report.files = Math.min(files, maxFiles);
  if (files <= maxFiles) return blocks;
  report.stopped ??= "files";
  return blocks.filter(({ path }) => last !== undefined && compareBytes(path, last) <= 0);
}

/** How many files of the scope ripgrep searches, without those that rules hide. It does not know the rules. */
async function countVisible(start: Directory, options: GrepOptions): Promise<number> {
  const { maxFileSize } = options;
  let files = 0;
  for await (const entry of walk(start, options)) {
    if (entry.kind !== "file") continue;
    const size = maxFileSize === undefined ? 0 : (entry.stat()?.size ?? 0);
    if (size <= (maxFileSize ?? size)) files++;
  }
  return files;
}
