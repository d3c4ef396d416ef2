// A log file, named by the person who starts the program. It is rotated: a full file becomes FILE.1, the one before
// FILE.2, and so on. Lines are written together when it is flushed. Several processes may append to one
// file, and others may rotate it: it is reopened when its name leads to another file, which is looked at ten times a
// second at most. Lines that come in between are in the file that was moved away.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { clock } from "../engine/clock.ts";
import { errnoOf, system } from "../engine/workspace/errno.ts";

interface LogFileOptions {
  readonly maxBytes: number;
  /** Told when lines cannot be written, once until some can be again. They are kept, up to `mostUnwritten` bytes. */
  onError(error: unknown): void;
}

/** How many old files are kept. */
export const keptFiles = 5;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;
const lookEveryMs = 100;
const newline = 10;
/** What is read at once to find the last line. */
const tailBytes = 64 * 1024;
/** What is kept in memory while the disk is full. Later lines are lost. */
const mostUnwritten = 16 * 1024 * 1024;

interface OpenLog {
  readonly fd: number;
  readonly inode: number;
  /** Only a regular file can be moved away. */
  readonly regular: boolean;
}

export class LogFile implements Disposable {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #file: OpenLog;
  #lines: string[] = [];
  /** What could not be written yet. */
  #unwritten: Buffer[] = [];
  #unwrittenBytes = 0;
  /** Whether the first of it was written in part. The rest belongs in the same file. */
  #isTorn = false;
  #isFailing = false;
  /** When its name and size were looked at, and its size by what this process has written since. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #size = 0;

  /** Faults where the file cannot be opened. */
  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#file = system(path, () => open(path));
    this.#endTornLine();
  }

  /** The last complete line in the file, however long; "" if there is none. */
  lastLine(): string {
    if (!this.#file.regular) return "";
    for (let length = tailBytes; ; length *= 4) {
      const { bytes, isAll } = this.#tail(length);
      const end = bytes.lastIndexOf(newline);
      const start = end > 0 ? bytes.lastIndexOf(newline, end - 1) : -1;
      if (start >= 0 || isAll) return bytes.toString("utf8", start + 1, Math.max(end, 0));
    }
  }

  #tail(length: number): { readonly bytes: Buffer; readonly size: number; readonly isAll: boolean } {
    const { fd } = this.#file;
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, length));
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return { bytes: bytes.subarray(0, read), size, isAll: bytes.length === size };
  }

  /** A process that was killed may have left half a line. Ours begin after it, so that only that one is damaged. */
  #endTornLine(): void {
    if (!this.#file.regular || (this.#tail(1).bytes[0] ?? newline) === newline) return;
    this.#unwritten.unshift(Buffer.of(newline));
    this.#unwrittenBytes++;
  }

  /** Takes a line, without its end, for the next flush. */
  append(line: string): void {
    this.#lines.push(line);
  }

  /** False if something is left to write, as on a full disk: a later flush writes it. */
  flush(): boolean {
    if (this.#lines.length > 0 && this.#unwrittenBytes < mostUnwritten) {
      const bytes = Buffer.from(`${this.#lines.join("\n")}\n`);
      this.#unwritten.push(bytes);
      this.#unwrittenBytes += bytes.length;
    }
    this.#lines = [];
    if (this.#unwrittenBytes === 0) return true;
    try {
      if (this.#file.regular && !this.#isTorn) this.#makeRoom(this.#unwrittenBytes);
      this.#writeAll();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
    }
    return !this.#isFailing;
  }

  #writeAll(): void {
    for (let bytes = this.#unwritten[0]; bytes !== undefined; bytes = this.#unwritten[0]) {
      const wasTorn = this.#isTorn;
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(this.#file.fd, bytes, written);
        this.#unwritten.shift();
        this.#isTorn = false;
      } catch (error) {
        const lineStart = written === 0 ? 0 : bytes.lastIndexOf(newline, written - 1) + 1;
        const begun = bytes.subarray(lineStart, written);
        if (begun.length > 0 && !(wasTorn && lineStart === 0) && this.#takeBack(begun)) written = lineStart;
        this.#unwritten[0] = bytes.subarray(written);
        this.#isTorn = written === 0 ? wasTorn : bytes[written - 1] !== newline;
        throw error;
      } finally {
        this.#unwrittenBytes -= written;
      }
    }
  }

  /**
   * Removes the beginning of a line from the end of the file: another process may write the next line, and this one may
   * be killed before there is room for the rest. False if it is not at the end, or cannot be removed.
   */
  #takeBack(begun: Buffer): boolean {
    try {
      const { bytes, size } = this.#tail(begun.length);
      if (!this.#file.regular || !bytes.equals(begun)) return false;
      ftruncateSync(this.#file.fd, size - begun.length);
      return true;
    } catch {
      return false;
    }
  }

  #makeRoom(bytes: number): void {
    const { maxBytes } = this.#options;
    const isFull = () => this.#size > 0 && this.#size + bytes > maxBytes;
    if (isFull() || clock() - this.#lookedAt >= lookEveryMs) this.#look();
    if (isFull()) this.#rotate();
    this.#size += bytes;
  }

  #look(): void {
    if (lstatSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#file.inode) this.#reopen();
    this.#size = fstatSync(this.#file.fd).size;
    this.#lookedAt = clock();
  }

  #rotate(): void {
    for (let age = keptFiles; age >= 1; age--) {
      try {
        renameSync(age === 1 ? this.#path : `${this.#path}.${age - 1}`, `${this.#path}.${age}`);
      } catch (error) {
        if (errnoOf(error) !== "ENOENT") throw error;
      }
    }
    this.#reopen();
    this.#size = 0;
  }

  /** Looks at its name again with the next line, however recently it has. */
  expectRotation(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  #reopen(): void {
    const file = open(this.#path);
    closeSync(this.#file.fd);
    this.#file = file;
    this.#endTornLine();
  }

  [Symbol.dispose](): void {
    this.flush();
    closeSync(this.#file.fd);
  }
}

function open(path: string): OpenLog {
  const fd = openSync(path, append, 0o600);
  const stat = fstatSync(fd);
  return { fd, inode: stat.ino, regular: stat.isFile() };
}
