// A file of records that survive the process and, after `flush`, a power cut. A commit writes its steps and new bytes
// before it touches anything, so one flush makes any number of files safe.
//
// The file is allocated once and overwritten, because flushing allocated blocks costs a third of flushing a growing
// file. A record belongs to a generation; restarting at the top with the next generation invalidates everything
// further down. Each record is authenticated with the key of the state directory (key.ts): neither a torn record nor
// one written by another program is accepted.
import { createHash, hash, timingSafeEqual } from "node:crypto";
import { constants } from "node:fs";
import { clock } from "../../clock.ts";
import { isNoFile } from "../archive/folder.ts";
import { contentAt } from "../disk/if-there.ts";
import { flushAndCloseLater, sys, writeAll } from "../disk/syscalls.ts";
import { faultOf, ifAllowed, stateDirectory, system } from "../errno.ts";
import type { Address } from "../system/held.ts";
import { onWindows } from "../windows-path.ts";

const plainBytes = 16; // of the head; its authentication follows
const macBytes = 16;
const headBytes = plainBytes + macBytes;
const magic = 0x504a4c32;
const allocated = 256 * 1024;
const start = { is: "start" }; // the first record, from the second generation on
const startText = JSON.stringify(start);
const slowMs = 2; // a slower disk is flushed in a thread, so the event loop stays responsive
/** Larger amounts are flushed in a thread: a disk takes long for them. */
const mostFlushedAtOnce = 256 * 1024;

export interface JournalRecord {
  readonly generation: number;
  readonly body: unknown;
  readonly blob: Buffer;
}

export class Journal {
  readonly address: Address;
  readonly #fd: number;
  readonly #key: PaddedKey;
  #generation: number;
  #end = 0;
  /** Bytes since the last flush. */
  #appended = 0;
  #flushMs = 0;
  #flushing: Promise<void> | undefined;
  /** Starts when the current flush ends. */
  #nextFlush: Promise<void> | undefined;
  /** Directories above it. The first flush includes them, so that the journal can be found after a power cut. */
  #unflushed: readonly string[];

  constructor(address: Address, generation: number, key: Buffer, folders: readonly string[] = []) {
    this.address = address;
    this.#key = paddedKey(key);
    this.#generation = generation;
    this.#unflushed = folders;
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    this.#fd = system(stateDirectory, () => sys.open(address, flags, 0o600));
    try {
      writeAll(this.#fd, Buffer.alloc(allocated)); // the first record's flush takes it along
    } catch (error) {
      sys.close(this.#fd);
      throw faultOf(error, stateDirectory);
    }
  }

  get generation(): number {
    return this.#generation;
  }

  /** Bytes in use. */
  get size(): number {
    return this.#end;
  }

  /**
   * Adds a record. It survives this process from here on, and the power only after `flush`. `json` is the body, where
   * that was made before.
   */
  append(
    body: unknown,
    blobs: readonly Uint8Array[] = [],
    json: Buffer = Buffer.from(JSON.stringify(body)),
  ): void {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(magic, 0);
    head.writeUInt32LE(this.#generation, 4);
    head.writeUInt32LE(json.length, 8);
    head.writeUInt32LE(
      blobs.reduce((sum, blob) => sum + blob.length, 0),
      12,
    );
    authentication(this.#key, head, [json, ...blobs]).copy(head, plainBytes);
    const record = Buffer.concat([head, json, ...blobs]);
    system(stateDirectory, () => writeAll(this.#fd, record, this.#end));
    this.#end += record.length;
    this.#appended += record.length;
  }

  /**
   * Flushes what has been appended so far. Callers that arrive during a flush share the next one. If the current one
   * fails, they fail too: after a failed flush, the system may report the next one as a success.
   */
  flush(): Promise<void> {
    if (this.#flushing === undefined) return this.#beginFlush();
    this.#nextFlush ??= this.#flushing
      .finally(() => {
        this.#nextFlush = undefined;
      })
      .then(() => this.#beginFlush());
    return this.#nextFlush;
  }

  #beginFlush(): Promise<void> {
    const flushing = this.#flush()
      .catch(error => {
        throw faultOf(error, stateDirectory);
      })
      .finally(() => {
        if (this.#flushing === flushing) this.#flushing = undefined;
      });
    this.#flushing = flushing;
    return flushing;
  }

  async #flush(): Promise<void> {
    if (this.#unflushed.length > 0) await this.#flushNames();
    const started = clock();
    const isLarge = this.#appended > mostFlushedAtOnce;
    this.#appended = 0;
    if (this.#flushMs > slowMs || isLarge) await sys.flushDataLater(this.#fd);
    else sys.flushData(this.#fd);
    if (isLarge) return; // it says nothing about small ones
    this.#flushMs = (this.#flushMs * 7 + clock() - started) / 8;
  }

  flushNow(): void {
    sys.flushData(this.#fd);
  }

  async #flushNames(): Promise<void> {
    const folders = this.#unflushed;
    await Promise.all([sys.flushLater(this.#fd), ...folders.map(flushFolder)]);
    this.#unflushed = [];
  }

  /** Discards all records, durably. */
  async restart(generation: number): Promise<void> {
    this.#generation = generation;
    this.#end = 0;
    this.append(start);
    if (sys.stat(this.#fd).size > 16 * allocated) sys.truncate(this.#fd, allocated);
    await sys.flushDataLater(this.#fd);
  }

  close(): void {
    sys.close(this.#fd);
  }
}

/** One that may not be read, as the home of the state directory may be, cannot be flushed. Nor can any on Windows. */
async function flushFolder(path: string): Promise<void> {
  if (onWindows) return;
  await flushAndCloseLater(ifAllowed(() => sys.open(path, constants.O_RDONLY)));
}

/** The generation of a journal that holds more than its start record; undefined if it holds none. */
export function holdsCommits(address: Address): number | undefined {
  const fd = sys.open(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const heads = Buffer.alloc(2 * headBytes + startText.length);
  try {
    sys.read(fd, heads, 0, heads.length, 0);
  } catch (error) {
    if (isNoFile(error)) return undefined;
    throw error;
  } finally {
    sys.close(fd);
  }
  const isRecord = (head: Buffer) => head.readUInt32LE(0) === magic;
  const generation = heads.readUInt32LE(4);
  if (!isRecord(heads)) return undefined;
  if (!heads.subarray(headBytes).toString("latin1").startsWith(startText)) return generation;
  const next = heads.subarray(headBytes + startText.length);
  return isRecord(next) && next.readUInt32LE(4) === generation ? generation : undefined;
}

/**
 * Discards the records of journals that are about to be removed. Flushing the removal would not do: some file systems
 * restore the name all the same (restored-names.ts). The oldest generation goes first, because recovery needs later
 * records to judge earlier ones, and never the other way round.
 */
export function invalidate(addresses: readonly Address[]): void {
  const found = addresses.flatMap(address => {
    const generation = holdsCommits(address);
    return generation === undefined ? [] : [{ address, generation }];
  });
  for (const { address } of found.sort((a, b) => a.generation - b.generation)) {
    const fd = sys.open(address, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      writeAll(fd, Buffer.alloc(headBytes), 0);
      sys.flushData(fd);
    } finally {
      sys.close(fd);
    }
  }
}

/** The complete, authentic records. A torn record ends the list. */
export function readJournal(address: Address, key: Buffer): JournalRecord[] {
  const all = contentAt(address);
  if (all === undefined) return [];
  const secret = paddedKey(key);
  const records: JournalRecord[] = [];
  for (let at = 0; at + headBytes <= all.length; ) {
    const head = all.subarray(at, at + headBytes);
    const json = head.readUInt32LE(8);
    const blob = head.readUInt32LE(12);
    const end = at + headBytes + json + blob;
    const generation = head.readUInt32LE(4);
    if (head.readUInt32LE(0) !== magic || end > all.length) break;
    if (records[0] !== undefined && records[0].generation !== generation) break;
    const content = all.subarray(at + headBytes, end);
    if (!timingSafeEqual(authentication(secret, head, [content]), head.subarray(plainBytes))) break;
    records.push({
      generation,
      body: JSON.parse(content.toString("utf8", 0, json)),
      blob: content.subarray(json),
    });
    at = end;
  }
  return records;
}

/**
 * HMAC-SHA-256, shortened. Made of two plain hashes: `createHmac` takes longer to set up than most records take to
 * hash.
 */
function authentication(key: PaddedKey, head: Buffer, parts: readonly Uint8Array[]): Buffer {
  const inner = createHash("sha256").update(key.inner).update(head.subarray(0, plainBytes));
  for (const part of parts) inner.update(part);
  return hash("sha256", Buffer.concat([key.outer, inner.digest()]), "buffer").subarray(0, macBytes);
}

/** A key as HMAC uses it, twice for each record. */
interface PaddedKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

function paddedKey(key: Buffer): PaddedKey {
  return { inner: padded(key, 0x36), outer: padded(key, 0x5c) };
}

const blockBytes = 64; // of SHA-256; a key is shorter

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(blockBytes, pad);
  for (const [i, byte] of key.entries()) block[i] = byte ^ pad;
  return block;
}
