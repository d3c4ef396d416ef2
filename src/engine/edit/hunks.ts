// Applies the hunks of one file to its text. A hunk goes to its line number or, if lines have moved, to the one place
// with its old lines; if there are two such places it is refused. Only changed lines are spliced: context keeps its
// bytes. Line endings are literal if the patch has any "\r"; otherwise the patch fits any endings, and its lines take
// those of their neighbours.

import { createHash } from "node:crypto";
import { append } from "../append.ts";
import { Fault, type NumberedLine } from "../fault.ts";
import { dominantEnding, endingsIn } from "../text/endings.ts";
import { shown } from "../text/escape.ts";
import type { Splice } from "../text/splice.ts";
import { rewriteRaw, type Text, withMarkApart, withMarkInText } from "../text/text.ts";
import { type FileLine, fileLines } from "./file-lines.ts";
import { type HunkPosition, type HunkSearch, locate } from "./locate.ts";
import { type FilePatch, malformed, type PatchHunk, type PatchLine } from "./notation/file-patch.ts";

export interface Patched {
  readonly text: Text;
  /** The position of each hunk in the file as it was. */
  readonly positions: readonly HunkPosition[];
}

/** Lines of the file that a refusal shows. */
const mostShown = 12;

/** Applies the hunks of a patch that changes, renames, copies or deletes. Throws `patch_conflict`. */
export function applyFilePatch(file: Text, patch: FilePatch): Patched {
  const verified = patch.blob !== undefined && isBlob(file.bytes, patch.blob);
  // git shows a byte-order mark as part of the first line; other patches leave it out. A line that git puts on top,
  // without the first line as context, goes before the mark.
  const showsMark =
    patch.hunks.some(hunk => hunk.lines.some(line => line.text.startsWith("\ufeff"))) ||
    (verified && patch.hunks[0]?.oldStart === 0);
  const text = showsMark ? withMarkInText(file) : file;
  const lines = fileLines(text);
  const literal = patch.hunks.some(hunk => hunk.lines.some(line => line.text.endsWith("\r")));
  const target: HunkSearch = { lines, literal, verified };
  const splices: Splice[] = [];
  const positions: HunkPosition[] = [];
  const used: { start: number; end: number }[] = [];
  let drift = 0;
  for (const [number, hunk] of patch.hunks.entries()) {
    const found = locate(hunk, target, used, drift);
    if (typeof found === "string") {
      // It would fit with fewer lines: its counts are more likely to be wrong than its last lines to be this odd.
      if (hunk.nextHeader !== undefined) malformed(hunk.nextHeader, "hunk_too_short");
      const current = currentLines(lines, hunk, used.at(-1)?.end ?? 0);
      const isApplied = found === "no_match" && isThereAlready(hunk, target, used, drift);
      const isOnlyAdded = hunk.lines.every(({ sign }) => sign === "+");
      const why =
        found === "no_anchor" || found === "not_at_end" ? found : isOnlyAdded ? "only_added" : undefined;
      const endsWithBreak = found === "no_match" ? otherEnd(hunk, target, used, drift) : undefined;
      const reason = isApplied ? "already_applied" : found === "ambiguous" ? found : "no_match";
      const place = { path: text.path, hunk: number + 1 };
      throw new Fault("patch_conflict", {
        ...place,
        reason,
        ...(why && { why }),
        ...(endsWithBreak !== undefined && { endsWithBreak }),
        current,
      });
    }
    const old = hunk.lines.filter(line => line.sign !== "+").length;
    const isUnended = hunk.lines.findLast(({ sign }) => sign !== "-")?.end === false;
    if (isUnended && found.at + old < lines.length) {
      // Without a line break it would run into the line below.
      const current = currentLines(lines, hunk, used.at(-1)?.end ?? 0);
      const data = { path: text.path, hunk: number + 1, reason: "no_match", current } as const;
      throw new Fault("patch_conflict", { ...data, endsWithBreak: true });
    }
    used.push({ start: found.at, end: found.at + old });
    if (hunk.oldStart !== undefined) drift = found.offset;
    positions.push(found);
    // A known file has the endings that the patch states, even if nothing around shows them; unless the whole patch
    // came with "\r\n", which was stripped.
    const said = literal || (verified && old === 0 && !patch.crlf);
    append(splices, hunkSplices(hunk, found.at, { ...target, literal: said }, text, patch.crlf ?? false));
  }
  const result = rewriteRaw(text, splices);
  if (patch.kind === "delete" && patch.checkRemoved && result.raw !== "") {
    const left = lines.flatMap((line, i) => {
      const isRemoved = used.some(({ start, end }) => i >= start && i < end);
      return isRemoved ? [] : [{ line: i + 1, text: shown(line.text.slice(0, 500)) }];
    });
    throw new Fault("patch_conflict", {
      path: text.path,
      hunk: Math.max(1, patch.hunks.length),
      reason: "lines_left",
      current: left.slice(0, mostShown),
    });
  }
  return { text: showsMark ? withMarkApart(result) : result, positions };
}

/** Whether the last old line of a hunk has a line break in the file, if the hunk fits but for that. */
function otherEnd(
  hunk: PatchHunk,
  target: HunkSearch,
  used: readonly { readonly start: number; readonly end: number }[],
  drift: number,
): boolean | undefined {
  const last = hunk.lines.findLastIndex(({ sign }) => sign !== "+");
  const lines = hunk.lines.map((line, i) => (i === last ? { ...line, end: !line.end } : line));
  if (typeof locate({ ...hunk, lines }, target, used, drift) === "string") return undefined;
  return !hunk.lines[last]?.end;
}

/** Whether the file has the hunk's new lines where its old ones would be. */
function isThereAlready(
  hunk: PatchHunk,
  target: HunkSearch,
  used: readonly { readonly start: number; readonly end: number }[],
  drift: number,
): boolean {
  if (!hunk.lines.some(({ sign }) => sign === "+")) return false;
  const lines = hunk.lines.flatMap(line => (line.sign === "-" ? [] : [{ ...line, sign: " " as const }]));
  return typeof locate({ ...hunk, lines }, target, used, drift) !== "string";
}

/** Whether bytes are the file that a git hash names. */
function isBlob(bytes: Buffer, hash: string): boolean {
  const algorithm = hash.length > 40 ? "sha256" : "sha1";
  const digest = createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return digest.startsWith(hash);
}

/** One splice for each run of changed lines. */
function hunkSplices(hunk: PatchHunk, at: number, target: HunkSearch, text: Text, crlf: boolean): Splice[] {
  const splices: Splice[] = [];
  const { lines } = target;
  let line = at;
  let from = at;
  let added: PatchLine[] = [];
  const finish = () => {
    if (line > from || added.length > 0)
      splices.push(runSplice(lines, from, line, added, target, text, hunk.oldStart === undefined, crlf));
    added = [];
    from = line;
  };
  for (const one of hunk.lines) {
    if (one.sign === "+") added.push(one);
    else {
      if (one.sign === " ") finish();
      line += 1;
      if (one.sign === " ") from = line;
    }
  }
  finish();
  return splices;
}

/** Replaces the lines [from, to) of the file by added ones. */
function runSplice(
  lines: readonly FileLine[],
  from: number,
  to: number,
  added: readonly PatchLine[],
  target: HunkSearch,
  text: Text,
  endUnknown: boolean,
  crlf: boolean,
): Splice {
  const before = lines[from - 1];
  const start = lines[from]?.start ?? text.raw.length;
  const end = lines[to]?.start ?? text.raw.length;
  if (target.literal) {
    return { start, end, text: added.map(line => line.text + (line.end ? "\n" : "")).join("") };
  }
  const removed = lines.slice(from, to);
  const place = removed.findLast(line => line.end !== "")?.end ?? before?.end ?? lines[to]?.end ?? "";
  const usual = place !== "" ? place : crlf && endingsIn(text) === "none" ? "\r\n" : dominantEnding(text);
  const endOf = (i: number) => (added[i]?.end ? removed[i]?.end || usual : "");
  const joined = added.map((line, i) => line.text + endOf(i)).join("");
  if (!endUnknown) return { start, end, text: joined };
  // An envelope cannot say whether the file ends with a line break, so that stays. A last line without one needs it
  // before appended lines.
  const opensEnd = before !== undefined && before.end === "" && added.length > 0;
  const closesEnd = opensEnd || (to === lines.length && removed.at(-1)?.end === "");
  const last = added.length > 0 ? endOf(added.length - 1).length : 0;
  const kept = closesEnd && last > 0 ? joined.slice(0, -last) : joined;
  return { start, end, text: (opensEnd ? usual : "") + kept };
}

/** The lines of the file where a hunk was meant: where most of its lines are, or else where it says. */
function currentLines(lines: readonly FileLine[], hunk: PatchHunk, from: number): NumberedLine[] {
  const old = hunk.lines.filter(line => line.sign !== "+");
  const stated = hunk.oldStart === undefined ? undefined : Math.max(0, hunk.oldStart - 1);
  const first = Math.max(0, likelyStart(lines, old, from, stated));
  return lines
    .slice(first, first + Math.min(Math.max(old.length, 1), mostShown))
    .map((line, i) => ({ line: first + i + 1, text: shown(line.text.slice(0, 500)) }));
}

/**
 * Each line of the hunk that the file has, whatever its indentation, counts for the place that it would give. A place
 * other than the stated one has to have most of the text; of equal ones, the nearest is taken.
 */
function likelyStart(
  lines: readonly FileLine[],
  old: readonly PatchLine[],
  from: number,
  stated: number | undefined,
): number {
  const offsets = new Map<string, number>();
  for (const [i, { text }] of old.entries()) {
    const trimmed = text.trim();
    if (trimmed !== "" && !offsets.has(trimmed)) offsets.set(trimmed, i);
  }
  const weights = new Map<number, number>();
  const total = old.reduce((sum, { text }) => sum + text.trim().length, 0);
  const enough = stated === undefined ? 0 : total / 2;
  const distance = (start: number) => (stated === undefined ? 0 : Math.abs(start - stated));
  let best = { start: stated ?? from, weight: enough };
  for (const [i, line] of lines.entries()) {
    const text = line.text.trim();
    const offset = i < from ? undefined : offsets.get(text);
    if (offset === undefined) continue;
    const start = i - offset;
    const weight = (weights.get(start) ?? 0) + text.length;
    weights.set(start, weight);
    const isNearer = weight === best.weight && distance(start) < distance(best.start);
    if (weight > best.weight || isNearer) best = { start, weight };
  }
  return best.start;
}
