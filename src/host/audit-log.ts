// The audit log: JSON lines, each with the hash of the previous one, so that no line can be changed, removed or moved
// unnoticed (audit-check.ts).
//
// Each process that writes has its own chain, since several may share one file. A chain begins with a line that names
// the last line in the file, and ends with a closing line.
import { hash, randomBytes } from "node:crypto";
import { LogFile } from "./log-file.ts";

interface AuditLogOptions {
  readonly maxBytes: number;
  /** Facts about the process, for the first line. */
  readonly about: Readonly<Record<string, unknown>>;
  onError(error: unknown): void;
}

export class AuditLog implements Disposable {
  readonly #file: LogFile;
  readonly #chain = randomBytes(6).toString("hex");
  #number = 0;
  #previous: string;

  /** Faults where the file cannot be opened. */
  constructor(path: string, { maxBytes, about, onError }: AuditLogOptions) {
    this.#file = new LogFile(path, { maxBytes, onError });
    const last = this.#file.lastLine();
    this.#previous = last === "" ? "" : lineHash(last);
    this.append({ event: "start", pid: process.pid, ...about });
    this.#file.flush(); // for the next process to find
  }

  /** Takes an entry with at least one field. */
  append(entry: Readonly<Record<string, unknown>>): void {
    const time = new Date().toISOString();
    const fields = JSON.stringify(entry).slice(1, -1);
    const line = `{"chain":"${this.#chain}","seq":${++this.#number},"time":"${time}",${fields},"prev":"${this.#previous}"}`;
    this.#previous = lineHash(line);
    this.#file.append(line);
  }

  /** Continues in the file that has the name now: it may have been rotated. */
  reopen(): void {
    this.#file.expectRotation();
    this.append({ event: "reopen" });
    this.#file.flush();
  }

  [Symbol.dispose](): void {
    this.append({ event: "end" });
    this.#file[Symbol.dispose]();
  }
}

export function lineHash(line: string): string {
  return hash("sha256", line);
}
