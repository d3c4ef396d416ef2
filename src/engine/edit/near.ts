// Why a text was not found: the nearest region, and how it differs. A precise hint is worth more than loose matching:
// the caller can repeat the edit correctly.
import type { NearMiss, NumberedLine } from "../fault.ts";
import { shown } from "../text/escape.ts";
import { indexOfText } from "../text/index-of.ts";
import { LineIndex } from "../text/lines.ts";
import { occurrences } from "./literal.ts";
import { plainType, tolerantMatch } from "./tolerance.ts";

const mostLines = 12;
/** Beyond this a region is hardly the intended one. */
const likely = { lines: 2, characters: 500 };
/** Looking for a similar line costs; files beyond this many characters are not searched for one. */
const largest = 4_000_000;

export function nearMiss(body: string, old: string): NearMiss | undefined {
  if (old.trim() === "") return undefined;
  const index = new LineIndex(body);
  const near = (at: number, difference: NearMiss["difference"], lines = old.split("\n").length): NearMiss => {
    const line = index.lineAt(at);
    return { line, difference, current: placesFrom(body, index, line, Math.min(lines, mostLines)) };
  };
  const unnumbered = withoutLineNumbers(old);
  if (unnumbered !== undefined) {
    const at = placeOf(body, unnumbered);
    if (at !== undefined) return near(at, "line_numbers");
  }
  const unescaped = old.replaceAll("\\r\\n", "\n").replaceAll("\\n", "\n");
  const broken = unescaped === old ? -1 : indexOfText(body, unescaped);
  if (broken >= 0) return near(broken, "line_endings");
  const spaced = tolerantMatch(body, old, "", ["trimmed_lines", "collapsed", "trimmed", "flowed"], likely)
    ?.splices[0];
  if (spaced !== undefined) return near(spaced.start, "whitespace");
  const quoted = placeOf(plainType(body), plainType(old));
  if (quoted !== undefined) return near(quoted, "quotes");
  const cased = occurrences(body, old, { most: 1, ignoreCase: true })[0];
  if (cased !== undefined) return near(cased.start, "case");
  const similar = similarPlace(body, index, old);
  return similar === undefined ? undefined : near(similar, "text");
}

/** Lines of a text as they are shown in a refusal. */
export function placesFrom(body: string, index: LineIndex, line: number, count: number): NumberedLine[] {
  const last = Math.min(line + count - 1, index.count("terminated"));
  const places: NumberedLine[] = [];
  for (let at = Math.max(1, line); at <= last; at++) {
    const text = body.slice(index.start(at), Math.min(index.end(at), index.start(at) + 500));
    places.push({ line: at, text: shown(text) });
  }
  return places;
}

function placeOf(body: string, old: string): number | undefined {
  const at = indexOfText(body, old);
  return at >= 0 ? at : tolerantMatch(body, old, "", ["trimmed_lines", "trimmed"])?.splices[0]?.start;
}

/** The text without line numbers, if every line that is not blank begins with one as listings print them. */
function withoutLineNumbers(old: string): string | undefined {
  const lines = old.split("\n");
  const number = /^\s*\d+(?:\t|: ?| ?\| ?|→|- )/;
  const filled = lines.filter(line => line.trim() !== "");
  if (!filled.every(line => number.test(line) || /^\s*\d+$/.test(line))) return undefined;
  return lines
    .map(line => (number.test(line) ? line.replace(number, "") : line.replace(/^\s*\d+$/, "")))
    .join("\n");
}

/** Where the block would begin, judging by the line most similar to its longest one: by common words, long ones first. */
function similarPlace(body: string, index: LineIndex, old: string): number | undefined {
  const lines = old.split("\n");
  const longest = lines.reduce((a, b) => (b.trim().length > a.trim().length ? b : a), "");
  const offset = lines.indexOf(longest);
  const exact = indexOfText(body, longest.trim());
  if (exact >= 0) return index.start(Math.max(1, index.lineAt(exact) - offset));
  const words = new Set(longest.match(/\w{2,}/g) ?? []);
  if (words.size === 0 || body.length > largest) return undefined;
  const wanted = lengthOf(words);
  let best = 0;
  let bestLine = 0;
  for (let line = 1; line <= index.count("terminated"); line++) {
    const others = new Set(body.slice(index.start(line), index.end(line)).match(/\w{2,}/g) ?? []);
    const score = lengthOf([...others].filter(word => words.has(word))) / Math.max(wanted, lengthOf(others));
    if (score > best) [best, bestLine] = [score, line];
  }
  return best >= 0.5 ? index.start(Math.max(1, bestLine - offset)) : undefined;
}

function lengthOf(words: Iterable<string>): number {
  let length = 0;
  for (const word of words) length += word.length;
  return length;
}
