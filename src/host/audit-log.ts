// The audit log: JSON lines, each with the hash of the previous one, so that no line can be changed, removed or moved
// unnoticed (audit-check.ts).
//
// Each process that writes has its own chain, since several may share one file. A chain begins with a line that names
// the last line in the file, and ends with a closing line.
//
// Entries that come together are written together: half the cost of a line is that of a single write.
import { hash, randomBytes } from "node:crypto";
import { auditJson } from "./audit-json.ts";
import { LogFile } from "./log-file.ts";

interface AuditLogOptions {
  readonly maxBytes: number;
  /** Facts about the process, for the first line. */
  readonly about: Readonly<Record<string, unknown>>;
  onError(error: unknown): void;
}

/** How long an entry waits for others. */
const longestWaitMs = 10;
/** How many wait. */
const mostWaiting = 100;
/** How often a full disk is tried again. */
const retryMs = 1000;

/** A text holds the members of a JSON object, with values by `auditJson`. */
type NewEntry = Readonly<Record<string, unknown>> | string;

interface WaitingEntry {
  readonly at: number;
  readonly entry: NewEntry;
}

export class AuditLog implements Disposable {
  readonly #file: LogFile;
  readonly #chain = randomBytes(6).toString("hex");
  #number = 0;
  #previous: string;
  #waiting: WaitingEntry[] = [];
  /** The second of the last line, and its text. */
  #second = { at: Number.NaN, text: "" };
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** Faults where the file cannot be opened. */
  constructor(path: string, { maxBytes, about, onError }: AuditLogOptions) {
    this.#file = new LogFile(path, { maxBytes, onError });
    const last = this.#file.lastLine();
    this.#previous = last === "" ? "" : lineHash(last);
    this.append({ event: "start", pid: process.pid, ...about });
    this.#flush(); // for the next process to find
  }

  /**
   * Takes an entry with at least one field. It is in the file in the next turn of the event loop, or a moment later if
   * the caller expects more entries soon.
   */
  append(entry: NewEntry, expectsMore = false): void {
    this.#waiting.push({ at: Date.now(), entry });
    if (expectsMore && this.#waiting.length < mostWaiting)
      this.#timer ??= setTimeout(() => this.#flush(), longestWaitMs);
    else this.#immediate ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    for (const { at, entry } of this.#waiting) this.#file.append(this.#lineOf(at, entry));
    this.#waiting = [];
    if (!this.#file.flush()) this.#timer = setTimeout(() => this.#flush(), retryMs).unref();
  }

  #lineOf(at: number, entry: NewEntry): string {
    const time = this.#timeOf(at);
    const fields = typeof entry === "string" ? entry : auditJson(entry).slice(1, -1);
    const line = `{"chain":"${this.#chain}","seq":${++this.#number},"time":"${time}",${fields},"prev":"${this.#previous}"}`;
    this.#previous = lineHash(line);
    return line;
  }

  /** As in ISO 8601. Only the milliseconds change from line to line. */
  #timeOf(at: number): string {
    const ms = at % 1000;
    if (at - ms !== this.#second.at) {
      const [text = ""] = new Date(at).toISOString().split(".");
      this.#second = { at: at - ms, text };
    }
    return `${this.#second.text}.${String(ms).padStart(3, "0")}Z`;
  }

  /** Continues in the file that has the name now: it may have been rotated. */
  reopen(): void {
    this.#flush();
    this.#file.expectRotation();
    this.append({ event: "reopen" });
    this.#flush();
  }

  [Symbol.dispose](): void {
    this.append({ event: "end" });
    this.#flush();
    clearTimeout(this.#timer); // its descriptor may soon be that of another file
    this.#file[Symbol.dispose]();
  }
}

export function lineHash(line: string): string {
  return hash("sha256", line);
}
