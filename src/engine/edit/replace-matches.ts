// Replaces the matches of an expression in a large text. They come packed (find.ts): two million objects would take
// longer to make than the text.
import type { PackedMatches } from "../regex/find.ts";
import { expandedLength, isBehindLastLine, type Replacement } from "../regex/replacement.ts";
import { isBetweenHalves } from "../text/splice.ts";

export interface ReplacedMatches {
  /** In UTF-8. */
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Only the size, if it would exceed `most` characters; undefined if a match or a replacement cuts a character in two. */
export function replaceMatches(
  body: string,
  { packed, groups }: Pick<PackedMatches, "packed" | "groups">,
  replacement: Replacement,
  most: number,
): ReplacedMatches | { readonly size: number } | undefined {
  const stride = 2 + 2 * groups;
  const all = packed.length / stride;
  const count = isBehindLastLine(body, packed[packed.length - stride] ?? 0) ? all - 1 : all;
  if (count === 0) return undefined;
  const length = (match: number, group: number) => lengthOf(packed, match * stride + 2 * group);
  const size = body.length + expandedLength(replacement, count, length);
  if (size > most) return { size };
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < count * stride; at += stride) {
    const start = packed[at] ?? 0;
    let added = "";
    for (const part of replacement) {
      if (typeof part === "string") added += part;
      else if (lengthOf(packed, at + 2 * part) > 0)
        added += body.slice(packed[at + 2 * part], packed[at + 2 * part + 1]);
    }
    parts.push(body.slice(done, start), added);
    done = packed[at + 1] ?? start;
    if (!added.isWellFormed() || isBetweenHalves(body, start) || isBetweenHalves(body, done))
      return undefined;
  }
  parts.push(body.slice(done));
  return { bytes: Buffer.from(parts.join("")), count };
}

/** Of a match or group; one that took no part is empty. */
function lengthOf(packed: Int32Array, at: number): number {
  const start = packed[at] ?? -1;
  return start < 0 ? 0 : (packed[at + 1] ?? start) - start;
}
