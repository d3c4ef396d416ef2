// Contents on disk, named by the hash of their bytes: merges and undo read them. Any process of the user may add,
// find and remove objects concurrently. An object is put in place by a rename and never changes; one that a power cut
// damaged counts as missing and is written again.
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRawSync } from "node:zlib";
import { Fault } from "../../fault.ts";
import { contentHash, hashing } from "../../text/version.ts";
import { namesIn, unlinkIfThere } from "../disk/if-there.ts";
import { readingAll, sys, writeAll, writingAll } from "../disk/syscalls.ts";
import { randomName } from "../disk/temporary.ts";
import { errnoOf, faultOf, stateDirectory, system } from "../errno.ts";
import { atOnce, gently, type Steps } from "../footprint/time-slice.ts";
import { isNoFile, openIfThere, openNew } from "./folder.ts";
import type { UnflushedFiles } from "./unflushed.ts";

const plainTag = 0;
const packedTag = 1;
const worthPacking = 512; // smaller contents do not get smaller
const packAtOnce = 4 * 1024 * 1024; // larger ones would hold everything up
const packing = { level: 1 };
/** For a small content, the buffers of the usual settings take longer to prepare than the content takes to pack. */
const smallPacking = { level: 1, memLevel: 7, chunkSize: 8192 };
const small = 64 * 1024;
/** Copying so much together costs less than another write. */
const writtenAtOnce = 64 * 1024;
/** No larger content is ever kept. A damaged or planted object must not take all memory. */
const unpacking = { maxOutputLength: 512 * 1024 * 1024 };
const packLater = promisify(deflateRaw);
/** An object that is used again gets a new time, unless its time is recent. */
export const touchMs = 5 * 60_000;
/** Longer than that, and longer than any change takes to be recorded. */
const inUseMs = 30 * 60_000;

export class Objects {
  readonly #state: string;
  readonly #directory: string;
  /** Objects that this process has written, or read and found whole. */
  readonly #there = new Set<string>();
  readonly #catchUp: () => void;
  readonly #unflushed: Pick<UnflushedFiles, "add">;

  /** `catchUp` stores the backlog. */
  constructor(state: string, catchUp: () => void, unflushed: Pick<UnflushedFiles, "add">, name = "objects") {
    this.#state = state;
    this.#directory = join(state, name);
    this.#catchUp = catchUp;
    this.#unflushed = unflushed;
  }

  /** Keeps bytes, and returns their hash. */
  put(bytes: Uint8Array, hash = contentHash(bytes)): string {
    return atOnce(this.putting(bytes, hash));
  }

  /** The same with pauses, where there are many bytes. */
  *putting(bytes: Uint8Array, hash?: string): Steps<string> {
    const name = hash ?? (yield* hashing(bytes));
    if (yield* this.#having(name)) return name;
    yield* this.#writing(name, packedNow(bytes), bytes);
    return name;
  }

  /** The same in the background, packing in a thread what takes a while. */
  async putLater(bytes: Uint8Array): Promise<string> {
    const hash = await gently(hashing(bytes));
    if (await gently(this.#having(hash))) return hash;
    const isInThread = isWorthPacking(bytes) && bytes.length > small;
    const held = isInThread ? await packLater(bytes, packing) : packedNow(bytes);
    await gently(this.#writing(hash, held, bytes));
    return hash;
  }

  /** Whether an object is there, whole and readable. */
  has(hash: string): boolean {
    return atOnce(this.#having(hash));
  }

  *#having(hash: string): Steps<boolean> {
    const path = this.#path(hash);
    const stat = sys.lstat(path);
    if (stat === undefined) return false; // also an existing one: other processes remove objects too
    if (Date.now() - stat.mtimeMs > touchMs && !touchIfThere(path)) return false;
    if (this.#there.has(hash)) return true;
    if (!(yield* this.#isWhole(hash))) return false;
    this.#add(hash);
    return true;
  }

  /** Not an unflushed object after a power cut, nor one on a bad sector: it is written again. */
  *#isWhole(hash: string): Steps<boolean> {
    try {
      return (yield* this.#reading(hash)) !== undefined;
    } catch (error) {
      if (Fault.is(error, "io")) return false;
      throw error;
    }
  }

  /** The writer of an object may not have flushed it: the first use in this process does. */
  #add(hash: string): void {
    if (this.#there.size > 10_000) this.#there.clear();
    this.#there.add(hash);
    const path = this.#path(hash);
    this.#unflushed.add(path, [dirname(path), this.#directory, this.#state]);
  }

  /** Whether there is a file for it, whole or damaged. */
  isThere(hash: string): boolean {
    return sys.lstat(this.#path(hash)) !== undefined;
  }

  /** Whether bytes are those with this hash. */
  isHash(hash: string, bytes: Uint8Array): boolean {
    return contentHash(bytes) === hash;
  }

  /** The bytes with this hash; undefined if they are no longer kept. */
  get(hash: string): Buffer | undefined {
    this.#catchUp();
    return atOnce(this.#reading(hash));
  }

  /** The same; the event loop turns while many bytes are read. */
  getLater(hash: string): Promise<Buffer | undefined> {
    this.#catchUp();
    return gently(this.#reading(hash));
  }

  *#reading(hash: string): Steps<Buffer | undefined> {
    const fd = system(stateDirectory, () => openIfThere(this.#path(hash)));
    if (fd === undefined) return undefined;
    let held: Buffer;
    try {
      held = yield* readingAll(fd);
    } catch (error) {
      if (isNoFile(error)) return undefined;
      throw faultOf(error, stateDirectory);
    } finally {
      sys.close(fd);
    }
    try {
      const bytes = held[0] === packedTag ? inflateRawSync(held.subarray(1), unpacking) : held.subarray(1);
      return (yield* hashing(bytes)) === hash ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** The bytes whose hash starts with the prefix; undefined if there are none or the prefix is ambiguous. */
  async find(beginning: string): Promise<Buffer | undefined> {
    this.#catchUp();
    const fits = system(stateDirectory, () => namesIn(join(this.#directory, beginning.slice(0, 2))))
      .map(name => beginning.slice(0, 2) + name)
      .filter(hash => hash.startsWith(beginning));
    return fits.length === 1 && fits[0] !== undefined ? this.getLater(fits[0]) : undefined;
  }

  /**
   * Removes objects last used more than `maxAgeMs` ago, and the least recently used beyond `maxBytes` of disk space.
   * Never a recently used one: another process may be about to record a change with it. Returns how many it looked at.
   * Pauses now and then, and holds no list of them: there may be a million.
   */
  *clear(maxBytes: number, maxAgeMs: number): Steps<number> {
    const now = Date.now();
    let count = 0;
    let excess = -maxBytes;
    /** The disk space of the objects that were last used in each minute. */
    const minutes = new Map<number, number>();
    for (const found of this.all()) {
      if (found === undefined) {
        yield;
        continue;
      }
      count++;
      if (now - found.used > maxAgeMs) dropUnused(found);
      else {
        const minute = minuteOf(found);
        minutes.set(minute, (minutes.get(minute) ?? 0) + onDisk(found));
        excess += onDisk(found);
      }
    }
    if (excess > 0) {
      /** Of the minutes before this one everything goes; of itself, a part. */
      let last = Number.NEGATIVE_INFINITY;
      for (const [minute, bytes] of [...minutes].sort(([one], [other]) => one - other)) {
        last = minute;
        if (bytes >= excess) break;
        excess -= bytes;
      }
      const partly: KeptObject[] = [];
      for (const found of this.all()) {
        if (found === undefined) yield;
        else if (now - found.used >= inUseMs && minuteOf(found) < last) dropUnused(found);
        else if (now - found.used >= inUseMs && minuteOf(found) === last) partly.push(found);
      }
      for (const [i, found] of partly.sort((one, other) => one.used - other.used).entries()) {
        if (excess <= 0) break;
        if (i % 64 === 0) yield;
        dropUnused(found);
        excess -= onDisk(found);
      }
    }
    this.#there.clear();
    return count;
  }

  /** Every object with its size and the time it was last used. Pauses after each directory, and within a long one. */
  *all(): Generator<KeptObject | undefined> {
    for (const folder of namesIn(this.#directory)) {
      yield undefined;
      for (const [i, name] of namesIn(join(this.#directory, folder)).entries()) {
        if (i % 64 === 63) yield undefined;
        const path = `${this.#directory}${sep}${folder}${sep}${name}`;
        const stat = sys.lstat(path);
        if (stat === undefined) continue;
        const hash = name.startsWith(".") ? undefined : folder + name;
        yield { hash, path, size: stat.size, used: stat.mtimeMs };
      }
    }
  }

  /** Removes an object, unless it has been used since it was examined. */
  drop(object: KeptObject): void {
    dropUnused(object);
    if (object.hash !== undefined) this.#there.delete(object.hash);
  }

  #path(hash: string): string {
    return join(this.#directory, hash.slice(0, 2), hash.slice(2));
  }

  *#writing(hash: string, packed: Uint8Array, bytes: Uint8Array): Steps<void> {
    const path = this.#path(hash);
    const held = packed.length < bytes.length ? packed : bytes;
    const tag = Buffer.from([held === bytes ? plainTag : packedTag]);
    const folder = dirname(path);
    const draft = join(folder, `.${randomName()}`);
    const fd = openNew(draft, [this.#directory, folder]);
    try {
      if (held.length <= writtenAtOnce) writeAll(fd, Buffer.concat([tag, held]));
      else {
        writeAll(fd, tag);
        yield* writingAll(fd, held, 1);
      }
    } catch (error) {
      unlinkIfThere(draft);
      throw error;
    } finally {
      sys.close(fd);
    }
    sys.rename(draft, path);
    this.#add(hash);
  }
}

/** An object, or a draft of one, which has no hash. */
export interface KeptObject extends FoundObject {
  readonly hash: string | undefined;
  readonly size: number;
}

interface FoundObject {
  readonly path: string;
  /** Its time when it was examined. */
  readonly used: number;
}

const blockBytes = 4096;

/** What an object takes of the disk: the limit is on that, or millions of short ones would be within it. */
function onDisk({ size }: KeptObject): number {
  return Math.ceil(size / blockBytes) * blockBytes;
}

function minuteOf({ used }: FoundObject): number {
  return Math.floor(used / 60_000);
}

/**
 * Another process may start to use an object right now: it is renamed first, examined again, and renamed back if
 * used.
 */
function dropUnused({ path, used }: FoundObject): void {
  const taken = join(dirname(path), `.${randomName()}`);
  try {
    sys.rename(path, taken);
    if (sys.lstat(taken)?.mtimeMs === used) unlinkIfThere(taken);
    else sys.rename(taken, path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error; // another process has removed it
  }
}

/** Marks an object as used now; false if it has been removed. */
function touchIfThere(path: string): boolean {
  try {
    sys.touch(path, new Date());
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function packedNow(bytes: Uint8Array): Uint8Array {
  if (!isWorthPacking(bytes)) return bytes;
  return deflateRawSync(bytes, bytes.length <= small ? smallPacking : packing);
}

function isWorthPacking({ length }: Uint8Array): boolean {
  return length >= worthPacking && length <= packAtOnce;
}
