// The stretches of bytes in which two versions of a file differ, as whole lines. Many equal lines are between two of
// them, so their diffs are together the diff of the files.

/** Ranges of bytes of both versions. */
export interface Stretch {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Up to this size, what is between the common start and the common end is one stretch. */
const worthDividing = 128 * 1024;
/** More would take a while, and go to a thread as one. */
const mostStretches = 200;
/** How many lines of each version can have changed between two places that correspond. */
const mostChanged = 12;
/** As many equal lines, and as many bytes, prove that two places correspond. */
const proof = { lines: 10, bytes: 2048 };

/** Places of both versions from which on their bytes are the same for a while. */
interface Meeting {
  readonly a: number;
  readonly b: number;
}

/** What differs, with this many lines around it. The versions are not the same. */
export function changedStretches(a: Buffer, b: Buffer, context: number): Stretch[] {
  const all = restFrom({ a: 0, b: 0 }, a, b, context);
  if (Math.max(all.aEnd - all.aStart, all.bEnd - all.bStart) <= worthDividing) return [all];
  const found: Stretch[] = [];
  for (let at: Meeting | undefined = { a: 0, b: 0 }; at !== undefined; ) {
    const line = changedLine(at, a, b);
    if (line === undefined) break;
    const next = found.length < mostStretches ? meetingAfter(line, a, b) : undefined;
    const stretch = next === undefined ? restFrom(at, a, b, context) : between(at, line, next, a, context);
    const last = found.at(-1);
    if (last === undefined || stretch.aStart > last.aEnd) found.push(stretch);
    else found[found.length - 1] = { ...stretch, aStart: last.aStart, bStart: last.bStart };
    at = next;
  }
  return found;
}

/** From the first difference to the common end. */
function restFrom(at: Meeting, a: Buffer, b: Buffer, context: number): Stretch {
  const line = changedLine(at, a, b) ?? { a: a.length, b: b.length };
  const aStart = Math.max(at.a, lineStart(a, line.a, context));
  const tail = linesBehind(a, commonEnd(a.subarray(line.a), b.subarray(line.b)), context);
  const bStart = aStart + at.b - at.a;
  return { aStart, aEnd: a.length - tail, bStart, bEnd: b.length - tail };
}

function between(at: Meeting, line: Meeting, next: Meeting, a: Buffer, context: number): Stretch {
  const aStart = Math.max(at.a, lineStart(a, line.a, context));
  // Among lines that are alike, a change may be shown a little later than where it ends.
  const aEnd = linesOn(a, next.a, context + 2 * mostChanged);
  return { aStart, aEnd, bStart: aStart + at.b - at.a, bEnd: aEnd + next.b - next.a };
}

/** The start of the line with the first difference. */
function changedLine(at: Meeting, a: Buffer, b: Buffer): Meeting | undefined {
  const equal = commonStart(a.subarray(at.a), b.subarray(at.b));
  if (at.a + equal === a.length && at.b + equal === b.length) return undefined;
  const line = Math.max(at.a, lineStart(a, at.a + equal, 0));
  return { a: line, b: line + at.b - at.a };
}

/** Where the versions meet again after a change of a few lines; undefined if that is not certain. */
function meetingAfter(line: Meeting, a: Buffer, b: Buffer): Meeting | undefined {
  const inB = linesFrom(b, line.b);
  let met: Meeting | undefined;
  for (const from of linesFrom(a, line.a)) {
    const to = Math.max(from + proof.bytes, linesOn(a, from, proof.lines));
    for (const start of inB) {
      // The lines with the difference. As long as one of them goes on, they can still begin alike.
      if (from === line.a && start === line.b) continue;
      const end = start + to - from;
      if (met !== undefined && start - from === met.b - met.a) continue;
      if (to > a.length || end > b.length || b.compare(a, from, to, start, end) !== 0) continue;
      if (met !== undefined) return undefined;
      met = { a: from, b: start };
    }
  }
  return met;
}

/** Where the lines from here on begin. */
function linesFrom(bytes: Buffer, first: number): number[] {
  const starts = [first];
  for (let at = first; starts.length <= mostChanged && at < bytes.length; starts.push(at))
    at = linesOn(bytes, at, 1);
  return starts;
}

/** The end of this many lines. */
function linesOn(bytes: Buffer, from: number, lines: number): number {
  let at = from;
  for (let i = 0; i < lines && at < bytes.length; i++) at = bytes.indexOf(10, at) + 1 || bytes.length;
  return at;
}

const blocks = [65_536, 4096, 256];

function commonStart(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  for (const block of blocks)
    while (at + block <= most && a.compare(b, at, at + block, at, at + block) === 0) at += block;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}

function commonEnd(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length);
  let tail = 0;
  const isSame = (block: number) => {
    const [inA, inB] = [a.length - tail, b.length - tail];
    return a.compare(b, inB - block, inB, inA - block, inA) === 0;
  };
  for (const block of blocks) while (tail + block <= most && isSame(block)) tail += block;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return tail;
}

/** The start of the line at an offset, then this many lines back. */
function lineStart(bytes: Buffer, offset: number, back: number): number {
  let at = offset;
  for (let i = 0; i <= back && at > 0; i++) {
    const end = i === 0 ? at - 1 : at - 2;
    at = end < 0 ? 0 : bytes.lastIndexOf(10, end) + 1;
  }
  return at;
}

/** The rest of a common end, without the line in which the difference ends and this many after it. */
function linesBehind(bytes: Buffer, tail: number, lines: number): number {
  let left = tail;
  for (let i = 0; i <= lines && left > 0; i++) {
    const at = bytes.indexOf(10, bytes.length - left);
    left = at < 0 ? 0 : bytes.length - at - 1;
  }
  return left;
}
