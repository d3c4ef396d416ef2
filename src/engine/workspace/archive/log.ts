// The changes that were made, the latest in one small file each, named so that their order in time is that of their
// names, and earlier ones several hundred in a file. Any process of the user may write and read at the same time. One
// that looks for a change looks among the latest first: a record is removed there only when it is among the earlier.
import { randomInt } from "node:crypto";
import { join } from "node:path";
import type { Kind } from "../../fault.ts";
import { once } from "../../once.ts";
import type { FoundDirectory } from "../disk/held-directories.ts";
import { namesIn, unlinkIfSame, unlinkIfThere } from "../disk/if-there.ts";
import { readAll, sys, writeAll } from "../disk/syscalls.ts";
import { stateDirectory, system } from "../errno.ts";
import { type Steps, TimeSlice } from "../footprint/time-slice.ts";
import { EarlierChanges, type Volume, type WrittenRecord } from "./earlier-changes.ts";
import { isNoFile, openAnew, openIfThere, unlessUnreadable } from "./folder.ts";
import {
  type Check,
  type FieldChecks,
  fields,
  isFlag,
  isInteger,
  isNumber,
  isText,
  isTrue,
  list,
  numberThat,
  oneOf,
  optional,
  pair,
} from "./form.ts";
import { isSnapshot, type Snapshot } from "./snapshot.ts";
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
  /** Of such a command: when it looked at what it changed, and what it saw (history/others-changes.ts). */
  readonly looks?: readonly PathLooks[];
}

/** A path as it was before a command and as it is afterwards. */
export interface PathLooks {
  readonly at: string;
  /** When it was looked at: begin and end, by `clock`. */
  readonly first: readonly [number, number];
  readonly second: readonly [number, number];
  /** Where others changed the path between the looks: what they showed, and the changes in between. */
  readonly seen?: {
    readonly before?: Snapshot;
    readonly after?: Snapshot;
    readonly between: readonly string[];
  };
}

/** Names in a directory. */
export interface TemporaryNames {
  readonly at: Omit<FoundDirectory, "top">;
  readonly names: readonly string[];
}

/** The name of a record, without its ending. */
const idForm = /^[0-9a-z]{1,64}$/;

/** More milliseconds make no date. */
const isDate = numberThat(time => Math.abs(time) <= 8.64e15);
const isSpan = pair(isNumber, isNumber);

const isKind = oneOf<Kind>({
  ...{ file: 0, directory: 0, symlink: 0, fifo: 0, socket: 0, device: 0, other: 0 },
});
const isEffect = oneOf<ChangeEffect>({
  ...{ created: 0, modified: 0, removed: 0, moved: 0, copied: 0, none: 0 },
});

/** As the commit spelled it: rules and roots go by its names, so it has no detours, such as `..`. */
const isPath: Check<string> = (value): value is string =>
  isText(value) && !/\/\.{0,2}(\/|$)/.test(value.slice(1));

const isIdentity = fields<Identity>({ inode: isInteger, born: isNumber });

const isFile = fields<RecordedFile>({
  at: isPath,
  effect: isEffect,
  kind: isKind,
  from: optional(isPath),
  before: optional(isSnapshot),
  replaced: optional(isSnapshot),
  after: optional(isSnapshot),
  moved: optional(isIdentity),
});

const isLook = fields<PathLooks>({
  at: isText,
  first: isSpan,
  second: isSpan,
  seen: optional(
    fields<NonNullable<PathLooks["seen"]>>({
      before: optional(isSnapshot),
      after: optional(isSnapshot),
      between: list(isText),
    }),
  ),
});

const isFoundDirectory = fields<TemporaryNames["at"]>({
  at: isText,
  device: isInteger,
  inode: isInteger,
  born: optional(isNumber),
  aside: optional(isTrue),
});
const isTemporary = fields<TemporaryNames>({ at: isFoundDirectory, names: list(isText) });

const author: FieldChecks<By> = {
  action: isText,
  client: isText,
  connection: optional(isText),
  trace: optional(isText),
  undoes: optional(isText),
  partial: optional(isFlag),
  hunks: optional(isTrue),
  others: optional(isTrue),
};

const isRecord = fields<ChangeRecord>({
  ...author,
  id: isText,
  time: isDate,
  files: list(isFile),
  parents: list(isPath),
  kept: isFlag,
  began: optional(isDate),
  temporary: optional(list(isTemporary)),
  uncertain: optional(isTrue),
  looks: optional(list(isLook)),
});

/** A draft that is older was left by a crash. */
const draftMs = 3_600_000;

/** Of commits that failed or made no change, an id is never recorded. */
const mostFresh = 10_000;

/** When there are more records in files of their own, all but the latest of them are gathered. */
const mostSingle = 1024;
const fewestSingle = 512;
/** Of a file of earlier records. */
const mostGathered = 512;
const mostGatheredBytes = 1024 * 1024;

export class ChangeLog {
  readonly #state: string;
  readonly #directory: string;
  readonly #earlier: EarlierChanges;
  readonly #catchUp: () => void;
  readonly #unflushed: UnflushedFiles;
  /** Changes that could not be written: without them, undo would treat an older change as the newest. */
  readonly #unwritten = new Map<string, ChangeRecord>();
  /** Records whose ids were old when they were added, and when that was: a list by id would end before them. */
  readonly #belated = new Map<string, number>();
  /** Ids that were made here and not recorded since. */
  readonly #fresh = new Set<string>();
  #clock = Number.POSITIVE_INFINITY;
  /** The time in the last id that was made or noted. */
  #latest = 0;

  /** `catchUp` adds the backlog. */
  constructor(state: string, catchUp: () => void, unflushed: UnflushedFiles) {
    this.#state = state;
    this.#directory = join(state, "changes");
    this.#earlier = new EarlierChanges(state);
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
    const time = this.#latest.toString(36).padStart(timeDigits, "0");
    const chance = randomInt(Number(perMillisecond) - count + 1);
    if (this.#fresh.size >= mostFresh) this.#fresh.clear();
    return Array.from({ length: count }, (_, i) => {
      const id = `${time}${(chance + i).toString(36).padStart(endDigits, "0")}`;
      this.#fresh.add(id);
      return id;
    });
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
    for (let tries = 0; start < end && tries < 100; tries++) {
      const order = start + BigInt(randomInt(Number(end - start)));
      const id = order.toString(36).padStart(timeDigits + endDigits, "0");
      if (!this.#isRecorded(id)) return id;
    }
    return undefined;
  }

  /** Another machine has made this id: those that are made here from now on sort after it, whatever the clocks say. */
  noteId(id: string): void {
    this.#latest = Math.max(this.#latest, timeIn(id));
  }

  /** As it is on the disk; undefined if it is missing, or a power cut has damaged it. */
  recorded(id: string): ChangeRecord | undefined {
    return this.#fresh.has(id) ? undefined : this.#read(id);
  }

  /** `json` is the record, where that was made before. */
  add(record: ChangeRecord, json: Buffer = Buffer.from(JSON.stringify(record))): void {
    this.#fresh.delete(record.id);
    const path = this.#path(record.id);
    const draft = `${path}.draft`;
    const fd = openAnew(draft, [this.#directory]);
    try {
      writeAll(fd, json);
    } finally {
      sys.close(fd);
    }
    sys.rename(draft, path);
    this.#noteBelated(record.id);
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
    if (!idForm.test(id)) return undefined; // a longer one is not the name of a file
    this.#catchUp();
    return this.#read(id) ?? this.#unwritten.get(id);
  }

  /**
   * Throws if it is there and cannot be read: without it, an older change would be taken for the newest. A power cut
   * can bring a single record back, torn, after it was gathered.
   */
  #read(id: string): ChangeRecord | undefined {
    const single = parsed(id, system(stateDirectory, () => contentIfThere(this.#path(id)))?.bytes);
    if (single !== undefined) return single;
    for (const json of this.#earlier.read(id)) {
      const record = parsed(id, json);
      if (record !== undefined) return record;
    }
    return undefined;
  }

  /** The records from a time on, including those that arrived since with an old id. `without` is left out. Oldest first. */
  sinceThen(time: number, without: ReadonlySet<string>): ChangeRecord[] {
    const found = new Map<string, ChangeRecord>();
    for (const { id, read } of this.#inOrder()) {
      if (isListEnd(id, time)) break;
      const record = without.has(id) ? undefined : read();
      if (record !== undefined) found.set(id, record);
    }
    for (const id of this.#belatedSince(time)) {
      const record = without.has(id) || found.has(id) ? undefined : this.#read(id);
      if (record !== undefined) found.set(id, record);
    }
    return [...found.values()].sort(byId);
  }

  /** Their ids. */
  idsSince(time: number): string[] {
    const found = new Set<string>();
    for (const { id } of this.#inOrder()) {
      if (isListEnd(id, time)) break;
      if (!this.#unwritten.has(id)) found.add(id);
    }
    for (const id of this.#belatedSince(time)) found.add(id);
    return [...found];
  }

  /** Changes of machines whose clocks are behind, and of commands that took long. */
  #noteBelated(id: string): void {
    const now = Date.now();
    if (isListEnd(id, now)) this.#belated.set(id, now);
    for (const [oldest, added] of this.#belated) {
      if (added > now - longestCommandMs) return;
      this.#belated.delete(oldest);
    }
  }

  #belatedSince(time: number): string[] {
    return [...this.#belated].flatMap(([id, added]) => (added >= time - longestCommandMs ? [id] : []));
  }

  #isRecorded(id: string): boolean {
    return sys.lstat(this.#path(id)) !== undefined || this.#earlier.has(id);
  }

  /** The newest recorded change; undefined if there is none. */
  newestId(): string | undefined {
    this.#catchUp();
    return this.#newestId();
  }

  /** The ids of all recorded changes, oldest first. */
  ids(): string[] {
    this.#catchUp();
    return this.#ids();
  }

  /** Newest first; with `before` and `behind`, only the changes before the one and behind the other. */
  *newest(before?: string, behind?: string): Generator<ChangeRecord> {
    for (const { read } of this.#inOrder(before, behind)) {
      const record = read();
      if (record !== undefined) yield record;
    }
  }

  /** The same before they are read. A file of earlier ones is opened only when its newest record is next. */
  *#inOrder(before?: string, behind = ""): Generator<ListedChange> {
    this.#catchUp();
    const isWanted = (id: string) => (before === undefined || id < before) && id > behind;
    /** The next one last. */
    let next = [...this.#single(), ...this.#unwritten.keys()]
      .filter(isWanted)
      .sort()
      .map((id): ListedChange => ({ id, read: () => this.#read(id) ?? this.#unwritten.get(id) }));
    const volumes = this.#earlier.volumes().reverse(); // after the latest: what is gathered meanwhile is in one of both
    for (let previous: string | undefined; ; ) {
      const found = next.at(-1);
      const volume = volumes.at(-1);
      if (volume !== undefined && volume.last > behind && (found === undefined || volume.last >= found.id)) {
        volumes.pop();
        // A single record is read before another one with the same id.
        next = [...this.#listedIn(volume, isWanted), ...next].sort(byId);
        continue;
      }
      if (found === undefined) return;
      next.pop();
      if (found.id !== previous) yield found;
      previous = found.id;
    }
  }

  #listedIn(volume: Volume, isWanted: (id: string) => boolean): ListedChange[] {
    const ids = this.#earlier.idsIn(volume).filter(isWanted);
    const records = once(() => this.#earlier.recordsIn(volume));
    return ids.map(id => ({ id, read: () => parsed(id, records().get(id)) ?? this.#read(id) }));
  }

  /** The same; the event loop turns while many are read. */
  async *newestInTurns(before?: string, behind?: string): AsyncGenerator<ChangeRecord> {
    const slice = new TimeSlice();
    for (const record of this.newest(before, behind)) {
      if (slice.isOver) await slice.turn();
      yield record;
    }
  }

  /** Removes all but the newest records, and those that are too old. Pauses now and then. */
  *clear(most: number, maxAgeMs: number): Steps<void> {
    const isKept = this.#limit(most, maxAgeMs);
    for (const [i, id] of this.#single().entries()) {
      if (isKept(id)) continue;
      unlinkIfThere(this.#path(id));
      if (i % 16 === 15) yield;
    }
    for (const volume of this.#earlier.volumes()) if (!isKept(volume.last)) this.#earlier.remove(volume);
    for (const name of namesIn(this.#directory).filter(one => one.endsWith(".draft"))) {
      const path = join(this.#directory, name);
      if (Date.now() - (sys.lstat(path)?.mtimeMs ?? Date.now()) > draftMs) unlinkIfThere(path);
    }
    this.#earlier.removeOldDrafts();
  }

  /**
   * Puts all but the latest records together, several hundred in a file, and takes from these files what is beyond the
   * limits. What cannot be read stays where it is, and keeps nothing else from being gathered.
   */
  async gather(most: number, maxAgeMs: number): Promise<void> {
    const isKept = this.#limit(most, maxAgeMs);
    for (const volume of this.#earlier.volumes()) {
      if (isKept(volume.first)) continue;
      if (unlessUnreadable(() => this.#earlier.recordsIn(volume))) await this.#earlier.keep(volume, isKept);
    }
    const ids = this.#single().sort();
    if (ids.length <= mostSingle) return;
    const slice = new TimeSlice();
    let taken: (WrittenRecord & { readonly inode: number })[] = [];
    let bytes = 0;
    const put = async () => {
      await this.#earlier.add(taken);
      for (const { id, inode } of taken) {
        if (slice.isOver) await slice.turn();
        unlinkIfSame(this.#path(id), inode); // not one that was recorded again
      }
      [taken, bytes] = [[], 0];
    };
    for (const id of ids.slice(0, -fewestSingle)) {
      if (slice.isOver) await slice.turn();
      const found = unlessUnreadable(() => contentIfThere(this.#path(id)));
      if (found === undefined || parsed(id, found.bytes) === undefined) continue; // damaged
      taken.push({ id, json: found.bytes, inode: found.inode });
      bytes += found.bytes.length;
      if (taken.length === mostGathered || bytes > mostGatheredBytes) await put();
    }
    await put();
  }

  /** Which records are within the limits. */
  #limit(most: number, maxAgeMs: number): (id: string) => boolean {
    const ids = this.#ids(volume => unlessUnreadable(() => this.#earlier.idsIn(volume)) ?? []);
    const first = ids.at(-most) ?? "";
    const oldest = Date.now() - maxAgeMs;
    return id => most > 0 && id >= first && timeIn(id) >= oldest;
  }

  #newestTime(): number {
    try {
      const newest = this.#newestId();
      return newest === undefined ? 0 : timeIn(newest);
    } catch {
      return 0; // a commit does not fail for the order of its history
    }
  }

  #newestId(): string | undefined {
    let newest: string | undefined;
    for (const id of this.#single()) if (newest === undefined || id > newest) newest = id;
    const last = this.#earlier.volumes()[0]?.last;
    return newest === undefined || (last !== undefined && last > newest) ? last : newest;
  }

  #ids(idsIn = (volume: Volume) => this.#earlier.idsIn(volume)): string[] {
    const single = this.#single();
    const earlier = this.#earlier.volumes().flatMap(idsIn);
    return (earlier.length === 0 ? single : [...new Set([...single, ...earlier])]).sort();
  }

  /** The records in files of their own, in no order. */
  #single(): string[] {
    return system(stateDirectory, () => namesIn(this.#directory))
      .filter(name => name.endsWith(".json"))
      .map(name => name.slice(0, -5))
      .filter(id => idForm.test(id)); // not what a program that synchronises folders has added
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

function contentIfThere(path: string): { readonly bytes: Buffer; readonly inode: number } | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    return { bytes: readAll(fd), inode: sys.stat(fd).ino };
  } catch (error) {
    if (isNoFile(error)) return undefined;
    throw error;
  } finally {
    sys.close(fd);
  }
}

/** Undefined if it is missing, or damaged. */
function parsed(id: string, json: Buffer | undefined): ChangeRecord | undefined {
  try {
    const found: unknown = json === undefined ? undefined : JSON.parse(json.toString());
    return isRecord(found) && found.id === id ? found : undefined;
  } catch {
    return undefined;
  }
}

/** A change that may be read. */
interface ListedChange {
  readonly id: string;
  read(): ChangeRecord | undefined;
}

function byId({ id: one }: { readonly id: string }, { id: other }: { readonly id: string }): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** An id is a time in milliseconds and a random end, both in base 36. The time takes nine digits from 2059 on. */
const timeDigits = 8;

/**
 * Processes that use the same state directory make ids in the same millisecond, and the second record with an id would
 * replace the first. Among a thousand ids of one millisecond, two are the same in one of 4,000 cases.
 */
const endDigits = 6;

/** Ids of earlier versions end with so many. */
const earlierEndDigits = 3;

const perMillisecond = 36n ** BigInt(endDigits);

function endOf(id: string): number | undefined {
  if (!/^[0-9a-z]*$/.test(id)) return undefined;
  return [endDigits, earlierEndDigits].find(end => [0, 1].includes(id.length - timeDigits - end));
}

/** Whether a log makes ids of this form. */
export function isMadeId(text: string): boolean {
  return endOf(text) !== undefined;
}

/** Ids sort as these numbers do. */
function orderOf(id: string): bigint {
  const digits = id.padEnd(id.length + endDigits - (endOf(id) ?? endDigits), "0");
  return [...digits].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);
}

/** Zero if the name is not an id that a log made: any other would be taken for a time far ahead. */
function timeIn(id: string): number {
  const end = endOf(id);
  return end === undefined ? 0 : Number.parseInt(id.slice(0, -end), 36);
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
