// Versions: what a caller has read is kept by its hash, so that an edit made against an older version can be
// carried over onto what stands in the file now. Only where both changed the same lines is it refused.
import { isAscii, isUtf8 } from "node:buffer";
import { type MergeSide, merge } from "../edit/merge.ts";
import type { Overlap } from "../edit/weave.ts";
import { Fault, type Faults, type NumberedLine } from "../fault.ts";
import { type Detected, detect, isBinary } from "../text/detect.ts";
import type { LineChange } from "../text/line-diff.ts";
import { type DecodeOptions, decode, type Text } from "../text/text.ts";
import { contentHash, version } from "../text/version.ts";
import type { Archive } from "../workspace/archive/archive.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { keepRecent, recentAt } from "./recent.ts";

const maxRememberedBytes = 16 * 1024 * 1024;

/** Where the versions of a file are kept. */
export interface Past {
  readonly workspace: Workspace;
  /** Where the file really is, absolute. */
  readonly at: string;
}

/**
 * The version of a file's bytes that a caller is shown, which are kept for later. The answer need not wait for that.
 * Where nothing may be written, nothing is written to the state directory either: memory keeps the latest.
 */
export function remember(workspace: Workspace, at: string, bytes: Uint8Array): string {
  if (!workspace.roots.some(({ access }) => access === "read-write")) keepRecent(at, bytes);
  else if (bytes.length <= maxRememberedBytes) setImmediate(keep, workspace, at, bytes);
  return version(bytes);
}

function keep(workspace: Workspace, at: string, bytes: Uint8Array): void {
  try {
    const { archive } = workspace;
    archive.sightings.add(at, archive.reads.put(bytes));
  } catch {
    // Without a place for it, an edit against this version is refused instead of merged.
  }
}

/** The bytes of a version of this file; undefined where they are not kept (any more), or were another file's. */
export async function contentOf(past: Past, wanted: string): Promise<Buffer | undefined> {
  const beginning = /^(?:v:)?([0-9a-f]{12})$/.exec(wanted)?.[1];
  if (beginning === undefined) return undefined;
  const bytes = recentAt(past.at, beginning) ?? (await keptContent(past, beginning));
  if (bytes === undefined) return undefined;
  // A version is the hash of what a caller may see. To accept that of hidden bytes would confirm a guess at them.
  const shown = past.workspace.shown(past.at, bytes);
  return contentHash(shown).startsWith(beginning) ? shown : undefined;
}

async function keptContent({ workspace, at }: Past, beginning: string): Promise<Buffer | undefined> {
  const { archive } = workspace;
  const bytes = archive.reads.find(beginning) ?? archive.objects.find(beginning);
  if (bytes === undefined) return undefined;
  const hash = contentHash(bytes);
  return archive.sightings.has(at, hash) || (await wasWritten(archive, at, hash)) ? bytes : undefined;
}

/** Whether a recorded change put this content into the file, or found it there. */
async function wasWritten(archive: Archive, at: string, hash: string): Promise<boolean> {
  const isIt = (one: Snapshot | undefined) => one?.kind === "file" && one.hash === hash;
  let looked = 0;
  for (const { files } of archive.changes.newest()) {
    for (const file of files) {
      if (file.at === at && (isIt(file.after) || isIt(file.replaced))) return true;
      if ((file.from ?? file.at) === at && isIt(file.before)) return true;
    }
    if (++looked % 64 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  return false;
}

/** An edit, made against the version that its caller had read. */
export interface Rebased {
  /** What the file is to hold. */
  readonly text: Text;
  /** What the edit was applied to: the file as it is, or the version that the caller had read. */
  readonly base: Text;
  /** What the file holds now, before the edit. */
  readonly current: Text;
  /** Whether somebody else's changes since that version are in `text` too. */
  readonly merged: boolean;
  /** These changes, by lines of that version and of what the file holds now. */
  readonly incoming: readonly LineChange[];
}

/**
 * Applies `edit` to the version that its caller had read, and carries the result over onto `bytes`, which stand in
 * the file now. Faults: `stale` where that version is not known any more, or both changed the same lines.
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
  const is = wanted === undefined ? undefined : version(bytes);
  if (wanted === undefined || is === undefined || sameVersion(wanted, is)) {
    const { text } = await edit(current);
    return { text, base: current, current, merged: false, incoming: [] };
  }
  const known = await contentOf(past(), wanted);
  const base = known && (await likeNow(path, known, current, options));
  if (base === undefined) throw new Fault("stale", { path, current: [], version: is });
  const merged = await merge(base, await edit(base), current);
  if ("text" in merged) return { ...merged, base, current, merged: true };
  throw new Fault("stale", { path, version: is, ...collision(merged.overlaps) });
}

/** What a refusal shows of overlaps: each line once, in order, and the edits that are concerned. */
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

/** An older version in the encoding of the file as it is; undefined where that is binary, or was converted since. */
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
