// Work that follows the answer to a commit: the archive records it and is flushed, then the old content is removed.
// The journal keeps the commit until then, so another process can finish after a crash (recover.ts).
import type { Archive } from "../archive/archive.ts";
import type { PendingContent } from "../archive/pending-record.ts";
import type { KnownContent } from "../archive/snapshot.ts";
import { addressOf, type EntryRef, type HeldDirectories } from "../disk/held-directories.ts";
import { readingAt } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { atOnce, gently } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { byDescriptor } from "../system/descriptors.ts";
import type { Address } from "../system/held.ts";
import { changesOf, type JournalledCommit, reopened, temporaryNamesOf } from "./journalled-commit.ts";
import { purge, purgeLater } from "./purge.ts";
import type { Unflushed } from "./unflushed.ts";

const mostPurged = 64; // at the same time
const packLater = 64 * 1024; // larger contents are packed in a thread, so the event loop stays responsive

/** Records a commit, at once. */
export function recordNow(journalled: JournalledCommit, archive: Archive): void {
  using places = reopened(journalled);
  atOnce(recording(journalled, archive, places));
}

/** The same, letting others run in between. */
export async function recordLater(journalled: JournalledCommit, archive: Archive): Promise<void> {
  using places = reopened(journalled);
  for (const bytes of journalled.contents?.values() ?? []) await archive.objects.putLater(bytes);
  const files = changesOf(journalled.intent).flatMap(({ account }) => account.files);
  const known = new Map<PendingContent, KnownContent>();
  for (const { before, replaced } of files) {
    const content = before ?? replaced;
    if (content?.spot === undefined || (content.size ?? 0) <= packLater) continue;
    const bytes = await gently(readingAt(places.address(content.spot)));
    if (bytes === undefined) continue;
    const hash = await archive.objects.putLater(bytes);
    known.set(content, { hash, size: bytes.length, modified: content.modified });
  }
  await gently(recording(journalled, archive, places, known));
}

/**
 * Removes the content that a commit replaced. The archive was flushed before: it holds the only other copy. What was
 * in a directory that has been removed since is gone with it.
 */
export async function dropLater(journalled: JournalledCommit, unflushed: Unflushed): Promise<void> {
  using places = reopened(journalled);
  const trash = trashIn(journalled, places);
  for (let at = 0; at < trash.length; at += mostPurged) {
    const some = trash.slice(at, at + mostPurged);
    await Promise.all(some.map(({ place, name }) => purgeLater(places.handle(place), addressOf(name))));
  }
  unflushed.noteRemoved(trash, places);
  journalled.held?.[Symbol.dispose]();
}

/** The same, at once. */
export function dropNow(journalled: JournalledCommit, unflushed: Unflushed): void {
  using places = reopened(journalled);
  const trash = trashIn(journalled, places);
  for (const { place, name } of trash) purge(places.handle(place), addressOf(name));
  unflushed.noteRemoved(trash, places);
}

function trashIn({ intent }: JournalledCommit, places: HeldDirectories): EntryRef[] {
  return intent.trash.filter(({ place }) => places.isThere(place));
}

function* recording(
  { intent, blob, contents }: JournalledCommit,
  archive: Archive,
  places: HeldDirectories,
  known?: ReadonlyMap<PendingContent, KnownContent>,
): Generator<void, void, undefined> {
  const temporary = temporaryNamesOf(intent);
  const within = (range: { at: number; length: number }) => blob.subarray(range.at, range.at + range.length);
  for (const { id, account } of changesOf(intent))
    yield* archive.record(id, account, { places, blob: within, contents, known, temporary });
}

/**
 * Takes a file out of a directory. Freeing its blocks takes a millisecond or more, so that happens in a thread after
 * the name is gone. Undefined if this is not possible.
 */
export function unlinkPinned(directory: Handle, name: Address): Promise<void> | undefined {
  if (!byDescriptor) return undefined;
  const address = directory.below(name);
  const pin = Handle.open(address, { follow: false });
  try {
    sys.unlink(address);
  } catch (error) {
    pin.close();
    if (errnoOf(error) === "EISDIR") return undefined;
    throw error;
  }
  return sys.closeLater(pin.fd);
}
