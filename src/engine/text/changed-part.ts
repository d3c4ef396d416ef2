// The parts of a file in which two versions differ. What they have in common is compared as bytes, which takes almost
// no time, and is not decoded: showing a few lines of a large file does not need the whole text.
import { turnAfter } from "../turn.ts";
import { changedStretches } from "./changed-stretches.ts";
import { utf8 } from "./codec.ts";
import { countBreaks } from "./count-breaks.ts";
import type { Text } from "./text.ts";

type TextPart = Pick<Text, "raw" | "body">;

export interface ChangedPart {
  readonly before: TextPart;
  readonly after: TextPart;
  /** The number of lines before it. */
  readonly skipped: number;
  /** How many more they are in the second version. */
  readonly drift: number;
}

/** Whole lines, and this many around them; both texts in full if lines cannot be found in the bytes. */
export async function changedParts(before: Text, after: Text, context: number): Promise<ChangedPart[]> {
  const a = contentOf(before);
  const b = contentOf(after);
  const whole = [{ before, after, skipped: 0, drift: 0 }];
  // A file without LF may have lines that end with CR.
  const hasLines = before.codec === utf8 && after.codec === utf8 && a.includes(10) && b.includes(10);
  if (!hasLines) return whole;
  const parts: ChangedPart[] = [];
  let [counted, skipped, drift] = [0, 0, 0];
  for (const { aStart, aEnd, bStart, bEnd } of changedStretches(a, b, context)) {
    const [old, made] = [a.subarray(aStart, aEnd), b.subarray(bStart, bEnd)];
    const part = { before: await partOf(old), after: await partOf(made) };
    await turnAfter(bEnd - bStart);
    skipped += countBreaks(a.subarray(counted, aStart));
    parts.push({ ...part, skipped, drift });
    if (aEnd === a.length) break;
    const lines = countBreaks(old);
    drift += countBreaks(made) - lines;
    skipped += lines;
    counted = aEnd;
  }
  return areMixed(parts) ? whole : parts;
}

/** Whether lines that differ as bytes may be the same but for their line endings: then they prove nothing. */
function areMixed(parts: readonly ChangedPart[]): boolean {
  const texts = parts.flatMap(({ before, after }) => [before, after]);
  return texts.some(({ raw, body }) => raw !== body) && texts.some(({ raw }) => /(?<!\r)\n/.test(raw));
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
