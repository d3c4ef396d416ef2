// What recovery must know about all commits together after a power cut, because the disk may hold only a part of each:
// which of them are known to have happened, and which directories may have another inode by now.
//
// A commit names a directory by path and inode. If an earlier commit made that directory and was not flushed since, a
// power cut may have lost it, and recovery makes it again, with another inode. That must not depend on which recovery
// did so: it may have been killed, or lost its power, before it came to the later commit. So the journals tell: as long
// as they hold the commit that made a directory, any directory at its path is taken for it. This is why no journal
// goes before all that recovery did is flushed (recover.ts), and why a settled commit is not forgotten before.

import { once } from "../../once.ts";
import type { ChangeRecord } from "../archive/log.ts";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { bootId } from "../disk/process-identity.ts";
import { bytesOf } from "../handle.ts";
import { under } from "../root.ts";
import { changesOf, type JournalledCommit } from "./journalled-commit.ts";
import type { Step } from "./step.ts";

export class PowerCut {
  /** By path: the newest commit that did something there. */
  readonly #newest = new Map<string, string>();
  /** By path: the oldest commit that made the directory there, and may not have been flushed. */
  readonly #makers = new Map<string, string>();
  readonly #recorded = new Set<string>();
  /** By path: the newest commit there that needs nothing to be done, unless it is among those elsewhere. */
  readonly #complete = new Map<string, string>();
  /** Changes that other recoveries have to settle. */
  readonly #elsewhere: () => ReadonlySet<string>;

  /**
   * `commits` are those in journals, settled or not, and `elsewhere` those in journals that this recovery does not have.
   * `recorded` are the changes in history, newest first: the journal of a process may restart and forget a commit while
   * that of another process still holds an earlier one at the same path.
   */
  constructor(
    commits: readonly JournalledCommit[],
    recorded: () => Iterable<ChangeRecord>,
    elsewhere: () => readonly JournalledCommit[],
  ) {
    this.#elsewhere = once(() => idsOf(elsewhere().filter(({ intent }) => intent.boot !== bootId())));
    for (const { intent, state } of commits) {
      if (state === "staged") continue;
      for (const path of pathsOf(intent.steps, intent.places)) {
        note(this.#newest, path, intent.id);
        if (state === "settled") note(this.#complete, path, intent.id);
      }
    }
    const lost = commits
      .filter(({ intent }) => intent.boot !== bootId())
      .sort((a, b) => (a.intent.id < b.intent.id ? -1 : 1));
    for (const journalled of lost) this.#noteMade(journalled);
    const oldest = lost[0]?.intent.id;
    if (oldest === undefined) return;
    const incomplete = idsOf(commits.filter(({ state }) => state !== "settled"));
    for (const { id, files, began } of recorded()) {
      if (id < oldest) break;
      this.#recorded.add(id);
      if (began !== undefined) continue; // a command takes no locks
      for (const { at, from } of files)
        for (const shown of [at, from]) {
          if (shown === undefined) continue;
          const path = bytesOf(shown);
          note(this.#newest, path, id);
          if (!incomplete.has(id)) note(this.#complete, path, id);
        }
    }
  }

  #noteMade({ intent, state, flushed }: JournalledCommit): void {
    if (state === "staged" || state === "abort" || flushed) return;
    for (const step of intent.steps) {
      const path = step.do === "make" ? pathOf(step.at, intent.places) : undefined;
      if (path !== undefined && !this.#makers.has(path)) this.#makers.set(path, intent.id);
    }
  }

  /**
   * Whether this commit had ended: it is in history, or a later commit worked on the same path and held the lock. What
   * recovery has completed stays completed, also if the disk does not show that any more.
   */
  isOver({ intent }: JournalledCommit): boolean {
    if (this.#recorded.has(intent.id)) return true;
    return pathsOf(intent.steps, intent.places).some(path => (this.#newest.get(path) ?? "") > intent.id);
  }

  /** Whether a later commit at a path is complete on the disk: repeating an earlier one would take that back. */
  isOvertaken(path: string | undefined, { id }: { readonly id: string }): boolean {
    const later = path === undefined ? undefined : this.#complete.get(path);
    return later !== undefined && later > id && !this.#elsewhere().has(later);
  }

  /** Whether the directory that a commit knew at this path may have been made again since, with another inode. */
  mayBeRemade(at: string, { id }: { readonly id: string }): boolean {
    return (this.#makers.get(at) ?? id) < id;
  }
}

function note(newest: Map<string, string>, path: string, id: string): void {
  if (id > (newest.get(path) ?? "")) newest.set(path, id);
}

function idsOf(commits: readonly JournalledCommit[]): Set<string> {
  return new Set(commits.flatMap(({ intent }) => changesOf(intent).map(({ id }) => id)));
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
