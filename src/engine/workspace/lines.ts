// Windows of lines in a file of any size, from a given line: streaming, stopping early (the last lines are in
// tail.ts). Only the window is in memory, within a limit, so a line of 50 MB or a file of 300 MB costs no more than
// what is asked for. Lines end with LF, as in searches; `width` is 2 for UTF-16.
import type { OpenFile } from "./file.ts";
import { LineCollector } from "./line-collector.ts";
import { LineEnds } from "./line-ends.ts";
import { LineMarks } from "./line-marks.ts";
import type { LineOptions, LineWindow } from "./line-window.ts";

const nearBytes = 64 * 1024;

/** `count` lines from line `start` (from 1) on. */
export async function linesFrom(
  file: OpenFile,
  start: number,
  count: number,
  options: LineOptions = {},
): Promise<LineWindow> {
  const scan = new LineEnds(options.encoding);
  const collector = new LineCollector(options);
  const marks = scan.width === 1 ? new LineMarks(file) : undefined;
  const mark = marks?.before(start);
  let line = mark?.line ?? 1;
  let offset = mark?.offset ?? options.skip ?? 0;
  let pending = false; // bytes of an unfinished line were seen
  // From a mark the line may be near.
  for await (const chunk of file.pieces(offset, mark === undefined ? 0 : nearBytes)) {
    let at = 0;
    offset += chunk.length;
    if (line < start) {
      const skipped = scan.skip(chunk, start - line);
      line += skipped.lines;
      at = skipped.end;
      pending = skipped.partial;
      if (line < start) marks?.note(offset, line);
      else {
        marks?.found(offset - chunk.length + at, start);
        marks?.keep();
      }
    }
    while (at < chunk.length) {
      if (collector.lines.length === count)
        return { lines: collector.lines, first: start, more: true, full: false };
      const end = scan.next(chunk, at);
      collector.add(chunk.subarray(at, end < 0 ? chunk.length : end));
      if (collector.full) return { lines: collector.lines, first: start, more: true, full: true };
      if (end >= 0) {
        collector.finish(scan.width);
        line++;
      }
      pending = end < 0;
      at = end < 0 ? chunk.length : end;
    }
    options.signal?.throwIfAborted();
  }
  marks?.keep();
  if (collector.open) collector.finish(0);
  const total = line - 1 + (pending ? 1 : 0);
  return { lines: collector.lines, first: start, more: false, total, full: false };
}

/** How many lines the file has. A final newline begins no further line. */
export async function countLines(file: OpenFile, options: LineOptions = {}): Promise<number> {
  const window = await linesFrom(file, Number.MAX_SAFE_INTEGER, 1, options);
  return window.total ?? 0;
}
