// A regular file, open for reading. It stays the same file whatever happens to its name, and every read names its
// range, so memory does not grow with the file.
import { type BigIntStats, closeSync, constants, fstatSync, read, readSync, type Stats } from "node:fs";
import { Fault } from "../fault.ts";
import { leastCounted, memoryBudget } from "../memory-budget.ts";
import type { EngineCaches } from "./engine-caches.ts";
import { faultOf, system } from "./errno.ts";
import type { ResolvedPath } from "./resolve.ts";
import { maxMaskedBytes, type Rules } from "./rules.ts";
import { kindOf, type Stat, statOf } from "./stat.ts";
import { isSynthetic } from "./synthetic.ts";
import { openSync } from "./system/calls.ts";
import { byDescriptor, descriptorPath } from "./system/descriptors.ts";
import { keepsTimes } from "./system/file-system.ts";
import { fstatNow } from "./system/identity.ts";

const chunkBytes = 256 * 1024;
const tinyBytes = 32 * 1024; // up to this size, a part is served from the whole
const smallBytes = 1024 * 1024; // up to here a synchronous read costs less than handing it to a thread

const mostReplaced = 20;

/**
 * Resolves and opens once more where another file took the name between the check and the opening, as a server that
 * edits the file does. Only where objects are held by path.
 */
export function openedAgain(open: () => OpenFile): OpenFile {
  for (let round = 1; ; round++) {
    try {
      return open();
    } catch (error) {
      if (!Fault.is(error, "changed_meanwhile") || round === mostReplaced) throw error;
    }
  }
}

/** A regular file, open for reading. */
export class OpenFile implements Disposable {
  readonly #fd: number;
  /** The path as the caller wrote it, for faults. */
  readonly given: string;
  /** Where the file really was when it was opened. */
  readonly path: string;
  readonly stat: Stat;
  /** @internal */
  readonly caches: EngineCaches;
  #held: Buffer | undefined;
  /** The masked text, where a rule wants it. */
  #shown: Buffer | undefined;
  /** Bytes of it that the memory budget counts. */
  #counted = 0;

  private constructor(fd: number, given: string, path: string, stat: Stat, caches: EngineCaches) {
    this.#fd = fd;
    this.caches = caches;
    this.given = given;
    this.path = path;
    this.stat = stat;
  }

  /**
   * Opens a resolved path if it is a regular file, and closes the resolved handle. Never blocks, never touches a
   * device. If a rule masks the file, the masked text is its content, unless `unmasked` is set.
   *
   * @internal
   */
  static open(resolved: ResolvedPath, given: string, as?: "unmasked"): OpenFile {
    const { handle, root, path, stat, contents: shown } = resolved;
    try {
      const contents = as === "unmasked" ? "full" : (shown ?? root.rules.admit(path, given).contents);
      const stats = stat ?? handle.stat();
      if (!stats.isFile()) throw new Fault("not_a_file", { path: given, kind: kindOf(stats) });
      if (stats.dev !== root.device && isSynthetic(handle.address)) {
        throw new Fault("not_a_file", { path: given, kind: "other" });
      }
      const fd = openSync(handle.address, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      // A race-free handle is the object that was checked; otherwise the name may lead to another one.
      if (!byDescriptor && !isSame(stats, fstatNow(fd))) {
        closeSync(fd);
        throw new Fault("changed_meanwhile", { path: given });
      }
      const file = new OpenFile(fd, given, path, statOf(stats), root.caches);
      return contents === "masked" ? file.#masked(root.rules) : file;
    } catch (error) {
      throw faultOf(error, given);
    } finally {
      handle.close();
    }
  }

  /** The same file with its masked text as content. Faults: `forbidden` if it cannot be masked. */
  #masked(rules: Rules): OpenFile {
    try {
      const whole = this.readNow(0, Math.min(this.stat.size, maxMaskedBytes) + 1);
      const shown = rules.shown(this.path, whole, this.given);
      const stat = { ...this.stat, size: shown.length };
      const masked = new OpenFile(this.#fd, this.given, this.path, stat, this.caches);
      masked.#shown = shown;
      return masked;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether a rule masks it: its content differs from the disk. */
  get isMasked(): boolean {
    return this.#shown !== undefined;
  }

  get size(): number {
    return this.stat.size;
  }

  /** Whether its times show every change, at once. @internal */
  get keepsTimes(): boolean {
    return byDescriptor && keepsTimes(descriptorPath(this.#fd));
  }

  /** How the file is now, to the nanosecond. @internal */
  statBig(): BigIntStats {
    return fstatSync(this.#fd, { bigint: true });
  }

  /** Up to `length` bytes from `offset`; fewer at the end of the file. */
  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#shown !== undefined) return this.readNow(offset, length);
    // No more room than there is something to read, unless the file has grown by a lot.
    const most = Math.min(length, Math.max(0, this.stat.size - offset) + chunkBytes);
    if (most <= smallBytes) return this.readNow(offset, most);
    const buffer = Buffer.allocUnsafe(most);
    let filled = 0;
    while (filled < most) {
      const count = await this.#fill(buffer.subarray(filled, filled + 16 * smallBytes), offset + filled);
      filled += count;
      if (count === 0 || offset + filled === this.stat.size) break;
    }
    return buffer.subarray(0, filled);
  }

  /** The same, at once: for small pieces. */
  readNow(offset: number, length: number): Buffer {
    const held = this.whole();
    if (held !== undefined) return held.subarray(offset, offset + Math.max(0, length));
    const buffer = Buffer.allocUnsafe(Math.max(0, length));
    let filled = 0;
    system(this.given, () => {
      while (filled < length) {
        const count = readSync(this.#fd, buffer, filled, length - filled, offset + filled);
        filled += count;
        if (count === 0 || offset + filled === this.stat.size) break;
      }
    });
    return buffer.subarray(0, filled);
  }

  /** The whole file. A file that grew since it was opened is read to its new end; over `limit` it is refused. */
  async bytes(limit: number): Promise<Buffer> {
    const size = this.stat.size;
    if (size > limit) throw new Fault("too_large", { path: this.given, size, limit });
    const held = this.whole();
    if (held !== undefined) return held;
    if (size >= leastCounted && this.#counted === 0) {
      await memoryBudget.read(size);
      this.#counted = size;
    }
    const whole = await this.read(0, size + 1);
    if (whole.length <= size) return whole;
    const parts = [whole];
    let total = whole.length;
    for (;;) {
      if (total > limit) throw new Fault("too_large", { path: this.given, size: total, limit });
      const more = await this.read(total, chunkBytes);
      if (more.length === 0) return Buffer.concat(parts);
      parts.push(more);
      total += more.length;
    }
  }

  /**
   * The content of a very small file, which is read once; undefined for others, and if the size has changed.
   *
   * @internal
   */
  whole(): Buffer | undefined {
    if (this.#shown !== undefined) return this.#shown;
    const { size } = this.stat;
    if (this.#held !== undefined || size > tinyBytes) return this.#held;
    const buffer = Buffer.allocUnsafe(size + 1);
    const count = system(this.given, () => readSync(this.#fd, buffer, 0, size + 1, 0));
    if (count === size) this.#held = buffer.subarray(0, size);
    return this.#held;
  }

  /**
   * The file from `offset` on in pieces, the next one read while the consumer works on this one, which is good only
   * until then. The consumer stops by breaking out.
   */
  stream(offset = 0): AsyncGenerator<Buffer> {
    return this.pieces(offset, 0);
  }

  /**
   * The same; the first piece has `near` bytes, if so many are likely to do.
   *
   * @internal
   */
  async *pieces(offset: number, near: number): AsyncGenerator<Buffer> {
    let at = offset;
    if (near > 0) {
      const piece = this.readNow(offset, near);
      at += piece.length;
      if (piece.length > 0) yield piece;
      if (piece.length < near) return;
    }
    if (this.stat.size - at <= smallBytes) {
      const piece = this.readNow(at, Math.max(0, this.stat.size - at) + 1);
      if (piece.length > 0) yield piece;
      at += piece.length;
      if (at <= this.stat.size) return;
    }
    let spare = Buffer.allocUnsafe(smallBytes);
    let buffer = Buffer.allocUnsafe(smallBytes);
    let coming = this.#fill(buffer, at);
    try {
      for (;;) {
        const count = await coming;
        if (count === 0) return;
        [buffer, spare] = [spare, buffer];
        at += count;
        coming = this.#fill(buffer, at);
        yield spare.subarray(0, count);
      }
    } finally {
      await coming.catch(() => 0);
    }
  }

  #fill(buffer: Buffer, offset: number): Promise<number> {
    if (this.#shown !== undefined) return Promise.resolve(this.#shown.copy(buffer, 0, offset));
    return new Promise((resolve, reject) => {
      read(this.#fd, buffer, 0, buffer.length, offset, (error, count) =>
        error === null ? resolve(count) : reject(faultOf(error, this.given)),
      );
    });
  }

  close(): void {
    closeSync(this.#fd);
    if (this.#counted > 0) memoryBudget.readEnded(this.#counted);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Some versions of Node on Windows report no device (0) for a name, but one for an open file. */
function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && (a.dev === b.dev || a.dev === 0 || b.dev === 0);
}
