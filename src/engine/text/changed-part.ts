// The part of a file in which two versions differ. The common start and end are compared as bytes, which takes almost
// no time, and are not decoded: showing a few lines of a large file does not need the whole text.
import { turnAfter } from "../turn.ts";
import { utf8 } from "./codec.ts";
import { countBreaks } from "./count-breaks.ts";
import type { Text } from "./text.ts";

type TextPart = Pick<Text, "raw" | "body">;

export interface ChangedPart {
  readonly before: TextPart;
  readonly after: TextPart;
  /** The number of lines before it. */
  readonly skipped: number;
}

/** Whole lines, and this many around them; both texts in full if lines cannot be found in the bytes. */
export async function changedPart(before: Text, after: Text, context: number): Promise<ChangedPart> {
  const a = contentOf(before);
  const b = contentOf(after);
  // A file without LF may have lines that end with CR.
  const hasLines = before.codec === utf8 && after.codec === utf8 && a.includes(10) && b.includes(10);
  if (!hasLines) return { before, after, skipped: 0 };
  const from = lineStart(a, commonStart(a, b), 0);
  const start = lineStart(a, from, context);
  const tail = linesBehind(a, commonEnd(a, b, from), context);
  const parts = {
    before: await partOf(a.subarray(start, a.length - tail)),
    after: await partOf(b.subarray(start, b.length - tail)),
  };
  if (areMixed(parts)) return { before, after, skipped: 0 };
  await turnAfter(b.length - tail - start);
  return { ...parts, skipped: countBreaks(a.subarray(0, start)) };
}

/** Whether lines that differ as bytes may be the same but for their line endings: then they prove nothing. */
function areMixed({ before, after }: { readonly before: TextPart; readonly after: TextPart }): boolean {
  const parts = [before, after];
  return parts.some(({ raw, body }) => raw !== body) && parts.some(({ raw }) => /(?<!\r)\n/.test(raw));
}

function contentOf({ bytes, mark, codec }: Text): Buffer {
  return mark ? bytes.subarray(codec.mark.length) : bytes;
}

async function partOf(bytes: Buffer): Promise<TextPart> {
  await turnAfter(bytes.length);
  const raw = utf8.decode(bytes);
  await turnAfter(bytes.length);
  return { raw, body: raw.replaceAll("\r\n", "\n") };
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

function commonEnd(a: Buffer, b: Buffer, from: number): number {
  const most = Math.min(a.length, b.length) - from;
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
