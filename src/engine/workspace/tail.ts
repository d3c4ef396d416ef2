// The last lines of a file of any size, read from its end. They are returned in one piece, with the offsets of their
// ends: nothing is copied, and most files are read with one call.
import type { OpenFile } from "./file.ts";
import { LineEnds } from "./line-ends.ts";
import type { LineOptions, LineWindow, RawLine } from "./line-window.ts";

export interface Tail extends Omit<LineWindow, "lines"> {
  readonly bytes: Buffer;
  /** Where each line ends in `bytes`, after its break. */
  readonly ends: readonly number[];
  /** The break of the last line. */
  readonly end: RawLine["end"];
}

/** Bytes of the first read from the end; most callers want a few lines, and each further read is larger. */
const firstPiece = 8 * 1024;

/** The last `count` lines. A final newline begins no further line. */
export async function tailOf(file: OpenFile, count: number, options: LineOptions = {}): Promise<Tail> {
  const scan = new LineEnds(options.encoding);
  const { skip: from = 0, maxBytes = file.size } = options;
  const limit = maxBytes - (maxBytes % scan.width); // a piece begins where a unit does
  const chunks: Buffer[] = [];
  const distances: number[] = []; // of breaks from the end, the last one first
  let wanted = count; // breaks, with the one in front of the first line
  let begin = file.size - ((file.size - from) % scan.width); // half a unit at the end is not text
  let kept = 0;
  while (begin > from && distances.length < wanted && kept < limit) {
    // Asked for only now: making a signal takes longer than reading the first piece.
    if (chunks.length > 0) options.signal?.throwIfAborted();
    const size = Math.min(firstPiece << Math.min(chunks.length, 3), begin - from, limit - kept);
    const chunk = await file.read(begin - size, size);
    if (chunk.length === 0) break;
    if (chunks.length === 0 && scan.breakAt(chunk, chunk.length) !== "") wanted++;
    begin -= size;
    kept += chunk.length;
    for (
      let at = scan.before(chunk, chunk.length);
      at > 0 && distances.length < wanted;
      at = scan.before(chunk, at - scan.width)
    )
      distances.push(kept - at);
    chunks.unshift(chunk);
  }
  const [first = Buffer.alloc(0)] = chunks;
  const read = chunks.length > 1 ? Buffer.concat(chunks) : first;
  const whole = begin <= from;
  const found = distances.length === wanted;
  // Where too few were found, the first piece is the end of a line whose beginning was not read, unless the whole
  // file was; it is kept where the limit is what ended it.
  const open = !found && (whole || kept >= limit);
  const start = open ? 0 : read.length - (distances.pop() ?? 0);
  const bytes = start === 0 ? read : read.subarray(start);
  const ends = distances.reverse().map(distance => read.length - distance - start);
  if (bytes.length > (ends.at(-1) ?? 0)) ends.push(bytes.length);
  const before = whole ? scan.skip(read.subarray(0, start), Number.POSITIVE_INFINITY).lines : undefined;
  return {
    bytes,
    ends,
    end: scan.breakAt(bytes, bytes.length),
    first: before === undefined ? undefined : before + 1,
    more: !whole || start > 0,
    total: before === undefined ? undefined : before + ends.length,
    full: open && !whole,
  };
}

/** The same, line by line. */
export async function lastLines(
  file: OpenFile,
  count: number,
  options: LineOptions = {},
): Promise<LineWindow> {
  const { bytes, ends, first, total, more, full } = await tailOf(file, count, options);
  const { encoding, maxLineBytes = Number.POSITIVE_INFINITY } = options;
  const scan = new LineEnds(encoding);
  let at = 0;
  const lines = ends.map((behind): RawLine => {
    const end = scan.breakAt(bytes, behind, at);
    const length = behind - at - end.length * scan.width;
    const shown = Math.min(length, maxLineBytes);
    const line = { bytes: bytes.subarray(at, at + shown), end, left: length - shown };
    at = behind;
    return line;
  });
  return { lines, first, total, more, full };
}
