// The JSON of a record about many files, made in pieces: `JSON.stringify` of 100,000 entries takes a second.
import type { Steps } from "../footprint/time-slice.ts";

/** A longer list is made in parts. */
const mostAtOnce = 200;
/** Lists deeper than this are short. */
const deepest = 2;

/** The bytes of `JSON.stringify(value)`. Pauses after each part of a long list. */
export function* jsonSteps(value: unknown): Steps<Buffer> {
  if (!hasLongList(value, 0)) return Buffer.from(JSON.stringify(value));
  const parts: Buffer[] = [];
  yield* add(value, parts, 0);
  return Buffer.concat(parts);
}

function hasLongList(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.length > mostAtOnce;
  if (depth === deepest || typeof value !== "object" || value === null) return false;
  return Object.values(value).some(one => hasLongList(one, depth + 1));
}

function* add(value: unknown, parts: Buffer[], depth: number): Steps<void> {
  if (Array.isArray(value) && value.length > mostAtOnce) {
    for (let at = 0; at < value.length; at += mostAtOnce) {
      const list = JSON.stringify(value.slice(at, at + mostAtOnce));
      parts.push(Buffer.from((at === 0 ? "[" : ",") + list.slice(1, -1)));
      yield;
    }
    parts.push(Buffer.from("]"));
  } else if (depth < deepest && typeof value === "object" && value !== null && !Array.isArray(value)) {
    let before = "{";
    for (const [key, one] of Object.entries(value)) {
      if (one === undefined) continue;
      parts.push(Buffer.from(`${before}${JSON.stringify(key)}:`));
      yield* add(one, parts, depth + 1);
      before = ",";
    }
    parts.push(Buffer.from(before === "{" ? "{}" : "}"));
  } else parts.push(Buffer.from(JSON.stringify(value)));
}
