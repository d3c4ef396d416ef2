// Searches by an expression that only JavaScript's engine supports: our own walk reads the files, and a worker that
// can be stopped matches their lines. Slower than ripgrep, and bounded in time, files and memory.
import type { Expression } from "../regex/expression.ts";
import { type LineHit, searchLines } from "../regex/find.ts";
import { readContent } from "../workspace/content.ts";
import type { Directory } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import type { FileMatches, LineMatch, MatchOptions, MatchReport } from "./file-matches.ts";
import { walk } from "./walk.ts";
import type { WalkEntry } from "./walker.ts";
import { WorkSlice } from "./work-slice.ts";

const batchFiles = 64;
const batchLength = 4 * 1024 * 1024;
const maxShown = 2000;
const longestMs = 2 ** 31 - 1;

interface ScannedText {
  readonly path: string;
  readonly text: string;
}

export async function* scan(
  start: Directory,
  expression: Expression,
  options: MatchOptions,
  report: MatchReport,
): AsyncGenerator<FileMatches, void, undefined> {
  const pace = new WorkSlice(options);
  const { limit, signal } = options;
  let given = 0;
  for await (const batch of batches(start, options, report)) {
    const texts = batch.map(({ text }) => text);
    const { source, flags } = expression;
    const ms = Math.min(Math.max(1, pace.left), longestMs);
    const { hits, timedOut } = await searchLines(source, flags, texts, { ms, limit, signal });
    for (const [i, found] of hits.entries()) {
      const file = batch[i];
      if (file === undefined || found.length === 0) continue;
      const lines = file.text.split("\n");
      const kept = found.slice(0, limit - given);
      given += kept.length;
      yield { path: file.path, lines: kept.map(hit => lineMatch(lines, hit, options.context)) };
      if (given >= limit) {
        report.stopped = "limit";
        return;
      }
    }
    if (timedOut) {
      report.stopped = "time";
      return;
    }
  }
}

/** The texts of the files to search, a few at a time. */
async function* batches(
  start: Directory,
  options: MatchOptions,
  report: MatchReport,
): AsyncGenerator<ScannedText[], void, undefined> {
  const { ignore, include, exclude, maxDepth, signal, timeoutMs, maxFiles } = options;
  const found = walk(start, { ignore, include, exclude, maxDepth, signal, timeoutMs });
  let batch: ScannedText[] = [];
  let length = 0;
  for await (const entry of found) {
    if (entry.kind !== "file") continue;
    if (report.files === maxFiles) {
      report.stopped = "files";
      break;
    }
    report.files++;
    const text = await textOf(entry, options, report);
    if (text === undefined) continue;
    batch.push({ path: entry.path, text });
    length += text.length;
    if (batch.length < batchFiles && length < batchLength) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
  report.inaccessible += found.report.inaccessible;
  if (found.report.stopped === "time") report.stopped = "time";
}

/** Undefined where the file is left out. */
async function textOf(
  entry: WalkEntry,
  { maxFileSize, binary }: MatchOptions,
  report: MatchReport,
): Promise<string | undefined> {
  let file: OpenFile | undefined;
  try {
    file = entry.parent?.file(entry);
    if (file === undefined || file.size > maxFileSize || (await binary?.(file))) return undefined;
    const all = { of: "all" } as const;
    const { text } = await readContent(file, all, { encoding: "utf-8", maxBytes: maxFileSize });
    return text.replaceAll("\r\n", "\n");
  } catch {
    report.inaccessible++;
    return undefined;
  } finally {
    file?.close();
  }
}

function lineMatch(lines: readonly string[], { line, count }: LineHit, context: number): LineMatch {
  const shown = (from: number, to: number) =>
    lines.slice(Math.max(0, from - 1), to).map(text => text.slice(0, maxShown));
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  return {
    number: line,
    text: shown(line, line)[0] ?? "",
    count,
    before: shown(line - context, line - 1),
    after: shown(line + 1, Math.min(line + context, last)),
  };
}
