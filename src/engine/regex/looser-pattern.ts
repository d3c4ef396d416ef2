// Converts a JavaScript expression to a looser one in ripgrep's syntax, which matches wherever the original does, and
// perhaps elsewhere: for finding candidate files, never for deciding. What both engines treat the same (ASCII
// characters and classes, groups, alternatives, repetition) is carried over; what they may treat differently becomes
// "anything" or no condition; anything uncertain gives no pattern at all.
//
// JavaScript counts UTF-16 units and ripgrep bytes, including invalid UTF-8: one unit is up to four bytes, or none
// for the second half of a character.

import { append } from "../append.ts";
import {
  type Alternatives,
  type CharacterClass,
  parseRegex,
  type RegexNode,
  type Repetition,
} from "./regex-tree.ts";

const anyByte = "(?-u:[^\\n])";
const anyUnit: LooserPart = { source: `${anyByte}{0,4}`, empty: true, wide: true };
const anything: LooserPart = { source: `${anyByte}*`, empty: true, wide: true };
const nothing: LooserPart = { source: "", empty: true, wide: false };

/** Repetitions beyond this many are not counted. */
const mostCounted = 8;
const deepest = 50;

interface LooserPart {
  readonly source: string;
  /** Whether it may match nothing. */
  readonly empty: boolean;
  /** Whether it matches any text. */
  readonly wide: boolean;
}

/**
 * The pattern for single lines, matched with the original's case sensitivity. Undefined if there is none, or if it
 * would match every line. The original must be valid, without the flags `u` and `v`.
 */
export function looserPattern(pattern: string, ignoreCase: boolean): string | undefined {
  const part = alternatives(parseRegex(pattern), ignoreCase, 0);
  return part === undefined || part.empty ? undefined : part.source;
}

function alternatives({ options }: Alternatives, ignoreCase: boolean, depth: number): LooserPart | undefined {
  if (depth > deepest) return undefined;
  const parts: LooserPart[] = [];
  for (const nodes of options) {
    let source = "";
    let empty = true;
    for (const node of nodes) {
      const part = looser(node, ignoreCase, depth);
      if (part === undefined) return undefined;
      source += part.source;
      empty &&= part.empty;
    }
    parts.push({ source, empty, wide: false });
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const source = `(?:${parts.map(part => part.source).join("|")})`;
  return { source, empty: parts.some(part => part.empty), wide: false };
}

function looser(node: RegexNode, ignoreCase: boolean, depth: number): LooserPart | undefined {
  switch (node.is) {
    case "edge":
      return nothing;
    case "any":
      return anyUnit;
    case "backreference":
      return anything;
    case "set":
      return node.negated || node.of === "s" ? anyUnit : classOf(shorthand[node.of]);
    case "character":
      return literal(node.point, ignoreCase);
    case "class":
      return looserClass(node);
    case "repetition":
      return repeated(node, node.of && looser(node.of, ignoreCase, depth));
    case "group": {
      const inside = alternatives(node.body, ignoreCase, depth + 1);
      if (inside === undefined || node.kind === "unknown" || !node.isClosed) return undefined;
      // Assertions are left to the exact match.
      return node.kind === "look" ? nothing : { ...inside, source: `(?:${inside.source})` };
    }
    default:
      return undefined;
  }
}

function repeated({ least, most }: Repetition, part: LooserPart | undefined): LooserPart | undefined {
  if (part === undefined || part.source === "") return part;
  if (part.wide) return anything;
  const from = Math.min(least, mostCounted);
  const source = `(?:${part.source})${most === 1 ? (from === 0 ? "?" : "") : `{${from},}`}`;
  return { source, empty: part.empty || from === 0, wide: false };
}

function literal(point: number, ignoreCase: boolean): LooserPart | undefined {
  if (point === 10) return undefined;
  // Two units, and a repetition takes the second of them alone.
  if (point > 0xffff) return { ...anyUnit, source: anyUnit.source.repeat(2) };
  // The engines differ on case beyond ASCII, on halves of characters, and on invalid bytes.
  const isSame = point < 128 || (!ignoreCase && point !== 0xfffd && (point < 0xd800 || point > 0xdfff));
  return isSame ? { source: hex(point), empty: false, wide: false } : anyUnit;
}

function looserClass({ negated, members }: CharacterClass): LooserPart | undefined {
  const ranges: CodePointRange[] = [];
  for (const member of members) {
    if (member.is === "character") ranges.push([member.point, member.point]);
    else if (member.is === "set" && !member.negated && member.of !== "s")
      append(ranges, shorthand[member.of]);
    else if (member.is === "set") return anyUnit;
    else if (member.is !== "range") return undefined;
    else if (member.low.is !== "character" || member.high.is !== "character") return undefined;
    else ranges.push([member.low.point, member.high.point]);
  }
  if (negated || ranges.length === 0 || ranges.some(([, high]) => high > 127)) return anyUnit;
  return classOf(ranges);
}

type CodePointRange = readonly [low: number, high: number];

const shorthand: Readonly<Record<"d" | "w", readonly CodePointRange[]>> = {
  d: [[48, 57]],
  w: [
    [48, 57],
    [65, 90],
    [95, 95],
    [97, 122],
  ],
};

function classOf(ranges: readonly CodePointRange[]): LooserPart {
  const source = `[${ranges.map(([low, high]) => `${hex(low)}-${hex(high)}`).join("")}]`;
  return { source, empty: false, wide: false };
}

function hex(code: number): string {
  return /\w/.test(String.fromCharCode(code)) && code < 128
    ? String.fromCharCode(code)
    : `\\x{${code.toString(16)}}`;
}
