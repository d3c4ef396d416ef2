// Windows of lines in a file of any size: from a line on (streaming, stopping early), and the last ones (from the
// end of the file, not from its start). Only the window is kept in memory, and a limit holds for it too, so a
// line of 50 MB or a file of 300 MB costs no more than what is asked for. Lines end with LF, as search counts
// them; `width` is 2 for UTF-16.
import type { OpenFile } from "./file.ts";
import { LineCollector } from "./line-collector.ts";
import { LineEnds } from "./line-ends.ts";
import { LineMarks } from "./line-marks.ts";
import type { FileLine, LineOptions, LineWindow } from "./line-window.ts";

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
  for await (const chunk of file.stream(offset)) {
    options.signal?.throwIfAborted();
    let at = 0;
    offset += chunk.length;
    if (line < start) {
      const skipped = scan.skip(chunk, start - line);
      line += skipped.lines;
      at = skipped.end;
      pending = skipped.partial;
      if (line < start) marks?.note(offset, line);
      else marks?.keep();
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
  }
  marks?.keep();
  if (collector.open) collector.finish(0);
  const total = line - 1 + (pending ? 1 : 0);
  return { lines: collector.lines, first: start, more: false, total, full: false };
}

/** What is read from the end first; most want a few lines, and each further piece is larger. */
const firstPiece = 8 * 1024;

/** The last `count` lines, read backwards. A final newline begins no further line. */
export async function lastLines(
  file: OpenFile,
  count: number,
  options: LineOptions = {},
): Promise<LineWindow> {
  const scan = new LineEnds(options.encoding);
  const from = options.skip ?? 0;
  const limit = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const chunks: Buffer[] = [];
  let begin = file.size - ((file.size - from) % scan.width); // half a unit at the end is no text
  let breaks = 0;
  let kept = 0;
  while (begin > from && breaks <= count && kept < limit) {
    options.signal?.throwIfAborted();
    const size = Math.min(firstPiece << Math.min(chunks.length, 3), begin - from, limit - kept);
    const chunk = await file.read(begin - size, size);
    if (chunk.length === 0) break;
    begin -= size;
    kept += chunk.length;
    breaks += scan.skip(chunk, Number.POSITIVE_INFINITY).lines;
    chunks.unshift(chunk);
  }
  const tail = Buffer.concat(chunks);
  const whole = begin <= from;
  const all = breaks + (scan.endsWithBreak(tail) ? 0 : Math.min(1, tail.length));
  // The first piece is the end of a line whose beginning was not read, unless the whole file was.
  const known = whole || kept >= limit ? all : all - 1;
  const lines = collected(tail, scan, Math.min(count, known), options);
  return {
    lines,
    first: whole ? all - lines.length + 1 : undefined,
    more: !whole || lines.length < all,
    total: whole ? all : undefined,
    // The first piece that was read is rarely the beginning of a line.
    full: !whole && kept >= limit && known <= count,
  };
}

/** The last `count` lines of what was read. */
function collected(tail: Buffer, scan: LineEnds, count: number, { maxLineBytes }: LineOptions): FileLine[] {
  const collector = new LineCollector({ maxLineBytes });
  for (let at = scan.back(tail, count); at < tail.length; ) {
    const end = scan.next(tail, at);
    collector.add(tail.subarray(at, end < 0 ? tail.length : end));
    collector.finish(end < 0 ? 0 : scan.width);
    at = end < 0 ? tail.length : end;
  }
  return collector.lines;
}

/** How many lines the file has. A final newline begins no further line. */
export async function countLines(file: OpenFile, options: LineOptions = {}): Promise<number> {
  const window = await linesFrom(file, Number.MAX_SAFE_INTEGER, 1, options);
  return window.total ?? 0;
}
