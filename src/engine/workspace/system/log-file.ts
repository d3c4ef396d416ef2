// A file that lines are appended to, named by the person who starts the program. It is rotated: what is full
// becomes FILE.1, the one before FILE.2, and so on. Lines of one turn of the event loop are written together.
import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { errnoOf, system } from "../errno.ts";

interface LogFileOptions {
  readonly maxBytes: number;
  /** How many old ones are kept. */
  readonly keep?: number;
  /** Told when lines could not be written; they are lost. */
  onError(error: unknown): void;
}

const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

export class LogFile implements Disposable {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #fd: number;
  #size: number;
  /** Only a regular file can be moved away. */
  #regular: boolean;
  #lines: string[] = [];

  /** Faults where the file cannot be opened. */
  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#fd = system(path, () => openSync(path, append, 0o600));
    const stat = fstatSync(this.#fd);
    this.#size = stat.size;
    this.#regular = stat.isFile();
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
      if (this.#regular && this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes)
        this.#rotate();
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      this.#size += bytes.length;
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #rotate(): void {
    const { keep = 5 } = this.#options;
    for (let age = keep; age >= 1; age--) {
      try {
        renameSync(age === 1 ? this.#path : `${this.#path}.${age - 1}`, `${this.#path}.${age}`);
      } catch (error) {
        if (errnoOf(error) !== "ENOENT") throw error;
      }
    }
    const fd = openSync(this.#path, append, 0o600);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#size = 0;
  }

  [Symbol.dispose](): void {
    this.flush();
    closeSync(this.#fd);
  }
}
