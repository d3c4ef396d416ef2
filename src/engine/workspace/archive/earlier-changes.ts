// Records of earlier changes, packed several hundred to a file. This keeps the directory of single records short, so
// reading the latest changes costs the same however long the history is. The first line of a file lists the ids and
// lengths of its records; the records follow, a line each. The file's name gives the first and last id. A file is never
// extended, and another process of the user may write one that holds some of the same records. Damage to a file costs
// the records that it hit and no others: where the first line does not fit what follows, the records are read by lines.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { namesIn, unlinkIfThere } from "../disk/if-there.ts";
import { flushAndCloseLater, readAll, sys, writeAll } from "../disk/syscalls.ts";
import { stateDirectory, system } from "../errno.ts";
import { forFlushing, onWindows } from "../windows-path.ts";
import { isNoFile, makeDirectory, openIfThere, openNew, unlessUnreadable } from "./folder.ts";
import { isText, list, numberThat, pair } from "./form.ts";

/** A record as it is written. */
export interface WrittenRecord {
  readonly id: string;
  readonly json: Buffer;
}

/** A file of records, by its name. */
export interface Volume {
  readonly name: string;
  readonly first: string;
  readonly last: string;
}

/** The records of a file, in their order. */
type LengthsById = readonly (readonly [id: string, length: number])[];

const isLength = numberThat(length => Number.isInteger(length) && length >= 0);
const isContents = list(pair(isText, isLength));

/** Enough for the first line of most files. */
const firstLineBytes = 16 * 1024;
const lineFeed = 0x0a;
const nameForm = /^([0-9a-z]{1,64})-([0-9a-z]{1,64})-[0-9a-f]{8}\.jsonl$/;
/** A draft that is older was left by a crash. */
const draftMs = 3_600_000;

export class EarlierChanges {
  readonly #state: string;
  readonly #directory: string;
  /** The file that was read last. Callers usually ask for several records of one file. */
  #latest:
    | { readonly name: string; readonly inode: number; readonly records: Map<string, Buffer> }
    | undefined;

  constructor(state: string) {
    this.#state = state;
    this.#directory = join(state, "earlier");
  }

  /** The one with the newest record first. */
  volumes(): Volume[] {
    const names = system(stateDirectory, () => namesIn(this.#directory));
    const volumes = names.flatMap(name => {
      const [, first, last] = nameForm.exec(name) ?? [];
      return first === undefined || last === undefined ? [] : [{ name, first, last }];
    });
    return volumes.sort((one, other) => (one.last < other.last ? 1 : -1));
  }

  /**
   * The records with this id: two processes may have gathered the same one, and one copy may be damaged. Files whose
   * first lines lack the id come last: one of these lines may be damaged.
   */
  *read(id: string): Generator<Buffer> {
    const around = this.volumes().filter(({ first, last }) => first <= id && id <= last);
    const holding = new Set(around.filter(volume => this.#holds(volume, id)));
    for (const volume of [...holding, ...around.filter(one => !holding.has(one))]) {
      const json = this.recordsIn(volume).get(id);
      if (json !== undefined) yield json;
    }
  }

  /** Whether there is a record with this id. */
  has(id: string): boolean {
    return this.volumes().some(one => this.#holds(one, id));
  }

  /** Files may overlap, so the ids are read first: to read each file for each record would take too long. */
  #holds(volume: Volume, id: string): boolean {
    if (id < volume.first || id > volume.last) return false;
    return this.#latest?.name === volume.name || this.idsIn(volume).includes(id);
  }

  /** The records of a file by their ids, without those that are damaged beyond recognition; none if it is gone. */
  recordsIn({ name }: Volume): ReadonlyMap<string, Buffer> {
    const found = this.#open(name, (fd, inode) => {
      if (this.#latest?.name === name && this.#latest.inode === inode) return this.#latest.records;
      const bytes = readAll(fd);
      const records = listedRecords(bytes) ?? recordsByLine(bytes);
      this.#latest = { name, inode, records };
      return records;
    });
    return found ?? new Map();
  }

  /** The ids in a file. Reads its first line only, unless that is damaged. Throws if it is there and cannot be read. */
  idsIn(volume: Volume): readonly string[] {
    const contents = this.#open(volume.name, fd => {
      const bytes = Buffer.allocUnsafe(firstLineBytes);
      const start = bytes.subarray(0, sys.read(fd, bytes, 0, bytes.length, 0));
      return contentsIn(start.includes("\n") ? start : readAll(fd));
    });
    const ids = contents?.map(([id]) => id);
    // `keep` leaves the name, and takes away the first ones.
    const isWhole =
      ids !== undefined && (ids[0] ?? "") >= volume.first && ids.at(-1) === volume.last && isAscending(ids);
    return isWhole ? ids : [...this.recordsIn(volume).keys()].sort();
  }

  /**
   * Writes records, oldest first, into one file. When it resolves, they survive a power cut, and the single ones can
   * go. Those that another process, or an attempt that failed, has put into a file are not written again.
   */
  async add(records: readonly WrittenRecord[]): Promise<void> {
    if (records.length === 0) return;
    const missing = this.#missing(records);
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === undefined || last === undefined) await this.#flushNames();
    else await this.#write(`${first.id}-${last.id}-${randomBytes(4).toString("hex")}.jsonl`, missing);
  }

  #missing(records: readonly WrittenRecord[]): readonly WrittenRecord[] {
    const [first, last] = [records[0]?.id ?? "", records.at(-1)?.id ?? ""];
    let missing = records;
    for (const volume of this.volumes()) {
      if (volume.first > last || volume.last < first) continue;
      const there = unlessUnreadable(() => this.recordsIn(volume));
      missing = missing.filter(({ id, json }) => there?.get(id)?.equals(json) !== true);
    }
    return missing;
  }

  /** Leaves only some of the records in a file. */
  async keep(volume: Volume, isKept: (id: string) => boolean): Promise<void> {
    const all = [...this.recordsIn(volume)];
    const kept = all.filter(([id]) => isKept(id));
    if (kept.length === all.length) return;
    await this.#write(
      volume.name,
      kept.map(([id, json]) => ({ id, json })),
    );
  }

  remove({ name }: Volume): void {
    unlinkIfThere(join(this.#directory, name));
  }

  removeOldDrafts(): void {
    for (const name of namesIn(this.#directory).filter(one => one.startsWith("."))) {
      const path = join(this.#directory, name);
      if (Date.now() - (sys.lstat(path)?.mtimeMs ?? Date.now()) > draftMs) unlinkIfThere(path);
    }
  }

  /** The content is flushed before it has its name, and the name before this resolves. */
  async #write(name: string, records: readonly WrittenRecord[]): Promise<void> {
    const contents: LengthsById = records.map(({ id, json }) => [id, json.length]);
    const end = Buffer.from("\n");
    const bytes = [Buffer.from(JSON.stringify(contents)), ...records.map(({ json }) => json)];
    const draft = join(this.#directory, `.${randomBytes(8).toString("hex")}`);
    makeDirectory(this.#directory);
    const fd = openNew(draft, [this.#directory]);
    try {
      try {
        writeAll(fd, Buffer.concat(bytes.flatMap(one => [one, end])));
      } finally {
        await flushAndCloseLater(fd);
      }
      sys.rename(draft, join(this.#directory, name));
    } catch (error) {
      unlinkIfThere(draft);
      throw error;
    }
    await this.#flushNames();
  }

  async #flushNames(): Promise<void> {
    if (onWindows) return; // where directories cannot be flushed
    for (const folder of [this.#directory, this.#state])
      await flushAndCloseLater(sys.open(folder, forFlushing)); // the state directory may be a link
  }

  #open<T>(name: string, read: (fd: number, inode: number) => T): T | undefined {
    const fd = system(stateDirectory, () => openIfThere(join(this.#directory, name)));
    if (fd === undefined) return undefined;
    try {
      return system(stateDirectory, () => {
        try {
          return read(fd, sys.stat(fd).ino);
        } catch (error) {
          if (isNoFile(error)) return undefined;
          throw error;
        }
      });
    } finally {
      sys.close(fd);
    }
  }
}

/** What the first line says; undefined where it is damaged. */
function contentsIn(bytes: Buffer): LengthsById | undefined {
  try {
    const contents: unknown = JSON.parse(bytes.subarray(0, bytes.indexOf("\n")).toString());
    return isContents(contents) ? contents : undefined;
  } catch {
    return undefined;
  }
}

function isAscending(ids: readonly string[]): boolean {
  return ids.every((id, i) => i === 0 || (ids[i - 1] as string) < id);
}

/** The records where the first line says; undefined if one of them is not there. */
function listedRecords(bytes: Buffer): Map<string, Buffer> | undefined {
  const records = new Map<string, Buffer>();
  let at = bytes.indexOf("\n") + 1;
  for (const [id, length] of contentsIn(bytes) ?? []) {
    const json = bytes.subarray(at, at + length);
    if (bytes[at + length] !== lineFeed || !json.includes(`"id":"${id}"`)) return undefined;
    records.set(id, json);
    at += length + 1;
  }
  return at === bytes.length && records.size > 0 ? records : undefined;
}

/** Every line that is a record, by the id that it names itself. */
function recordsByLine(bytes: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, at);
    const end = found < 0 ? bytes.length : found;
    const json = bytes.subarray(at, end);
    const id = idOf(json);
    if (id !== undefined) records.set(id, json);
    at = end + 1;
  }
  return records;
}

function idOf(json: Buffer): string | undefined {
  try {
    const { id } = (JSON.parse(json.toString()) ?? {}) as { readonly id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
