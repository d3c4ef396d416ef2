// Changes of the past as people read them: one line for each, its files below it, and diffs.
import { isNoText } from "../../engine/text/detect.ts";
import { diffCounts, unifiedDiff } from "../../engine/text/diff.ts";
import { decode } from "../../engine/text/text.ts";
import type { ChangeRecord, RecordedFile } from "../../engine/workspace/archive/log.ts";
import type { Snapshot } from "../../engine/workspace/archive/snapshot.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import { colouredDiff, type Style, visible, visibleName } from "../style.ts";

/** Contents as the policy shows them; undefined if it hides them, or they are not kept. */
export interface ShownPast {
  recorded(at: string, hash: string): Buffer | undefined;
  shown(at: string, bytes: Buffer): Buffer | undefined;
  /** Whether a file is shown with its real bytes. */
  isWhole(at: string): boolean;
}

const maxDiffBytes = 1024 * 1024;

/** `mf3k2a · 2026-08-01 14:03:22 · edit_file · claude-code` */
export function headOf(record: ChangeRecord, { bold, dim, yellow }: Style): string {
  const { id, time, action, client, undoes, partial, kept } = record;
  const back = undoes === undefined ? "" : `undoes ${partial ? "a part of " : ""}${undoes}`;
  const parts = [timeOf(time), action, client, back];
  const known = parts.filter(part => part !== "").map(part => visible(part));
  return `${bold(id)} ${dim("·")} ${known.join(" · ")}${kept ? "" : yellow(" · not completely kept: cannot be undone")}`;
}

function timeOf(time: number): string {
  const date = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19).replace("T", " ");
}

const signs: Readonly<Record<RecordedFile["effect"], string>> = {
  created: "A",
  modified: "M",
  removed: "D",
  moved: "R",
  copied: "C",
  none: " ",
};

/** A file of a change, with the lines that it gained and lost. */
export async function fileLine(file: RecordedFile, shown: ShownPast, { green, red }: Style): Promise<string> {
  const name = shownFrom(process.cwd(), file.at);
  const from = file.from === undefined ? "" : `${visibleName(shownFrom(process.cwd(), file.from))} -> `;
  const texts = await textsOf(file, shown);
  const { added, removed } = texts === undefined ? { added: 0, removed: 0 } : diffCounts(...texts);
  const counts = [added > 0 ? green(`+${added}`) : "", removed > 0 ? red(`-${removed}`) : ""];
  const line = [
    `  ${signs[file.effect]} ${from}${visibleName(name)}${file.kind === "directory" ? "/" : ""}`,
    ...counts,
  ];
  return line.filter(part => part !== "").join(" ");
}

/** The diff of a change to a file; "" if there is none to show. */
export async function diffOf(file: RecordedFile, shown: ShownPast, style: Style): Promise<string> {
  const texts = await textsOf(file, shown);
  if (texts === undefined) return "";
  const name = shownFrom(process.cwd(), file.at);
  const from = file.effect === "created" ? "/dev/null" : shownFrom(process.cwd(), file.from ?? file.at);
  return colouredDiff(
    unifiedDiff(...texts, { from, to: file.effect === "removed" ? "/dev/null" : name }),
    style,
  );
}

/** A diff of two contents; a sentence where they are not text. */
export async function contentDiff(at: string, before: Buffer, after: Buffer, style: Style): Promise<string> {
  const name = shownFrom(process.cwd(), at);
  const [old, made] = [await textOf(at, before), await textOf(at, after)];
  if (old === undefined || made === undefined)
    return `${visibleName(name)}: ${before.length} bytes become ${after.length}\n`;
  return colouredDiff(unifiedDiff(old, made, { from: name, to: name }), style);
}

async function textsOf(
  { at, before, after }: RecordedFile,
  shown: ShownPast,
): Promise<[before: string, after: string] | undefined> {
  const [old, made] = [bytesOf(at, before, shown), bytesOf(at, after, shown)];
  if (old === undefined || made === undefined) return undefined;
  const [from, to] = [await textOf(at, old), await textOf(at, made)];
  return from === undefined || to === undefined ? undefined : [from, to];
}

/** A missing file counts as empty; anything but a file, or content that is not kept, cannot be compared. */
function bytesOf(at: string, snapshot: Snapshot | undefined, past: ShownPast): Buffer | undefined {
  if (snapshot === undefined) return Buffer.alloc(0);
  return snapshot.kind === "file" && snapshot.hash !== undefined
    ? past.recorded(at, snapshot.hash)
    : undefined;
}

async function textOf(at: string, bytes: Buffer): Promise<string | undefined> {
  if (bytes.length > maxDiffBytes || isNoText(bytes)) return undefined;
  return (await decode(at, bytes, { legacy: true })).raw;
}

/** Relative to the current directory if it is below, like `git status`. */
export function shownFrom(directory: string, path: string): string {
  if (!isWithin(path, directory) || path === directory) return path;
  return path.slice(directory.length).replace(/^[/\\]/, "");
}
