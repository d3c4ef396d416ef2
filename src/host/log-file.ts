// A log file, named by the person who starts the program. It is rotated: a full file becomes FILE.1, the one before
// FILE.2, and so on. Lines of one turn of the event loop are written together. Several processes may append to one
// file, and others may rotate it: it is reopened when its name leads to another file, which is looked at ten times a
// second at most. Lines that come in between are in the file that was moved away.
import {
  closeSync,
  constants,
  fstatSync,
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
  /** Told when lines could not be written; they are lost. */
  onError(error: unknown): void;
}

/** How many old files are kept. */
export const keptFiles = 5;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;
const lookEveryMs = 100;
const longestLine = 1024 * 1024;

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
  /** When its name and size were looked at, and its size by what this process has written since. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #size = 0;

  /** Faults where the file cannot be opened. */
  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#file = system(path, () => open(path));
  }

  /** The last complete line when the file was opened; "" if there was none. */
  lastLine(): string {
    const { fd, regular } = this.#file;
    if (!regular) return "";
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, longestLine));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8").trimEnd().split("\n").at(-1) ?? "";
  }

  /** Takes a line, without its end. */
  append(line: string): void {
    if (this.#lines.push(line) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    const bytes = Buffer.from(`${this.#lines.join("\n")}\n`);
    this.#lines = [];
    try {
      if (this.#file.regular) this.#makeRoom(bytes.length);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at);
    } catch (error) {
      this.#options.onError(error);
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
