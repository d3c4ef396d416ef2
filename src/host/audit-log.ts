// The audit log: JSON lines, from which no line can be changed, removed or moved unnoticed (audit-check.ts checks it).
//
// Each process that writes has its own chain, since several may share one file: a line has its number in the chain, and
// the hash of the line before it there (`chain`, `seq`, `prev`). What binds the chains to each other and to the file is
// `seen`: a line that comes after lines of other processes has the place and the hash of what they wrote, and so has
// the first line that a process writes to a file, which is empty if the process has created it. After a rotation,
// `follows` has the same for the end of the file before. So every line is bound by the line after it, whose ever that
// is, and only the end of the log is not. A process that finds its file deleted, or shorter than its lines are, says so
// in its next line (`gone`).
//
// A chain begins with the event `start` and the hash of the last line in the file, and ends with `end`.
//
// Entries that come together are written together: half the cost of a line is that of a single write. They are in the
// file before the answers to their calls leave: see `append`.
import { hash, randomBytes } from "node:crypto";
import { boundedMembers } from "./audit-bounds.ts";
import { auditJson } from "./audit-json.ts";
import { LogFile, type LogPlace } from "./log-file.ts";
import { withoutTokens } from "./masked-tokens.ts";

export interface AuditLogOptions {
  readonly maxBytes: number;
  /** Facts about the process, for the first line. */
  readonly about: Readonly<Record<string, unknown>>;
  /** Told when lines cannot be written, once until some can be again. */
  onError(error: unknown): void;
  /** Told once, when a full file cannot be rotated and grows. */
  onUnrotated?(error: unknown): void;
  /** Told at the end how many lines could not be written. */
  onLost?(lines: number): void;
}

/** How many are written together. */
const mostTogether = 200;
/** How often a full disk is tried again. */
const retryMs = 1000;
/** What is kept in memory while the disk is full. Later entries are lost, and the log says how many. */
const mostWaiting = 16 * 1024 * 1024;
/** The members that every line has, in bytes, or nearly so. */
const frameBytes = 160;

/** A text holds the members of a JSON object, with values by `auditJson`. */
type NewEntry = Readonly<Record<string, unknown>> | string;

interface WaitingEntry {
  readonly at: number;
  /** The members of a JSON object. */
  readonly members: string;
}

/** The number and the hash of a chain's last line. */
interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export class AuditLog implements Disposable {
  readonly #file: LogFile;
  readonly #onError: AuditLogOptions["onError"];
  readonly #onLost: AuditLogOptions["onLost"];
  readonly #chain = randomBytes(6).toString("hex");
  #end: ChainEnd;
  #waiting: WaitingEntry[] = [];
  #waitingBytes = 0;
  /** Entries that were not kept. */
  #lost = 0;
  #isFailing = false;
  /** Its descriptor may be that of another file. */
  #isClosed = false;
  /** The second of the last line, and its text. */
  #second = { at: Number.NaN, text: "" };
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /** Faults where the file cannot be opened. */
  constructor(path: string, { maxBytes, about, onError, onUnrotated, onLost }: AuditLogOptions) {
    let isTold = false;
    this.#file = new LogFile(path, maxBytes, error => {
      if (!isTold) onUnrotated?.(error);
      isTold = true;
    });
    this.#onError = onError;
    this.#onLost = onLost;
    const last = this.#file.lastLine();
    this.#end = { seq: 0, hash: last === "" ? "" : lineHash(last) };
    this.append({ event: "start", pid: process.pid, ...about });
  }

  /** Whether lines wait that could not be written. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /**
   * Takes an entry with at least one field. It is in the file when this returns or, if it may wait for others, after
   * `flush`, which its caller calls before the answer leaves.
   */
  append(entry: NewEntry, mayWait = false): void {
    if (this.#isClosed) return;
    if (this.#waitingBytes > mostWaiting) this.#lost++;
    else this.#keep(entry);
    if (!mayWait || this.#waiting.length >= mostTogether) this.flush();
    else this.#immediate ??= setImmediate(() => this.flush()); // a cancelled call has no answer
  }

  #keep(entry: NewEntry): void {
    const given = typeof entry === "string" ? entry : auditJson(entry).slice(1, -1);
    const members = boundedMembers(withoutTokens(given));
    this.#waiting.push({ at: Date.now(), members });
    this.#waitingBytes += members.length + frameBytes;
  }

  /** Writes what waits. On a full disk that is tried again later. */
  flush(): void {
    if (this.#immediate !== undefined) clearImmediate(this.#immediate);
    this.#immediate = undefined;
    if (!this.#isFailing && !this.#isClosed) this.#write();
  }

  #write(): void {
    clearTimeout(this.#timer);
    try {
      while (this.#waiting.length > 0) this.#writeSome();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
      this.#timer = setTimeout(() => this.#write(), retryMs).unref();
    }
  }

  #writeSome(): void {
    const together = this.#waiting.slice(0, mostTogether);
    let place: LogPlace = this.#file.prepare(sizeOf(together));
    const lines: string[] = [];
    const ends: ChainEnd[] = [];
    let end = this.#end;
    for (const { at, members } of together) {
      const line = `{"chain":"${this.#chain}","seq":${end.seq + 1},"time":"${this.#timeOf(at)}",${members}${membersOf(place)},"prev":"${end.hash}"}`;
      place = {};
      end = { seq: end.seq + 1, hash: lineHash(line) };
      lines.push(line);
      ends.push(end);
    }
    const written = this.#file.write(lines);
    this.#end = ends[written.lines - 1] ?? this.#end;
    this.#waitingBytes -= sizeOf(this.#waiting.splice(0, written.lines));
    if (written.error !== undefined) throw written.error;
    if (this.#lost === 0 || this.#waiting.length > 0) return;
    const lost = { event: "lost", lines: this.#lost };
    this.#lost = 0;
    this.#keep(lost);
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
    if (this.#isClosed) return;
    this.flush();
    this.#file.expectRotation();
    this.append({ event: "reopen" });
    if (this.#isFailing) this.#write();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.flush();
    this.#file.expectRotation(); // the last line belongs into the latest file
    this.append({ event: "end" });
    if (this.#isFailing) this.#write();
    clearTimeout(this.#timer);
    if (this.#immediate !== undefined) clearImmediate(this.#immediate);
    this.#isClosed = true;
    this.#file[Symbol.dispose]();
    const lost = this.#lost + this.#waiting.length;
    if (lost > 0) this.#onLost?.(lost);
  }
}

function sizeOf(entries: readonly WaitingEntry[]): number {
  let bytes = 0;
  for (const { members } of entries) bytes += members.length + frameBytes;
  return bytes;
}

function membersOf(place: LogPlace): string {
  return place.seen === undefined ? "" : `,${JSON.stringify(place).slice(1, -1)}`;
}

export function lineHash(line: string | Buffer): string {
  return hash("sha256", line);
}
