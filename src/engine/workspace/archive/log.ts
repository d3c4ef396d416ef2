// The changes that were made, one small file each, named so that their order in time is that of their names. Any
// process of the user may write and read at the same time.
import { randomInt } from "node:crypto";
import { join } from "node:path";
import type { Kind } from "../../fault.ts";
import type { FoundDirectory } from "../disk/held-directories.ts";
import { namesIn, unlinkIfThere } from "../disk/if-there.ts";
import { readAll, sys, writeAll } from "../disk/syscalls.ts";
import { stateDirectory, system } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { isNoFile, openIfThere, openNew } from "./folder.ts";
import type { Snapshot } from "./snapshot.ts";
import type { UnflushedFiles } from "./unflushed.ts";

/** One path of a recorded change, before and after. */
export interface RecordedFile {
  /** Absolute path; for moves and copies the destination. */
  readonly at: string;
  readonly effect: ChangeEffect;
  readonly kind: Kind;
  /** Where a move or a copy took it from. */
  readonly from?: string;
  /** The previous content; for a move with new content, that of the source. */
  readonly before?: Snapshot;
  /** Content that a move or a copy replaced. */
  readonly replaced?: Snapshot;
  readonly after?: Snapshot;
  /** The file or directory that was moved, if it was not copied. */
  readonly moved?: Identity;
}

/** Distinguishes a file from another one with the same name. */
export interface Identity {
  readonly inode: number;
  /** Milliseconds since 1970. */
  readonly born: number;
}

/** The action of a commit that makes the copy of a shared workspace what its log says. */
export const replicated = "replicate";

/** The author of a commit, for history and audit; never used for decisions. */
export interface By {
  readonly action: string;
  readonly client: string;
  /** Tells connections of one client apart; absent in records of older versions. */
  readonly connection?: string;
  /** The trace that the call belongs to, where its client sent one. */
  readonly trace?: string;
  /** The change that this one undoes. */
  readonly undoes?: string;
  /** Only a part of it. */
  readonly partial?: boolean;
  /** Some hunks of it. Absent: whole paths. */
  readonly hunks?: true;
  /** Commands of other connections ran at the same time, and may have made some of it. Undo wants its paths named. */
  readonly others?: true;
}

/** A change as history keeps it. */
export interface ChangeRecord extends By {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly files: readonly RecordedFile[];
  /** Parent directories that were created, outermost first. */
  readonly parents: readonly string[];
  /** False if something was too large to keep, so that this change cannot be undone. */
  readonly kept: boolean;
  /** For the changes of a command: when it started. Each change was made between then and `time`. */
  readonly began?: number;
  /** The temporary names that it used (see commit/restored-names.ts). */
  readonly temporary?: readonly TemporaryNames[];
  /** Another command ran at the same time, and may have made some of these changes. */
  readonly uncertain?: true;
}

/** Names in a directory. */
export interface TemporaryNames {
  readonly at: FoundDirectory;
  readonly names: readonly string[];
}

/** A draft that is older was left by a crash. */
const draftMs = 3_600_000;

export class ChangeLog {
  readonly #state: string;
  readonly #directory: string;
  readonly #catchUp: () => void;
  readonly #unflushed: UnflushedFiles;
  /** Changes that could not be written: without them, undo would treat an older change as the newest. */
  readonly #unwritten = new Map<string, ChangeRecord>();
  #clock = Number.POSITIVE_INFINITY;
  /** The time in the last id that was made or noted. */
  #latest = 0;

  /** `catchUp` adds the backlog. */
  constructor(state: string, catchUp: () => void, unflushed: UnflushedFiles) {
    this.#state = state;
    this.#directory = join(state, "changes");
    this.#catchUp = catchUp;
    this.#unflushed = unflushed;
  }

  /**
   * A new id that sorts after all others. It is made from the time, and clocks can be set back: the ids of other
   * processes are read first, and again when this clock shows an earlier time than before.
   */
  newId(): string {
    return this.newIds(1)[0] as string;
  }

  /**
   * The same for changes that are made together, in their order. They share a time: ids must not run ahead of the
   * clock, or a change that another process makes next would sort before them.
   */
  newIds(count: number): string[] {
    const now = Date.now();
    if (now < this.#clock) this.#latest = Math.max(this.#latest, this.#newestTime());
    this.#clock = now;
    this.#latest = Math.max(this.#latest + 1, now);
    const time = this.#latest.toString(36).padStart(8, "0");
    const chance = randomInt(36 ** 3 - count + 1);
    return Array.from({ length: count }, (_, i) => `${time}${(chance + i).toString(36).padStart(3, "0")}`);
  }

  /**
   * A new id that sorts before another one, and after a third one and a time, for a change that was made in between and
   * is recorded later. Undefined if there is no room.
   */
  idBetween(after: string | undefined, before: string, sinceMs: number): string | undefined {
    const end = orderOf(before);
    const floor = BigInt(sinceMs) * perMillisecond;
    const low = after === undefined || orderOf(after) < floor ? floor : orderOf(after) + 1n;
    // As late as possible: of what is between them, nothing is known.
    const start = end - low > perMillisecond ? end - perMillisecond : low;
    const taken = new Set(this.ids());
    for (let tries = 0; start < end && tries < 100; tries++) {
      const id = (start + BigInt(randomInt(Number(end - start)))).toString(36).padStart(before.length, "0");
      if (!taken.has(id)) return id;
    }
    return undefined;
  }

  /** Another machine has made this id: those that are made here from now on sort after it, whatever the clocks say. */
  noteId(id: string): void {
    this.#latest = Math.max(this.#latest, timeIn(id));
  }

  /** As it is on the disk; undefined if it is missing, or a power cut has damaged it. */
  recorded(id: string): ChangeRecord | undefined {
    return this.#read(id);
  }

  /** `json` is the record, where that was made before. */
  add(record: ChangeRecord, json: Buffer = Buffer.from(JSON.stringify(record))): void {
    const path = this.#path(record.id);
    const draft = `${path}.draft`;
    unlinkIfThere(draft);
    const fd = openNew(draft, [this.#directory]);
    try {
      writeAll(fd, json);
    } finally {
      sys.close(fd);
    }
    sys.rename(draft, path);
    this.noteUnflushed(record.id);
    this.#unwritten.delete(record.id);
  }

  /** The next flush takes this record along. */
  noteUnflushed(id: string): void {
    this.#unflushed.add(this.#path(id), [this.#directory, this.#state]);
  }

  /**
   * The same for a change whose content could not be kept. If there is no disk space even for this, it stays in
   * memory.
   */
  addUnkept(record: Omit<ChangeRecord, "kept">): void {
    try {
      this.add({ ...record, kept: false });
    } catch {
      this.noteUnkept(record);
    }
  }

  /** The same in memory only, until the change is added. */
  noteUnkept(record: Omit<ChangeRecord, "kept">): void {
    this.#unwritten.set(record.id, { ...record, kept: false });
  }

  get(id: string): ChangeRecord | undefined {
    if (!/^[0-9a-z]{1,64}$/.test(id)) return undefined; // a longer one is not the name of a file
    this.#catchUp();
    return this.#read(id) ?? this.#unwritten.get(id);
  }

  /** Throws if it is there and cannot be read: without it, an older change would be taken for the newest. */
  #read(id: string): ChangeRecord | undefined {
    const text = system(stateDirectory, () => textIfThere(this.#path(id)));
    try {
      return text === undefined ? undefined : (JSON.parse(text) as ChangeRecord);
    } catch {
      return undefined; // damaged
    }
  }

  /** Those of a list from a time on, without these. Oldest first. */
  sinceThen(time: number, without: ReadonlySet<string>): ChangeRecord[] {
    this.#catchUp();
    const all = [...new Set([...this.#ids(), ...this.#unwritten.keys()])].sort();
    const wanted = all.filter(id => !isListEnd(id, time) && !without.has(id));
    return wanted.flatMap(id => this.#read(id) ?? this.#unwritten.get(id) ?? []);
  }

  /** The ids of all recorded changes, oldest first. */
  ids(): string[] {
    this.#catchUp();
    return this.#ids();
  }

  /** Newest first; with `before` and `behind`, only the changes before the one and behind the other. */
  *newest(before?: string, behind = ""): Generator<ChangeRecord> {
    this.#catchUp();
    for (const id of [...this.#ids(), ...this.#unwritten.keys()].sort().reverse()) {
      if (before !== undefined && id >= before) continue;
      if (id <= behind) return;
      const record = this.#read(id) ?? this.#unwritten.get(id);
      if (record !== undefined) yield record;
    }
  }

  /** The same; the event loop turns while many are read. */
  async *newestInTurns(before?: string, behind?: string): AsyncGenerator<ChangeRecord> {
    const slice = new TimeSlice();
    for (const record of this.newest(before, behind)) {
      if (slice.isOver) await slice.turn();
      yield record;
    }
  }

  /** Removes all but the newest records, and those that are too old. */
  clear(most: number, maxAgeMs: number): void {
    const ids = this.#ids();
    const oldest = Date.now() - maxAgeMs;
    for (const [i, id] of ids.entries()) {
      if (i < ids.length - most || timeIn(id) < oldest) unlinkIfThere(this.#path(id));
    }
    for (const name of namesIn(this.#directory).filter(one => one.endsWith(".draft"))) {
      const path = join(this.#directory, name);
      if (Date.now() - (sys.lstat(path)?.mtimeMs ?? Date.now()) > draftMs) unlinkIfThere(path);
    }
  }

  #newestTime(): number {
    try {
      const newest = this.#ids().at(-1);
      return newest === undefined ? 0 : timeIn(newest);
    } catch {
      return 0; // a commit does not fail for the order of its history
    }
  }

  #ids(): string[] {
    return system(stateDirectory, () => namesIn(this.#directory))
      .filter(name => name.endsWith(".json"))
      .map(name => name.slice(0, -5))
      .sort();
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

function textIfThere(path: string): string | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    return readAll(fd).toString();
  } catch (error) {
    if (isNoFile(error)) return undefined;
    throw error;
  } finally {
    sys.close(fd);
  }
}

/** How many ids there are. */
const perMillisecond = 36n ** 3n;

/** Ids sort as numbers do. */
function orderOf(id: string): bigint {
  return [...id].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);
}

/** Zero if the name is not an id that a log made: any other would be taken for a time far ahead. */
function timeIn(id: string): number {
  return /^[0-9a-z]{11,12}$/.test(id) ? Number.parseInt(id.slice(0, -3), 36) : 0;
}

/** A command that ran longer may be missing in a list since then, if others changed its files meanwhile. */
const longestCommandMs = 60 * 60_000;

/**
 * For lists from a time on, newest first: whether the list ends at this change. A command sorts where it acted, and its
 * time is that of its end, so the list goes on for a while after the first change that is older.
 */
export function isListEnd(id: string, since: number): boolean {
  return timeIn(id) < since - longestCommandMs;
}

/** Where a list of changes begins: behind a change, or at a time. */
export interface ListStart {
  /** For a list that is read newest first: whether it ends at the change with this id. */
  isEnd(id: string): boolean;
  /** Whether the list has a change that comes before its end. */
  has(record: ChangeRecord): boolean;
}

/**
 * A list behind a change has those that sort after it, and the commands that were recorded after it was made and sort
 * before it, because they acted before: whoever saw the change last has not seen these.
 */
export function listStart(after: ChangeRecord | undefined, since = 0): ListStart {
  const isBehind = ({ id, began, time }: ChangeRecord) =>
    after === undefined || id > after.id || (id !== after.id && began !== undefined && time > after.time);
  return {
    isEnd: id =>
      isListEnd(id, since) || (after !== undefined && isListEnd(id, Math.min(after.time, timeIn(after.id)))),
    has: record => record.time >= since && isBehind(record),
  };
}

/** The author of a commit that names none. */
export const anonymous: By = { action: "", client: "" };

export type ChangeEffect = "created" | "modified" | "removed" | "moved" | "copied" | "none";
