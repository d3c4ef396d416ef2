// A log file, named by the person who starts the program. It is rotated: a full file becomes FILE.1, the one before
// FILE.2, and so on. Several processes may append to one file, and others may rotate it: it is reopened when its name
// leads to another file, which is looked at ten times a second at most. Lines that come in between are in the file that
// was moved away.
//
// Before lines are written, the file says what its writer has to know about their place: what others have written
// there.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { clock } from "../engine/clock.ts";
import { errnoOf, ifAllowed, system } from "../engine/workspace/errno.ts";
import { hashOfRange, type LogRange, lastLineIn, lastLinesIn } from "./log-range.ts";

/** What the next line is to say about its place. */
export interface LogPlace {
  /**
   * What the file held that this process did not write itself, since its line before. The last lines of the file if it
   * is its first line there.
   */
  readonly seen?: LogRange;
  /** The last lines of the file that this process wrote to before. */
  readonly follows?: LogRange;
  /** What another program did to the lines of this process: their file is deleted, or shorter than they are long. */
  readonly gone?: "deleted" | "cut";
}

/** What became of some lines. */
interface WrittenLines {
  /** How many are in the file. The last of them may be there in part; its rest is written first from then on. */
  readonly lines: number;
  /** Why the others are not. */
  readonly error?: unknown;
}

/** How many old files are kept. */
export const keptFiles = 5;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;
const lookEveryMs = 100;
const longestRotationMs = 10_000;
/** How long a rotation that failed is not tried again. */
const rotationPauseMs = 1000;
/** How much later than its name leads elsewhere a file may still get lines. */
const lateMs = 1000;
const newline = 10;
const nothing = Buffer.alloc(0);

interface OpenLog {
  readonly fd: number;
  readonly inode: number;
  /** Only a regular file can be moved away, and read. */
  readonly regular: boolean;
}

/** Up to where the file is accounted for, and what this process has written behind that. */
interface Accounted {
  readonly to: number;
  readonly own: number;
}

export class LogFile implements Disposable {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #onUnrotated: (error: unknown) => void;
  #rotateFrom = Number.NEGATIVE_INFINITY;
  #file: OpenLog;
  /** The rest of a line that was written in part. It belongs in the same file. */
  #rest: Buffer = nothing;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Undefined if this process has written nothing to this file. */
  #accounted: Accounted | undefined;
  /** Up to where the file is accounted for by the line that is written next. */
  #accountedNext = 0;
  #follows: LogRange | undefined;
  #gone: LogPlace["gone"];
  /** When the last line was written. */
  #wroteAt = 0;

  /** Throws a fault if the file cannot be opened. Every failed rotation calls `onUnrotated` with its error. */
  constructor(path: string, maxBytes: number, onUnrotated: (error: unknown) => void = () => {}) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#onUnrotated = onUnrotated;
    this.#file = system(path, () => open(path));
    if (this.#file.regular && fstatSync(this.#file.fd).size === 0)
      this.#follows = ifAllowed(() => endOf(`${path}.1`));
  }

  /** The last complete line in the file, however long; "" if there is none. */
  lastLine(): string {
    const { fd, regular } = this.#file;
    if (!regular) return "";
    const { from, to } = lastLineIn(fd, fstatSync(fd).size);
    const bytes = Buffer.alloc(Math.max(0, to - from - 1));
    readSync(fd, bytes, 0, bytes.length, from);
    return bytes.toString();
  }

  /** Finds the file to write about this many bytes to. Throws if that cannot be done now. */
  prepare(bytes: number): LogPlace {
    this.#writeRest();
    if (!this.#file.regular) return {};
    if (clock() - this.#lookedAt >= lookEveryMs) this.#look();
    const { size } = fstatSync(this.#file.fd);
    // Asked once where it can be: that takes a tenth of the time of a line.
    if (!this.#isFull(size, bytes) || clock() < this.#rotateFrom) return this.#place(size);
    this.#rotateIfFull(bytes);
    return this.#place(fstatSync(this.#file.fd).size);
  }

  #isFull(size: number, bytes: number): boolean {
    return size > 0 && size + bytes > this.#maxBytes;
  }

  /** A file that cannot be rotated grows: lines that are in no file would be worse. */
  #rotateIfFull(bytes: number): void {
    try {
      using claim = claimRotation(this.#path);
      this.#look(); // another process may have rotated it
      if (this.#isFull(fstatSync(this.#file.fd).size, bytes) && claim.isOurs) this.#rotate();
    } catch (error) {
      this.#rotateFrom = clock() + rotationPauseMs;
      this.#onUnrotated(error);
    }
  }

  #writeRest(): void {
    while (this.#rest.length > 0) this.#rest = this.#rest.subarray(writeSync(this.#file.fd, this.#rest));
  }

  #place(size: number): LogPlace {
    const { to, own } = this.#accounted ?? { to: Number.POSITIVE_INFINITY, own: 0 };
    if (size === to + own) {
      this.#accountedNext = size;
      return {};
    }
    if (this.#isCut(size)) this.#gone = "cut";
    const seen = this.#endedLines(to, size);
    this.#accountedNext = seen.to;
    return {
      seen,
      ...(this.#follows && { follows: this.#follows }),
      ...(this.#gone && { gone: this.#gone }),
    };
  }

  /** A log only grows. */
  #isCut(size: number): boolean {
    return this.#accounted !== undefined && size < this.#accounted.to + this.#accounted.own;
  }

  /**
   * What others wrote. A process that was killed may have left half a line: that is ended, so that only it is damaged
   * and not the line behind it, too.
   */
  #endedLines(from: number, size: number): LogRange {
    // Another program truncated the file, so it counts as a new one.
    const lines = (end: number) =>
      end < from ? lastLinesIn(this.#file.fd, end) : this.#completeLines(from, end);
    const seen = lines(size);
    if (seen.to === size) return seen;
    this.#rest = Buffer.of(newline);
    this.#writeRest();
    return lines(fstatSync(this.#file.fd).size);
  }

  #completeLines(from: number, size: number): LogRange {
    const { fd } = this.#file;
    const to = Math.max(from, lastLineIn(fd, size).to);
    return { from, to, sha256: hashOfRange(fd, from, to) ?? "" };
  }

  /** Writes lines, without their ends, after `prepare`. */
  write(lines: readonly string[]): WrittenLines {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    let written = 0;
    let failure: { readonly error: unknown } | undefined;
    try {
      while (written < bytes.length) written += writeSync(this.#file.fd, bytes, written);
    } catch (error) {
      failure = { error };
      const begun = bytes.subarray(bytes.lastIndexOf(newline, written - 1) + 1, written);
      if (written > 0 && begun.length > 0) {
        if (this.#takeBack(begun)) written -= begun.length;
        else this.#rest = Buffer.from(bytes.subarray(written, bytes.indexOf(newline, written) + 1));
      }
    }
    if (written > 0) {
      this.#accounted = { to: this.#accountedNext, own: written };
      this.#follows = undefined;
      this.#gone = undefined;
      this.#wroteAt = Date.now();
    }
    if (failure === undefined) return { lines: lines.length };
    return { lines: linesIn(bytes.subarray(0, written + this.#rest.length)), ...failure };
  }

  /**
   * Removes the beginning of a line from the end of the file: another process may write the next line, and this one may
   * be killed before there is room for the rest. False if it is not at the end, or cannot be removed.
   */
  #takeBack(begun: Buffer): boolean {
    const { fd, regular } = this.#file;
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, begun.length));
      readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      if (!regular || !bytes.equals(begun)) return false;
      ftruncateSync(fd, size - begun.length);
      return true;
    } catch {
      return false;
    }
  }

  #look(): void {
    if (lstatSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#file.inode) this.#reopen();
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
  }

  /** Looks at its name again with the next line, however recently it has. */
  expectRotation(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  #reopen(): void {
    const file = open(this.#path);
    if (!file.regular) {
      closeSync(file.fd); // a pipe without a reader would stop the server
      throw new Error(`${this.#path} is not a regular file any more`);
    }
    const { fd } = this.#file;
    const { size, nlink } = fstatSync(fd);
    // `audit verify` cannot read a file that rotation has dropped, so the new one must not refer to it.
    const isDropped = nlink === 0 && this.#isDropped();
    this.#follows = isDropped ? undefined : lastLinesIn(fd, size);
    if (this.#isCut(size)) this.#gone = "cut";
    if (nlink === 0 && !isDropped && this.#accounted !== undefined) this.#gone = "deleted";
    closeSync(fd);
    this.#file = file;
    this.#accounted = undefined;
  }

  /**
   * Whether other processes have rotated the file away, which drops it in the end: then the oldest file that is kept
   * was begun after the last line of this process. If a person deleted it, that file is older.
   */
  #isDropped(): boolean {
    return (ifAllowed(() => begunAt(`${this.#path}.${keptFiles}`)) ?? Number.NaN) > this.#wroteAt - lateMs;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file.fd);
  }
}

/**
 * Two processes that find a file full at the same time would rotate it twice. One that does not get the claim writes
 * more to the file than it should, which does no harm.
 */
function claimRotation(path: string): Disposable & { readonly isOurs: boolean } {
  const name = `${path}.lock`;
  try {
    closeSync(openSync(name, "wx", 0o600));
    return { isOurs: true, [Symbol.dispose]: () => rmSync(name, { force: true }) };
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    const held = lstatSync(name, { throwIfNoEntry: false });
    // Its process was killed.
    if (held !== undefined && Date.now() - held.mtimeMs > longestRotationMs) rmSync(name, { force: true });
    return { isOurs: false, [Symbol.dispose]() {} };
  }
}

function endOf(path: string): LogRange {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return lastLinesIn(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

/** The time in the first line of a file. */
function begunAt(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const beginning = Buffer.alloc(200);
    const [, time = ""] =
      /"time":"([^"]*)"/.exec(beginning.toString("latin1", 0, readSync(fd, beginning, 0, 200, 0))) ?? [];
    return Date.parse(time);
  } finally {
    closeSync(fd);
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}

function open(path: string): OpenLog {
  const fd = openSync(path, append, 0o600);
  const stat = fstatSync(fd);
  return { fd, inode: stat.ino, regular: stat.isFile() };
}
