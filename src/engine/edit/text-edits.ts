// Edits that are located by content: literally, with tolerance, or by a regular expression.
import { Fault } from "../fault.ts";
import { type FindOptions, findAll, type Match } from "../regex/find.ts";
import { expand, expandedLength, isBehindLastLine, readReplacement } from "../regex/replacement.ts";
import { likeBody } from "../text/endings.ts";
import { LineIndex } from "../text/lines.ts";
import { isBetweenHalves, type Splice } from "../text/splice.ts";
import type { Text } from "../text/text.ts";
import type { LineRange, RegexEdit, ReplaceEdit, Tolerance } from "./edits.ts";
import { hasLoneBreaks, keepLoneBreaks, occurrences, type Region } from "./literal.ts";
import { nearMiss } from "./near.ts";
import { tolerantMatch } from "./tolerance.ts";

export interface TextContext {
  readonly text: Text;
  /** The text to search: the body, or the result of earlier edits. Read only if needed. */
  readonly body: string;
  /** The first places of a text in it, also such as share characters. */
  find(old: string, most: number): Region[];
  readonly edit: number;
}

interface Replacements {
  readonly splices: readonly Splice[];
  readonly tolerance?: Tolerance;
}

/** How many line numbers a refusal names. */
const mostLines = 20;
/** The largest file that a replacement may produce, in characters. */
const largest = 128 * 1024 * 1024;
/** How many pieces of replacements to put together before others get their turn. */
const mostPieces = 100_000;

export function replaceText(edit: ReplaceEdit, context: TextContext): Replacements {
  const { text } = context;
  const old = likeBody(text, edit.old);
  const added = likeBody(text, edit.new);
  if (old === "") {
    const issue = { at: `edits[${context.edit}].old`, rule: "minLength", expected: "not empty", got: '""' };
    throw new Fault("invalid_params", { issues: [issue] });
  }
  const ignoreCase = edit.ignoreCase ?? false;
  const unique = edit.times === "unique";
  if (unique && !ignoreCase && edit.within === undefined) {
    const [region, second] = context.find(old, 2);
    if (region !== undefined && second === undefined) return { splices: [{ ...region, text: added }] };
  }
  const { body } = context;
  const range = edit.within && rangeOf(body, edit.within);
  const most = typeof edit.times === "number" ? edit.times : Number.POSITIVE_INFINITY;
  const settings = { most, ignoreCase, ...(range && { range }) };
  const find = (haystack: string, needle: string) => {
    const first = occurrences(
      haystack,
      needle,
      unique ? { ...settings, most: 2, overlapping: true } : settings,
    );
    if (!unique || first.length < 2) return first;
    // Refused; the count is of places that do not share characters, as long as there are two.
    const apart = occurrences(haystack, needle, settings);
    return apart.length > 1 ? apart : first;
  };
  let regions = find(body, old);
  let adapted = (_: Region) => added;
  if (regions.length === 0 && hasLoneBreaks(text, old)) {
    regions = find(body.replaceAll("\r", "\n"), old.replaceAll("\r", "\n"));
    adapted = region => keepLoneBreaks(body.slice(region.start, region.end), added);
  }
  if (unique && regions.length > 1) refuseAmbiguous(old, regions, "exact", context);
  if (regions.length > 0) {
    return {
      splices: regions.map(region => ({ start: region.start, end: region.end, text: adapted(region) })),
    };
  }
  if (unique && !ignoreCase && edit.tolerances !== undefined && range === undefined) {
    const match = tolerantMatch(body, old, added, edit.tolerances, edit.stretch);
    if (match !== undefined && match.splices.length > 1)
      refuseAmbiguous(old, match.splices, match.tolerance, context);
    if (match !== undefined) return match;
  }
  const near = nearMiss(body, old);
  throw new Fault("no_match", { path: text.path, old: edit.old, edit: context.edit, ...(near && { near }) });
}

export async function replaceRegex(
  edit: RegexEdit,
  context: TextContext,
  options: FindOptions,
): Promise<Replacements> {
  const { text, body } = context;
  const range = edit.within && rangeOf(body, edit.within);
  const part = range === undefined ? body : body.slice(range.start, range.end);
  const offset = range?.start ?? 0;
  const limit = typeof edit.times === "number" ? { limit: edit.times } : {};
  const { ms, signal } = options;
  const found = await findAll(anyBreak(edit.pattern), edit.flags, part, {
    ...(ms === undefined ? {} : { ms }),
    signal,
    byLine: edit.byLine ?? false,
    ...limit,
  });
  const replacement = readReplacement(edit.new, edit.style, found, { path: text.path, edit: context.edit });
  const matches = found.matches.filter(match => !isBehindLastLine(body, offset + match.start));
  // The search has a limit on its results; a partial replacement would not be what was asked for.
  if (found.more && edit.times === "all")
    throw new Fault("too_large", {
      path: text.path,
      size: body.length,
      limit: offset + (found.matches.at(-1)?.end ?? 0),
    });
  if (matches.length === 0)
    throw new Fault("no_match", { path: text.path, old: edit.pattern, edit: context.edit });
  if (edit.times === "unique" && matches.length > 1) {
    refuseAmbiguous(
      edit.pattern,
      matches.map(m => ({ start: offset + m.start, end: offset + m.end })),
      "exact",
      context,
    );
  }
  const size = body.length + expandedLength(replacement, matches.length, lengthIn(matches));
  if (size > largest) throw new Fault("too_large", { path: text.path, size, limit: largest });
  let pieces = 0;
  const splices: Splice[] = [];
  for (const match of matches) {
    const added = likeBody(text, expand(replacement, part, match));
    if (!added.isWellFormed()) refuseHalves(part, match, text);
    splices.push({ start: offset + match.start, end: offset + match.end, text: added });
    pieces += replacement.length;
    if (pieces > mostPieces) {
      pieces = 0;
      await new Promise(resolve => setImmediate(resolve));
      signal?.throwIfAborted();
    }
  }
  return { splices };
}

function lengthIn(matches: readonly Match[]): (match: number, group: number) => number {
  return (i, group) => {
    const span = group === 0 ? matches[i] : matches[i]?.groups[group - 1];
    return span === undefined ? 0 : span.end - span.start;
  };
}

/** Without the flag `u` an expression can take half of a character, which must not get anywhere else. */
function refuseHalves(part: string, match: Match, text: Text): void {
  for (const span of [match, ...match.groups]) {
    if (span === undefined) continue;
    if (!isBetweenHalves(part, span.start) && !isBetweenHalves(part, span.end)) continue;
    const line = new LineIndex(part).lineAt(match.start);
    throw new Fault("unencodable", { path: text.path, encoding: text.codec.name, character: "\ufffd", line });
  }
}

/** A pattern's "\r\n" as "\n": in the body every break is one. Other escapes are left alone. */
export function anyBreak(pattern: string): string {
  return pattern
    .replaceAll("\r\n", "\n")
    .replace(/\\r\\n|\\[\s\S]/g, pair => (pair === "\\r\\n" ? "\\n" : pair));
}

function refuseAmbiguous(
  old: string,
  regions: readonly Region[],
  tolerance: string,
  context: TextContext,
): never {
  const index = new LineIndex(context.body);
  const lines = regions.slice(0, mostLines).map(region => index.lineAt(region.start));
  const { path } = context.text;
  throw new Fault("ambiguous", { path, old, edit: context.edit, count: regions.length, tolerance, lines });
}

function rangeOf(body: string, lines: LineRange): Region {
  const index = new LineIndex(body);
  return { start: index.start(lines.from), end: index.end(lines.to) };
}
