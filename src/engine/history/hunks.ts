// Undoes single hunks of changes: the file as the changes left it, without those hunks, is merged into the current
// file. Hunks are numbered across all files, in the order of the diff.
import { append } from "../append.ts";
import { merge } from "../edit/merge.ts";
import { textJob } from "../edit/thread/thread.ts";
import { Fault } from "../fault.ts";
import { isNoText } from "../text/detect.ts";
import { type LineChange, linesWithEndings } from "../text/line-diff.ts";
import { unpackedHunks } from "../text/packed-changes.ts";
import { decode, type Text } from "../text/text.ts";
import { version } from "../text/version.ts";
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Change } from "../workspace/commit/change.ts";
import { gently, TimeSlice } from "../workspace/footprint/time-slice.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { netOf } from "./net.ts";
import { overlapsAsRead } from "./versions.ts";

/** Lines of context by which changes are put together to a hunk. */
export const hunkContext = 2;

/** A file with the net effect of several changes. */
export interface NetText {
  readonly at: string;
  readonly from?: string | undefined;
  /** Absent where the file was not there before, or is not after. */
  readonly before: Text | undefined;
  readonly after: Text | undefined;
  /** Whether the path was there before and is there after, also where its text is not shown. */
  readonly effect: "created" | "changed" | "removed";
  readonly isDirectory: boolean;
  readonly hunks: readonly (readonly LineChange[])[];
  /** The number of its first hunk. */
  readonly first: number;
  /** Only moved, not text, or not kept: nothing can be shown, and its hunks are none. */
  readonly opaque: boolean;
  /** The move has overwritten another file. */
  readonly overwrites: boolean;
  /** See `NetFile`. */
  readonly mixed?: boolean | undefined;
  /** What the file was like before, besides its text: for one that is put back. */
  readonly was?: { readonly mode: number; readonly modified: Date } | undefined;
}

/** Whether a file is at or below `place`, or was moved from there. */
export function isAt({ at, from }: Pick<NetText, "at" | "from">, place: string): boolean {
  return isWithin(at, place) || (from !== undefined && isWithin(from, place));
}

/** Files of which one side is larger than `maxBytes` are opaque. */
export async function netTexts(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<NetText[]> {
  const files: NetText[] = [];
  let first = 1;
  const net = await gently(netOf(records, workspace));
  const slice = new TimeSlice();
  for (const { at, from, before, after, replaced, mixed } of net) {
    if (slice.isOver) await slice.turn();
    const large = [before, after].some(one => one?.kind === "file" && one.size > maxBytes);
    const isRename = from !== undefined && before === after;
    const [old, made] =
      large || isRename || (from !== undefined && workspace.isHidden(from))
        ? (["opaque", "opaque"] as const)
        : [await textOf(workspace, from ?? at, before), await textOf(workspace, at, after)];
    const opaque = old === "opaque" || made === "opaque";
    const texts = {
      before: old === "opaque" ? undefined : old,
      after: made === "opaque" ? undefined : made,
    };
    const bodies = [texts.before?.body ?? "", texts.after?.body ?? ""] as const;
    const size = bodies[0].length + bodies[1].length;
    const hunks = opaque ? [] : unpackedHunks(await textJob("hunksBetween", size, ...bodies, hunkContext));
    const was =
      before?.kind === "file" ? { mode: before.mode, modified: new Date(before.modified) } : undefined;
    const overwrites = replaced !== undefined;
    const effect = before === undefined ? "created" : after === undefined ? "removed" : "changed";
    const isDirectory = (after ?? before)?.kind === "directory";
    files.push({ at, from, ...texts, effect, isDirectory, hunks, first, opaque, overwrites, mixed, was });
    first += hunks.length;
  }
  return files;
}

async function textOf(
  workspace: Workspace,
  at: string,
  snapshot: Snapshot | undefined,
): Promise<Text | "opaque" | undefined> {
  if (snapshot === undefined) return undefined;
  if (!workspace.isShownWhole(at)) return "opaque"; // lines of a masked file are not those on the disk
  const { archive } = workspace;
  const { hash } = snapshot.kind === "file" ? snapshot : {};
  const bytes = hash === undefined ? undefined : await archive.objects.getLater(hash);
  return bytes === undefined || isNoText(bytes) ? "opaque" : await decode(at, bytes, { legacy: true });
}

export interface WithoutHunks {
  readonly changes: readonly Change[];
  readonly files: readonly { readonly at: string; readonly before?: Buffer; readonly after?: Buffer }[];
}

/** The changes that take these hunks back. Faults: `stale`, `unknown_hunk`. */
export async function withoutHunks(
  workspace: Workspace,
  net: readonly NetText[],
  numbers: readonly number[],
): Promise<WithoutHunks> {
  const last = net.reduce((sum, { hunks }) => sum + hunks.length, 0);
  const wrong = numbers.find(number => number < 1 || number > last);
  if (wrong !== undefined) throw new Fault("unknown_hunk", { hunk: wrong, hunks: last });
  const changes: Change[] = [];
  const files: { at: string; before?: Buffer; after?: Buffer }[] = [];
  const wanted = new Set(numbers);
  const slice = new TimeSlice();
  for (const file of net) {
    const chosen = file.hunks.filter((_, i) => wanted.has(file.first + i));
    if (chosen.length === 0) continue;
    if (slice.isOver) await slice.turn();
    const made = await inverse(workspace, file, chosen);
    if (made.before !== undefined && made.after?.equals(made.before)) continue; // undone before
    changes.push(made.change);
    files.push({
      at: file.at,
      ...(made.before && { before: made.before }),
      ...(made.after && { after: made.after }),
    });
  }
  return { changes, files };
}

async function inverse(
  workspace: Workspace,
  { at, before, after, hunks, was }: NetText,
  chosen: readonly (readonly LineChange[])[],
): Promise<{ change: Change; before?: Buffer; after?: Buffer }> {
  const path = workspace.place(at);
  if (after === undefined) {
    const bytes = before?.bytes ?? Buffer.alloc(0);
    return { change: { kind: "write", path, bytes, expect: "absent", ...was }, after: bytes };
  }
  using file = await workspace.openUnmasked(path);
  const current = await file.bytes(workspace.archive.limits.maxFileBytes);
  if (before === undefined && chosen.length === hunks.length && current.equals(after.bytes))
    return { change: { kind: "remove", path, expect: current }, before: current };
  const like = { encoding: after.codec.name };
  const raw = reverted(before?.raw ?? "", after.raw, chosen.flat());
  const ours = await decode(at, encoded(after, raw), like);
  const theirs = await decode(at, current, like);
  const merged = await merge(after, { text: ours }, theirs);
  if (!("text" in merged)) {
    const overlaps = await overlapsAsRead(after, ours, theirs, merged.overlaps);
    const lines = overlaps.flatMap(overlap => overlap.current);
    throw new Fault("stale", { path: at, current: lines, version: version(current) });
  }
  const { bytes } = merged.text;
  return { change: { kind: "write", path, bytes, expect: current }, before: current, after: bytes };
}

function encoded({ codec, mark }: Text, raw: string): Buffer {
  return mark ? Buffer.concat([codec.mark, codec.encode(raw)]) : codec.encode(raw);
}

/** The second text with some changes as they were in the first. */
function reverted(before: string, after: string, changes: readonly LineChange[]): string {
  const [old, lines] = [linesWithEndings(before), linesWithEndings(after)];
  const parts: string[] = [];
  let at = 0;
  for (const { aStart, aEnd, bStart, bEnd } of changes) {
    append(parts, lines.slice(at, bStart));
    append(parts, old.slice(aStart, aEnd));
    at = bEnd;
  }
  return [...parts, ...lines.slice(at)].join("");
}
