// Differences as the page shows them: hunks with their lines and colours, within bounds. What cannot be shown line by
// line (large, binary, not kept) is described in a few words.
import { hunkContext } from "../engine/history/hunks.ts";
import { languageOf } from "../engine/syntax/language.ts";
import { diffCounts, unifiedDiff } from "../engine/text/diff.ts";
import { humanSize } from "../engine/text/size.ts";
import type { Text } from "../engine/text/text.ts";
import type { Difference, FileDifference, FileSummary, Hunk } from "./api.ts";
import { coloured } from "./colours.ts";
import { type FileSide, type FileSides, shownText } from "./sides.ts";
import { nameOf, originOf, type Viewer } from "./viewer.ts";

const longestLine = 2000;

export interface Limits {
  /** Lines of one file, and of all of them; the rest is cut. */
  readonly fileLines: number;
  readonly allLines: number;
  readonly files: number;
}

export const overview: Limits = { fileLines: 2000, allLines: 10_000, files: 200 };
export const wholeFile: Limits = { fileLines: 20_000, allLines: 20_000, files: 1 };

/** What is to be shown. `first` is the number of its first hunk, where hunks can be undone one by one. */
export interface ShownFile extends FileSides {
  readonly first?: number;
}

export async function differenceOf(
  viewer: Viewer,
  files: readonly ShownFile[],
  limits: Limits,
): Promise<Difference> {
  const shown: FileDifference[] = [];
  const omitted: FileSummary[] = [];
  let left = limits.allLines;
  let added = 0;
  let removed = 0;
  for (const file of files) {
    if (viewer.workspace.isHidden(file.at)) continue;
    if (left <= 0 || shown.length >= limits.files) {
      if (omitted.length < 1000) omitted.push(summaryOf(viewer, file));
      continue;
    }
    const one = await fileDifference(viewer, file, Math.min(left, limits.fileLines));
    left -= 1 + one.hunks.reduce((sum, { spans }) => sum + spans.length, 0);
    added += one.added ?? 0;
    removed += one.removed ?? 0;
    shown.push(one);
  }
  return { files: shown, omitted, added, removed };
}

function summaryOf(viewer: Viewer, { at, from, before, after }: FileSides): FileSummary {
  const kind = after?.kind ?? before?.kind ?? "file";
  return {
    path: at,
    name: nameOf(viewer, at),
    effect: effectOf(viewer, { at, from, before, after }),
    kind: kind === "special" ? "other" : kind,
    ...originOf(viewer, from),
  };
}

function effectOf({ workspace }: Viewer, { at, from, before, after }: FileSides): FileSummary["effect"] {
  if (from !== undefined) return "moved";
  if (before === undefined) return "created";
  if (after === undefined) return "removed";
  const same = before.kind === "file" && "bytes" in before && after.kind === "file" && "bytes" in after;
  if (!same || !workspace.isShownWhole(at)) return "changed"; // comparing what is hidden would confirm a guess
  return before.bytes.equals(after.bytes) ? "mode" : "changed";
}

async function fileDifference(viewer: Viewer, file: ShownFile, maxLines: number): Promise<FileDifference> {
  const { workspace } = viewer;
  const summary = summaryOf(viewer, file);
  const without = (shows: FileDifference["shows"]): FileDifference => ({
    ...summary,
    shows,
    ...aboutOf(file, shows),
    hunks: [],
  });
  const [old, made] = [
    await shownText(workspace, file.from ?? file.at, file.before),
    await shownText(workspace, file.at, file.after),
  ];
  for (const reason of ["unkept", "large", "binary", "entry"] as const)
    if (old === reason || made === reason) return without(reason);
  const texts = [old, made] as (Text | "none")[];
  const [a, b] = texts.map(text => (text === "none" ? "" : (text as Text).body)) as [string, string];
  const whole = [file.at, file.from ?? file.at].every(at => workspace.isShownWhole(at));
  if (a === b) return without(summary.effect === "moved" ? "moved" : whole ? "entry" : "masked");
  const counts = diffCounts(a, b);
  const { hunks, more } = await hunksOf(file.at, a, b, maxLines, whole ? file.first : undefined);
  const language = languageOf(file.at, b === "" ? a : b)?.name;
  return {
    ...summary,
    ...counts,
    shows: whole ? "text" : "masked",
    ...(language !== undefined && { language }),
    hunks,
    ...(more && { more }),
  };
}

export async function hunksOf(
  at: string,
  before: string,
  after: string,
  maxLines: number,
  first?: number,
): Promise<{ hunks: Hunk[]; more: boolean }> {
  const all = unifiedDiff(before, after, { context: hunkContext }).split(/^(?=@@ )/m);
  const kept: { readonly text: string; readonly isWhole: boolean }[] = [];
  let left = maxLines;
  for (const hunk of all) {
    const lines = hunk.replace(/\n$/, "").split("\n");
    const isWhole = lines.length <= left + 1;
    if (!isWhole && kept.length > 0) break;
    kept.push({ text: lines.slice(0, left + 1).join("\n"), isWhole });
    left -= lines.length - 1;
    if (left <= 0) break;
  }
  const spans = await coloured(
    at,
    before,
    after,
    kept.map(({ text }) => text),
  );
  const hunks = kept.map(
    ({ text, isWhole }, i): Hunk => ({
      ...(first !== undefined && isWhole && { number: first + i }),
      text: text.split("\n").map(shortened).join("\n"),
      spans: spans[i] ?? [],
    }),
  );
  return { hunks, more: kept.length < all.length || kept.some(({ isWhole }) => !isWhole) };
}

function shortened(line: string): string {
  if (line.length <= longestLine) return line;
  return `${line.slice(0, longestLine)}… (+${line.length - longestLine} characters)`;
}

function aboutOf({ before, after }: FileSides, shows: FileDifference["shows"]): { about?: string } {
  const about = shows === "entry" ? entryChange(before, after) : sizes(shows, before, after);
  return about === "" ? {} : { about };
}

function sizes(
  shows: FileDifference["shows"],
  before: FileSide | undefined,
  after: FileSide | undefined,
): string {
  if (shows === "moved") return "as it was";
  if (shows === "masked") return "only hidden values differ";
  const size = (side: FileSide | undefined) =>
    side === undefined ? undefined : side.kind === "file" ? humanSize(side.size) : side.kind;
  const what = { binary: "binary", large: "too large to compare", unkept: "contents not kept" }[
    shows as string
  ];
  return [what, [size(before), size(after)].filter(one => one !== undefined).join(" to ")]
    .filter(Boolean)
    .join(", ");
}

function entryChange(before: FileSide | undefined, after: FileSide | undefined): string {
  const said = (side: FileSide | undefined) => {
    if (side === undefined) return "nothing";
    if (side.kind === "symlink") return `link to ${side.target}`;
    if (side.kind === "file") return `file, ${humanSize(side.size)}`;
    return side.kind === "special" ? "special file" : side.kind;
  };
  const [a, b] = [said(before), said(after)];
  const modes = [before, after].map(side => (side && "mode" in side ? side.mode : undefined));
  if (a === b && modes[0] !== undefined && modes[1] !== undefined && modes[0] !== modes[1])
    return `mode ${octal(modes[0])} to ${octal(modes[1])}`;
  if (before === undefined) return b;
  return after === undefined ? a : `${a} to ${b}`;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(3, "0");
}
