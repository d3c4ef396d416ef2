// Versions: contents that a caller has read are kept by hash, so that an edit against an older version can be merged
// into the current file. It is refused only if both changed the same lines.
import { isAscii, isUtf8 } from "node:buffer";
import { isNotebook } from "../document/notebook.ts";
import { type Merged, type MergeSide, merge } from "../edit/merge.ts";
import { textJob } from "../edit/thread/thread.ts";
import type { Overlap } from "../edit/weave.ts";
import { Fault, type Faults, type NumberedLine } from "../fault.ts";
import { type Detected, detect, isBinary } from "../text/detect.ts";
import type { LineChange } from "../text/line-diff.ts";
import { type DecodeOptions, decode, type Text } from "../text/text.ts";
import { contentHash, hashInTurns, version, versionOf } from "../text/version.ts";
import { turnAfter } from "../turn.ts";
import type { Archive } from "../workspace/archive/archive.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Workspace } from "../workspace/workspace.ts";

const maxRememberedBytes = 16 * 1024 * 1024;

/** Where the versions of a file are kept. */
export interface Past {
  readonly workspace: Workspace;
  /** Where the file really is, absolute. */
  readonly at: string;
}

/**
 * The version of a file's bytes as the caller sees them, which are kept for later. The answer does not wait for that.
 * A read-only server writes nothing to the state directory either: the latest are kept in memory.
 */
export function remember(
  workspace: Workspace,
  at: string,
  bytes: Uint8Array,
  hash = contentHash(bytes),
): string {
  if (isReadOnly(workspace)) workspace.recentReads.keep(at, bytes, hash);
  else if (bytes.length <= maxRememberedBytes && !workspace.openedArchive?.sightings.isRecent(at, hash))
    setImmediate(keep, workspace, at, bytes, hash);
  return versionOf(hash);
}

function isReadOnly({ roots }: Workspace): boolean {
  return !roots.some(({ access }) => access === "read-write");
}

/** Remembers a version again whose bytes are not at hand; false if they are needed for that. */
export function rememberAgain(workspace: Workspace, at: string, size: number, hash: string): boolean {
  if (size > maxRememberedBytes) return true; // never remembered
  if (isReadOnly(workspace)) return workspace.recentReads.has(at, hash);
  try {
    const { archive } = workspace;
    if (archive.sightings.isRecent(at, hash)) return true;
    if (!archive.reads.has(hash)) return false;
    archive.sightings.add(at, hash);
    return true;
  } catch {
    return false;
  }
}

function keep(workspace: Workspace, at: string, bytes: Uint8Array, hash: string): void {
  try {
    const { archive } = workspace;
    if (archive.sightings.isRecent(at, hash)) return;
    archive.reads.put(bytes, hash);
    archive.sightings.add(at, hash);
  } catch {
    // Without a place for it, an edit against this version is refused instead of merged.
  }
}

const versionForm = /^(?:v:)?([0-9a-f]{12})$/;

/** Whether a caller has written a version. */
export function isVersion(written: string): boolean {
  return versionForm.test(written);
}

/** The bytes of a version of this file; undefined if they are not (or no longer) kept, or were another file's. */
export async function contentOf(past: Past, wanted: string): Promise<Buffer | undefined> {
  const beginning = versionForm.exec(wanted)?.[1];
  if (beginning === undefined) return undefined;
  const bytes = past.workspace.recentReads.find(past.at, beginning) ?? (await keptContent(past, beginning));
  if (bytes === undefined) return undefined;
  // A version is the hash of the visible text. Accepting that of hidden bytes would confirm a guess.
  const shown = past.workspace.shown(past.at, bytes);
  return (await hashInTurns(shown)).startsWith(beginning) ? shown : undefined;
}

async function keptContent({ workspace, at }: Past, beginning: string): Promise<Buffer | undefined> {
  const { archive } = workspace;
  const bytes = (await archive.reads.find(beginning)) ?? (await archive.objects.find(beginning));
  if (bytes === undefined) return undefined;
  const hash = contentHash(bytes);
  return archive.sightings.has(at, hash) || (await wasWritten(archive, at, hash)) ? bytes : undefined;
}

/** Whether a recorded change put this content into the file, or found it there. */
async function wasWritten(archive: Archive, at: string, hash: string): Promise<boolean> {
  const isIt = (one: Snapshot | undefined) => one?.kind === "file" && one.hash === hash;
  for await (const { files } of archive.changes.newestInTurns()) {
    for (const file of files) {
      if (file.at === at && (isIt(file.after) || isIt(file.replaced))) return true;
      if ((file.from ?? file.at) === at && isIt(file.before)) return true;
    }
  }
  return false;
}

/** An edit, made against the version that its caller had read. */
export interface Rebased {
  /** The new content. */
  readonly text: Text;
  /** What the edit was applied to: the current file, or the version that the caller had read. */
  readonly base: Text;
  /** The current content, before the edit. */
  readonly current: Text;
  /** Whether `text` includes changes of others since that version. */
  readonly merged: boolean;
  /** These changes, by lines of that version and of the current file, as a caller reads them. */
  readonly incoming: readonly LineChange[];
}

/**
 * Applies `edit` to the version that its caller had read, and merges the result into `bytes`, the current content.
 * Faults: `stale` if that version is no longer kept, or both changed the same lines.
 */
export async function rebased(
  path: string,
  bytes: Buffer,
  wanted: string | undefined,
  past: () => Past,
  edit: (text: Text) => Promise<MergeSide>,
  options: DecodeOptions = {},
): Promise<Rebased> {
  const current = await decode(path, bytes, options);
  if (wanted !== undefined) await hashInTurns(bytes);
  const is = wanted === undefined ? undefined : version(bytes);
  if (wanted === undefined || is === undefined || sameVersion(wanted, is)) {
    await turnAfter(bytes.length);
    const { text } = await edit(current);
    return { text, base: current, current, merged: false, incoming: [] };
  }
  const known = await contentOf(past(), wanted);
  const base = known && (await likeNow(path, known, current, options));
  if (base === undefined) throw new Fault("stale", { path, current: [], version: is });
  await turnAfter(bytes.length);
  const ours = await edit(base);
  await turnAfter(bytes.length);
  const merged = await merge(base, ours, current);
  if ("text" in merged) {
    const cells = await mergeOfCells(base, ours.text, current);
    const shown = cells !== undefined && "incoming" in cells ? cells.incoming : [];
    const incoming = shown.length > 0 ? shown : merged.incoming;
    return { ...merged, incoming, base, current, merged: true };
  }
  const shown = await overlapsAsRead(base, ours.text, current, merged.overlaps);
  throw new Fault("stale", { path, version: is, ...collision(shown) });
}

/**
 * The overlaps of a merge by the lines that a caller reads: those of a notebook's cells. Where only the rest of a
 * notebook overlaps, the lines of its JSON.
 */
export async function overlapsAsRead(
  base: Text,
  ours: Text,
  current: Text,
  overlaps: readonly Overlap[],
): Promise<readonly Overlap[]> {
  const merged = await mergeOfCells(base, ours, current);
  return merged !== undefined && "overlaps" in merged ? merged.overlaps : overlaps;
}

/** The same merge of the texts that a notebook is read as; undefined for other files. */
async function mergeOfCells(base: Text, ours: Text, current: Text): Promise<Merged | undefined> {
  if (!isNotebook(current.path)) return undefined;
  const views: Text[] = [];
  for (const { path, body } of [base, ours, current]) {
    const view = await textJob("notebookText", body.length, body);
    if (view === undefined) return undefined;
    views.push(await decode(path, Buffer.from(view.body)));
  }
  const [then, mine, now] = views as [Text, Text, Text];
  return merge(then, { text: mine }, now);
}

/** What a refusal shows of overlaps: each line once, in order, and the edits involved. */
export function collision(
  overlaps: readonly Overlap[],
): Pick<Faults["stale"], "current" | "around" | "edits"> {
  const once = (places: readonly NumberedLine[]) =>
    [...new Map(places.map(place => [place.line, place])).values()].sort((a, b) => a.line - b.line);
  const current = once(overlaps.flatMap(overlap => overlap.current));
  const around = once(overlaps.flatMap(overlap => overlap.around));
  const edits = [...new Set(overlaps.flatMap(overlap => overlap.edits))].sort((a, b) => a - b);
  return { current, around, ...(edits.length > 0 && { edits }) };
}

/** An older version in the file's current encoding; undefined if that is binary, or was converted since. */
export async function likeNow(
  path: string,
  known: Buffer,
  current: Text,
  options: DecodeOptions = {},
): Promise<Text | undefined> {
  if (isBinary(current.bytes, { first: 8000 }) || isBinary(known, { first: 8000 })) return undefined;
  const [then, now] = [detect(known), detect(current.bytes)];
  if (isWide(then) !== isWide(now) || (isWide(now) && then.encoding !== now.encoding)) return undefined;
  if (!isAscii(known) && !isAscii(current.bytes) && isUtf8(known) !== isUtf8(current.bytes)) return undefined;
  return decode(path, known, { ...options, encoding: options.encoding ?? current.codec.name, strict: false });
}

function isWide({ encoding }: Detected): boolean {
  return encoding.startsWith("utf-16");
}

/** With or without the mark in front. */
export function sameVersion(a: string, b: string): boolean {
  return a.replace(/^v:/, "") === b.replace(/^v:/, "");
}
