// Versions: what a caller has read is kept by its hash, so that an edit made against an older version can be
// carried over onto what stands in the file now. Only where both changed the same lines is it refused.
import { merge } from "../edit/merge.ts";
import { Fault } from "../fault.ts";
import { isBinary } from "../text/detect.ts";
import { type DecodeOptions, decode, type Text } from "../text/text.ts";
import { contentHash, version } from "../text/version.ts";
import type { Archive } from "../workspace/archive/archive.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { keepRecent, recentAt } from "./recent.ts";

const maxRememberedBytes = 16 * 1024 * 1024;

/** Where the versions of a file are kept. */
export interface Past {
  readonly archive: Archive;
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
export async function contentOf({ archive, at }: Past, wanted: string): Promise<Buffer | undefined> {
  const beginning = /^(?:v:)?([0-9a-f]{12})$/.exec(wanted)?.[1];
  if (beginning === undefined) return undefined;
  const recent = recentAt(at, beginning);
  if (recent !== undefined) return recent;
  const bytes = archive.reads.find(beginning) ?? archive.objects.find(beginning);
  if (bytes === undefined) return undefined;
  const hash = contentHash(bytes);
  return archive.sightings.has(at, hash) || (await wasWritten({ archive, at }, hash)) ? bytes : undefined;
}

/** Whether a recorded change put this content into the file, or found it there. */
async function wasWritten({ archive, at }: Past, hash: string): Promise<boolean> {
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
  /** Whether somebody else's changes since that version are in `text` too. */
  readonly merged: boolean;
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
  edit: (text: Text) => Promise<Text>,
  options: DecodeOptions = {},
): Promise<Rebased> {
  const current = await decode(path, bytes, options);
  const is = wanted === undefined ? undefined : version(bytes);
  if (wanted === undefined || is === undefined || sameVersion(wanted, is)) {
    return { text: await edit(current), base: current, merged: false };
  }
  const known = await contentOf(past(), wanted);
  if (known === undefined || isBinary(bytes, { first: 8000 })) {
    throw new Fault("stale", { path, current: [], version: is });
  }
  const base = await decode(path, known, { ...options, encoding: options.encoding ?? current.codec.name });
  const ours = await edit(base);
  const merged = merge(base, ours, current);
  if ("text" in merged) return { text: merged.text, base, merged: true };
  const lines = merged.overlaps.flatMap(overlap => overlap.current);
  throw new Fault("stale", { path, current: lines, version: is });
}

/** With or without the mark in front. */
export function sameVersion(a: string, b: string): boolean {
  return a.replace(/^v:/, "") === b.replace(/^v:/, "");
}
