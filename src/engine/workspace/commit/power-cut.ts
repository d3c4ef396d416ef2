// What recovery must know about all commits together after a power cut, because the disk may hold only a part of each:
// which of them are known to have happened, and which directories recovery has made again with another inode.

import type { ChangeRecord } from "../archive/log.ts";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { bootId } from "../disk/process-identity.ts";
import { sys } from "../disk/syscalls.ts";
import { under } from "../root.ts";
import type { JournalledCommit } from "./journalled-commit.ts";
import type { Step } from "./step.ts";

export class PowerCut {
  /** By path: the newest commit that did something there. */
  readonly #newest = new Map<string, string>();
  readonly #made = new Set<string>();

  /**
   * `commits` are those in journals. `recorded` are the changes in history, newest first: the journal of a process may
   * restart and forget a commit while that of another process still holds an earlier one at the same path.
   */
  constructor(commits: readonly JournalledCommit[], recorded: () => Iterable<ChangeRecord>) {
    for (const { intent, state } of commits) {
      if (state === "staged") continue;
      for (const path of pathsOf(intent.steps, intent.places)) this.#note(path, intent.id);
    }
    const lost = commits.filter(({ intent }) => intent.boot !== bootId()).map(({ intent }) => intent.id);
    const oldest = lost.sort()[0];
    if (oldest === undefined) return;
    for (const { id, files, began } of recorded()) {
      if (id <= oldest) break;
      if (began !== undefined) continue; // a command takes no locks
      for (const { at, from } of files)
        for (const path of [at, from]) if (path !== undefined) this.#note(path, id);
    }
  }

  #note(path: string, id: string): void {
    if (id > (this.#newest.get(path) ?? "")) this.#newest.set(path, id);
  }

  /** Whether a later commit worked on the same path: it held the lock, so this commit had ended. */
  isOver({ intent }: JournalledCommit): boolean {
    return pathsOf(intent.steps, intent.places).some(path => (this.#newest.get(path) ?? "") > intent.id);
  }

  /** Notes a directory that is about to be made again. Called before each step that is redone. */
  note(step: Step, places: HeldDirectories): void {
    if (step.do !== "make" || sys.lstat(places.address(step.at)) !== undefined) return;
    const path = pathOf(step.at, places.records);
    if (path !== undefined) this.#made.add(path);
  }

  /** Whether recovery has made the directory at this path: later commits knew it by another inode. */
  hasMade(at: string): boolean {
    return this.#made.has(at);
  }
}

/** The paths that steps work on. */
export function pathsOf(
  steps: readonly Step[],
  records: HeldDirectories["records"] | JournalledCommit["intent"]["places"],
): string[] {
  const entries = steps.flatMap(step => (step.do === "move" ? [step.from, step.to] : [step.at]));
  return entries.flatMap(entry => pathOf(entry, records) ?? []);
}

/** The path of an entry, as the bytes of its names in Latin-1. */
export function pathOf(
  { place, name }: EntryRef,
  records: JournalledCommit["intent"]["places"],
): string | undefined {
  const record = records[place];
  if (record === undefined) return undefined;
  const within = "at" in record ? record.at : pathOf({ place: record.within, name: record.name }, records);
  return within === undefined ? undefined : under(within, name);
}
