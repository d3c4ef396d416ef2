// Temporary names that a power cut restores. A journal is discarded once the directories of its commits are flushed;
// but some file systems then still restore a removed name (btrfs does, if the directory was flushed while the name
// existed). So each change record lists the temporary names of its commit. Once after each boot, recovery removes
// those of the latest changes wherever they have reappeared.
import { join } from "node:path";
import type { Archive } from "../archive/archive.ts";
import type { ChangeRecord, TemporaryNames } from "../archive/log.ts";
import { addressOf, HeldDirectories } from "../disk/held-directories.ts";
import { contentAt } from "../disk/if-there.ts";
import { bootId } from "../disk/process-identity.ts";
import { sys } from "../disk/syscalls.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { bytesOf, type Handle } from "../handle.ts";
import { isWithin, type Root } from "../root.ts";
import { estateIn } from "./dead-process.ts";
import type { OpenDirectories } from "./granted-directories.ts";
import { purge } from "./purge.ts";
import type { StateDirectory } from "./state.ts";
import { Unflushed } from "./unflushed.ts";

/** File systems write everything out within minutes: names removed earlier than this stay removed. */
const latestMs = 3_600_000;
const mostBootBytes = 256;

/** Roots in which this process has done it. */
const done = new WeakSet<Root>();

/** Whether this may be the first process since the machine was started. */
export function isFirstOfBoot(state: string): boolean {
  return contentAt(join(state, "boot"), mostBootBytes)?.toString() !== bootId();
}

/** `open` finds a directory as a change of an earlier boot knew it, and throws if it is in no writable root. */
export function removeRevived(
  state: StateDirectory,
  roots: readonly Root[],
  archive: Archive,
  open: OpenDirectories,
): void {
  if (!isFirstOfBoot(state.path) || roots.every(root => done.has(root))) return;
  if (state.isRecoveredByOthers()) return; // they still need some of the names, and do this when they have finished
  const needed = namesNeeded(state);
  const unflushed = new Unflushed();
  let complete = true;
  for (const { id, at, names } of latestNames(archive)) {
    try {
      using places = HeldDirectories.reopen([at], open({ intent: { boot: "", id } }));
      removeNames(
        places,
        names.filter(name => isTemporaryName(name) && !needed.has(name)),
        unflushed,
      );
    } catch {
      complete = false; // it is not this process's to do, or the disk fails
    }
  }
  unflushed.flushNow();
  for (const root of roots) done.add(root);
  if (complete) state.noteBoot(bootId());
}

function removeNames(places: HeldDirectories, names: readonly string[], unflushed: Unflushed): void {
  let directory: Handle;
  try {
    directory = places.handle(0);
  } catch {
    return; // the directory is gone, or another one has its name
  }
  for (const name of names.filter(one => sys.lstat(directory.below(addressOf(one))) !== undefined)) {
    purge(directory, addressOf(name));
    unflushed.noteRemoved([{ place: 0, name }], places);
  }
}

/** Names in journals. The process that settles these commits removes them. */
function namesNeeded(state: StateDirectory): Set<string> {
  const commits = state.others().flatMap(folder => estateIn(folder, state.key).commits);
  return new Set(commits.flatMap(({ intent }) => [...intent.temps, ...intent.trash].map(({ name }) => name)));
}

/** The names that the latest changes used, by directory; a directory that was moved since is found at its new path. */
function* latestNames(archive: Archive): Generator<TemporaryNames & { readonly id: string }> {
  /** Directories that were moved, oldest first. */
  let moves: { from: string; to: string }[] = [];
  let oldest: number | undefined;
  for (const { id, time, files, temporary } of archive.changes.newest()) {
    oldest ??= time - latestMs;
    if (time < oldest) return;
    for (const { at, names } of temporary ?? [])
      yield { id, at: { ...at, at: moves.reduce(moved, at.at) }, names };
    moves = [...movesIn(files), ...moves];
  }
}

function movesIn(files: ChangeRecord["files"]): { from: string; to: string }[] {
  return files.flatMap(({ at, from, effect, kind }) =>
    effect === "moved" && kind === "directory" && from !== undefined
      ? [{ from: bytesOf(from), to: bytesOf(at) }]
      : [],
  );
}

function moved(path: string, { from, to }: { from: string; to: string }): string {
  return isWithin(path, from) ? to + path.slice(from.length) : path;
}
