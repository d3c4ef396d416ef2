// Stages new content beside its target under a temporary name: created exclusively, never through a link, and
// unreadable to others until it has the mode of the file that it replaces.

import { constants } from "node:fs";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { flushAndCloseLater, sys, writeAll } from "../disk/syscalls.ts";
import { faultOf } from "../errno.ts";
import { inSlices, TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { bytesWritten } from "../name.ts";
import type { CopyAttributes } from "./copy-attributes.ts";
import { identityOf, mostAsked } from "./copy-attributes.ts";
import { copyTree } from "./copy-tree.ts";
import { giveMode, modeWhileStaged } from "./granted-mode.ts";
import { type StagedAttributes, setModified } from "./step.ts";

export type StagedContent =
  | (StagedAttributes & {
      readonly kind: "bytes";
      readonly given: string;
      readonly entry: EntryRef;
      readonly bytes: Uint8Array;
      /** Whether it must be flushed before the commit, since the journal does not hold its bytes. */
      readonly flush: boolean;
      /** The file whose extended attributes it takes over, with its identity. */
      readonly like?: EntryRef & { readonly identity: string };
    })
  | { readonly kind: "symlink"; readonly given: string; readonly entry: EntryRef; readonly target: string }
  | {
      readonly kind: "copy";
      readonly given: string;
      readonly entry: EntryRef;
      readonly from: Handle | EntryRef;
      /** Compare with the original afterwards, because that is going to be removed. */
      readonly verify: boolean;
      /** Skip what cannot be copied: the original will be removed, and that was allowed. */
      readonly partial?: boolean;
    };

/** Files flushed concurrently: each is open while that lasts. */
const mostFlushing = 16;

/** The staged files by name, and the directories to flush before all of it is durable. */
interface AllStaged {
  readonly inodes: ReadonlyMap<string, number>;
  /** Flushes in progress. */
  readonly flushing: readonly Promise<void>[];
  readonly unflushed: ReadonlySet<number>;
}

/** Stages everything, and looks up the attributes of replaced files in parallel. */
export async function stageAll(
  stages: readonly StagedContent[],
  places: HeldDirectories,
  copyAttributes: CopyAttributes | undefined,
): Promise<AllStaged> {
  const inodes = new Map<string, number>();
  const flushing: Promise<void>[] = [];
  const unflushed = new Set<number>();
  const replaced = stages.flatMap(one => (one.kind === "bytes" && one.like !== undefined ? [one.like] : []));
  const slice = new TimeSlice(); // the question takes a part of it
  const asked = askAbout(replaced, places, copyAttributes);
  try {
    for (const one of stages) {
      if (slice.isOver) await slice.turn();
      const staged = await stage(one, places, asked, copyAttributes);
      if (staged !== undefined) inodes.set(one.entry.name, staged.inode);
      if (staged?.flushing !== undefined) flushing.push(told(staged.flushing, one.given));
      if (flushing.length > mostFlushing) await flushing.shift();
      if (isFlushed(one)) unflushed.add(one.entry.place);
    }
  } finally {
    await asked;
  }
  return { inodes, flushing, unflushed };
}

/** Whether it is flushed before the commit, because the journal does not hold it. */
export function isFlushed(stage: StagedContent): boolean {
  return stage.kind !== "bytes" || stage.flush;
}

/** A promise whose rejection is reported only to callers that await it: the commit may have failed before. */
function told(work: Promise<void>, given: string): Promise<void> {
  const wrapped = work.catch(error => {
    throw faultOf(error, given);
  });
  wrapped.catch(() => {});
  return wrapped;
}

/** Asks about files that are going to be replaced. */
export async function askAbout(
  entries: readonly (EntryRef & { readonly identity: string })[],
  places: HeldDirectories,
  copyAttributes: CopyAttributes | undefined,
): Promise<void> {
  if (copyAttributes?.ask === undefined) return;
  const unknown = entries.filter(({ identity }) => !copyAttributes.isWithout?.(identity));
  for (let at = 0; at < unknown.length; at += mostAsked) {
    const files: number[] = [];
    try {
      for (const entry of unknown.slice(at, at + mostAsked)) {
        files.push(sys.open(places.address(entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
      }
      await copyAttributes.ask(files);
    } finally {
      for (const fd of files) sys.close(fd);
    }
  }
}

/** Staged files that are now in place and that replaced files without attributes. */
export async function learnAbout(
  stages: readonly StagedContent[],
  places: HeldDirectories,
  inodes: ReadonlyMap<string, number>,
  { isWithout, learn }: CopyAttributes,
): Promise<void> {
  await inSlices(stages, one => {
    if (one.kind !== "bytes" || one.like === undefined || !isWithout?.(one.like.identity)) return;
    const stat = sys.lstat(places.address(one.like));
    if (stat !== undefined && stat.ino === inodes.get(one.entry.name)) learn?.(identityOf(stat));
  });
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
const pieceBytes = 4 * 1024 * 1024;

interface StagedFile {
  readonly inode: number;
  readonly flushing: Promise<void> | undefined;
}

async function stage(
  one: StagedContent,
  places: HeldDirectories,
  asked: Promise<void>,
  copyAttributes?: CopyAttributes,
): Promise<StagedFile | undefined> {
  try {
    if (one.kind === "bytes") return await stageBytes(one, places, asked, copyAttributes);
    if (one.kind === "copy") await stageCopy(one, places, copyAttributes);
    else sys.symlink(bytesWritten(one.target), places.address(one.entry));
    return undefined;
  } catch (error) {
    throw faultOf(error, one.given);
  }
}

async function stageBytes(
  one: Extract<StagedContent, { kind: "bytes" }>,
  places: HeldDirectories,
  asked: Promise<void>,
  copyAttributes?: CopyAttributes,
): Promise<StagedFile> {
  const fd = sys.open(
    places.address(one.entry),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    modeWhileStaged(one.mode),
  );
  let flushing: Promise<void> | undefined;
  try {
    for (let at = 0; at < one.bytes.length; at += pieceBytes) {
      if (at > 0) await new Promise(resolve => setImmediate(resolve));
      writeAll(fd, one.bytes.subarray(at, at + pieceBytes), at);
    }
    const stat = sys.stat(fd);
    if (one.owner !== undefined && (stat.uid !== one.owner.user || stat.gid !== one.owner.group)) {
      sys.chown(fd, one.owner.user, one.owner.group);
    }
    if (one.like !== undefined && copyAttributes !== undefined) {
      await asked;
      if (!copyAttributes.isWithout?.(one.like.identity))
        await withFile(places, one.like, from => copyAttributes(from, fd));
    }
    if (one.mode !== undefined) giveMode(fd, one.mode, one.modeOf);
    if (one.modified !== undefined) setModified(fd, one.modified);
    if (one.flush) flushing = flushAndCloseLater(fd);
    // With a hash, recovery can tell whether it was flushed, so the journal's flush need not wait for it.
    if (one.hash === undefined) await flushing;
    return { inode: stat.ino, flushing };
  } finally {
    if (flushing === undefined) sys.close(fd);
  }
}

async function stageCopy(
  one: Extract<StagedContent, { kind: "copy" }>,
  places: HeldDirectories,
  copyAttributes?: CopyAttributes,
): Promise<void> {
  const original =
    one.from instanceof Handle ? one.from : Handle.open(places.address(one.from), { follow: false });
  try {
    using into = Handle.open(places.handle(one.entry.place).address);
    await copyTree(original, into, one.entry.name, one, copyAttributes);
  } finally {
    if (original !== one.from) original.close();
  }
}

async function withFile(
  places: HeldDirectories,
  entry: EntryRef,
  action: (fd: number) => void | Promise<void>,
): Promise<void> {
  const fd = sys.open(places.address(entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    await action(fd);
  } finally {
    sys.close(fd);
  }
}

/** Opens the regular file with this inode at an entry. Undefined if another file is there. */
export function withFileAt<T>(
  places: HeldDirectories,
  entry: EntryRef,
  inode: number,
  action: (fd: number, size: number) => T,
): T | undefined {
  const fd = sys.open(places.address(entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = sys.stat(fd);
    return stat.ino === inode && stat.isFile() ? action(fd, stat.size) : undefined;
  } finally {
    sys.close(fd);
  }
}
