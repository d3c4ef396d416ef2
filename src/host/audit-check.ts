// Checks an audit log: all lines are present, unchanged and in order. audit-log.ts describes the lines.
//
// What a log proves: every line that another line follows, of its own process or of another one in the same file, is as
// it was written. What it cannot prove: that nothing was cut off at its end, where no line follows; keep the last hash
// elsewhere, and expect it later. Nor can it say anything about files that are not given. There is no key: it does not
// prove who wrote a line.
import { closeSync, constants, openSync, readSync } from "node:fs";
import { errnoOf, faultOf, isAbsence, system } from "../engine/workspace/errno.ts";
import { lineHash } from "./audit-log.ts";
import { keptFiles } from "./log-file.ts";
import { hashOfRange, type LogRange } from "./log-range.ts";

export interface AuditReport {
  readonly lines: number;
  readonly chains: number;
  /** Chains that did not end: their process still runs, was killed, or continued in a file that is not given. */
  readonly open: number;
  /** Lines that were changed, and places where some are missing: the first of them, and how many more there are. */
  readonly problems: readonly string[];
  /** What the files refer to and do not hold. */
  readonly notes: readonly string[];
  /** The hash of the last line. */
  readonly last: string;
  /** Whether older lines are in files that are not given: rotation may have dropped them. */
  readonly rotated: boolean;
}

interface AuditCheckOptions {
  /** The hash of a line that must be there. */
  readonly expect?: string | undefined;
}

interface Link {
  readonly seq: number;
  readonly hash: string;
  readonly ended: boolean;
  /** The file that its last line is in. */
  readonly file: CheckedFile;
  /** Whether its lines name places: not those that were written to a pipe or a device. */
  readonly placed: boolean;
}

interface CheckedFile {
  readonly name: string;
  readonly fd: number;
  /** Whether the chains in it name places; undefined before the first line. */
  placed?: boolean;
}

const most = 20;
const newline = 10;
const pieceBytes = 1024 * 1024;
/** A longer line is none of ours. */
const longestLine = 256 * 1024 * 1024;

/** The rotated files of one that are there, from the oldest, and itself. Faults where that cannot be known. */
export function withRotated(path: string): string[] {
  const old = Array.from({ length: keptFiles }, (_, age) => `${path}.${keptFiles - age}`);
  return [...old.filter(isThere), path];
}

/** Checks files that follow each other, from the oldest. Throws a fault if one cannot be read. */
export function checkAudit(paths: readonly string[], { expect }: AuditCheckOptions = {}): AuditReport {
  const check = new LogCheck(expect);
  try {
    // All are opened first: the log may be rotated while it is read.
    const files = paths.map(path => system(path, () => check.open(path)));
    for (const file of files) system(file.name, () => check.file(file));
    return check.report();
  } finally {
    check.close();
  }
}

class LogCheck {
  readonly #chains = new Map<string, Link>();
  readonly #opened: CheckedFile[] = [];
  /** Those that were read, or are. */
  readonly #files: CheckedFile[] = [];
  readonly #problems = new Findings();
  readonly #notes = new Findings();
  #expected: string | undefined;
  #lines = 0;
  #last = "";
  #isContinued = false;

  constructor(expected: string | undefined) {
    this.#expected = expected;
  }

  open(name: string): CheckedFile {
    const file: CheckedFile = { name, fd: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK) };
    this.#opened.push(file);
    return file;
  }

  file(file: CheckedFile): void {
    const { name } = file;
    this.#files.push(file);
    let number = 0;
    for (const { bytes, offset, complete } of linesOf(file.fd)) {
      number++;
      // A process that takes the beginning of a line for the half of one puts an empty line behind it.
      if (bytes.length === 0) continue;
      const where = `${name}:${number}`;
      const problem = complete
        ? this.#line(bytes, offset, file, where)
        : "the last line is incomplete: its process was killed or is about to write the rest, or the file was cut";
      if (problem !== undefined) this.#problems.add(`${where}: ${problem}`);
    }
  }

  report(): AuditReport {
    if (this.#expected !== undefined) this.#problems.add(`no line has the hash ${this.#expected}`);
    const chains = [...this.#chains.values()];
    return {
      lines: this.#lines,
      chains: chains.length,
      open: chains.filter(({ ended }) => !ended).length,
      problems: this.#problems.list(),
      notes: this.#notes.list(),
      last: this.#last,
      rotated: this.#isContinued,
    };
  }

  close(): void {
    for (const { fd } of this.#opened) closeSync(fd);
  }

  #line(bytes: Buffer, offset: number, file: CheckedFile, where: string): string | undefined {
    const hash = lineHash(bytes);
    this.#lines++;
    this.#last = hash;
    if (hash === this.#expected) this.#expected = undefined;
    const entry = parsed(bytes);
    if (entry === undefined)
      return "not a complete line of an audit log: it was changed, or its process was killed while it wrote the line";
    const { chain, seq, event, seen } = entry;
    const before = this.#chains.get(chain);
    // Lines that were written to a pipe have no place. A line cannot lose it unnoticed.
    const placed = before?.placed ?? (seq > 1 || seen !== undefined);
    this.#chains.set(chain, { seq, hash, ended: event === "end", file, placed });
    if (placed && before?.file !== file && seen === undefined)
      return "lines before it are missing: it is the first line of its chain here, and was not";
    file.placed ??= placed;
    if (file.placed !== placed)
      return `it was put in, or lines above were: it names ${placed ? "its" : "no"} place in the file, and those do${placed ? " not" : ""}`;
    return (
      goneProblem(entry, before, file) ??
      this.#linkProblem(entry, before, where) ??
      (seen && seenProblem(seen, offset, file)) ??
      this.#followsProblem(entry)
    );
  }

  #linkProblem(
    { chain, seq, prev }: AuditEntry,
    before: Link | undefined,
    where: string,
  ): string | undefined {
    if (before === undefined) {
      if (seq > 1) {
        this.#isContinued = true;
        this.#notes.add(`${where}: chain ${chain} continues here from another file, with its line ${seq}`);
      }
      return undefined;
    }
    if (before.ended) return "its chain had ended";
    if (seq !== before.seq + 1) return `line ${seq} of its chain comes after line ${before.seq}`;
    return prev === before.hash ? undefined : "the line before it in its chain was changed";
  }

  /** The process that begins a file knows how the one before it ended. */
  #followsProblem({ follows, seen }: AuditEntry): string | undefined {
    const earlier = this.#files.slice(0, -1);
    if (follows === undefined || seen === undefined || seen.to > 0 || earlier.length === 0) return undefined;
    if (earlier.some(({ fd }) => hashOfRange(fd, follows.from, follows.to) === follows.sha256))
      return undefined;
    return "the file before this one was changed, or is missing: if it was moved away, name all files, the oldest first";
  }
}

/** A file that was deleted or cut may have been copied before, and be among those that are given. */
function goneProblem(
  { gone, seq, prev }: AuditEntry,
  before: Link | undefined,
  file: CheckedFile,
): string | undefined {
  const isHere = before?.file !== file && before?.seq === seq - 1 && before.hash === prev;
  if (gone === undefined || isHere) return undefined;
  return `lines before it are missing: while their process ran, the file that held them was ${gone === "deleted" ? "deleted" : "cut"}`;
}

function seenProblem(
  { from, to, sha256 }: LogRange,
  offset: number,
  { fd }: CheckedFile,
): string | undefined {
  if (to > offset) return `it came after byte ${to} of this file, and is at byte ${offset}`;
  return hashOfRange(fd, from, to) === sha256
    ? undefined
    : `bytes ${from} to ${to} of this file were changed`;
}

class Findings {
  readonly #first: string[] = [];
  #more = 0;

  add(text: string): void {
    if (this.#first.length < most) this.#first.push(text);
    else this.#more++;
  }

  list(): string[] {
    return this.#more === 0 ? this.#first : [...this.#first, `and ${this.#more} more`];
  }
}

interface AuditLine {
  readonly bytes: Buffer;
  readonly offset: number;
  /** Whether it has an end. */
  readonly complete: boolean;
}

/** The lines of a file, however large that is. */
function* linesOf(fd: number): Generator<AuditLine> {
  let held = Buffer.alloc(0);
  let offset = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(Math.max(pieceBytes, Math.min(held.length, longestLine)));
    const read = readSync(fd, piece, 0, piece.length, offset + held.length);
    if (read === 0) break;
    const searched = held.length;
    const bytes = searched === 0 ? piece.subarray(0, read) : Buffer.concat([held, piece.subarray(0, read)]);
    let start = 0;
    for (let end = bytes.indexOf(newline, searched); end >= 0; end = bytes.indexOf(newline, start)) {
      yield { bytes: bytes.subarray(start, end), offset: offset + start, complete: true };
      start = end + 1;
    }
    offset += start;
    held = Buffer.from(bytes.subarray(start));
    if (held.length > longestLine) break;
  }
  if (held.length > 0) yield { bytes: held, offset, complete: false };
}

interface AuditEntry {
  readonly chain: string;
  readonly seq: number;
  readonly prev: string;
  readonly event?: unknown;
  readonly seen?: LogRange;
  readonly follows?: LogRange;
  readonly gone?: unknown;
}

function parsed(line: Buffer): AuditEntry | undefined {
  try {
    const value = JSON.parse(line.toString()) as Partial<AuditEntry> | null;
    const { chain, seq, prev, seen, follows } = value ?? {};
    const whole = typeof chain === "string" && Number.isSafeInteger(seq) && typeof prev === "string";
    return whole && [seen, follows].every(isRange) ? (value as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}

function isRange(value: unknown): boolean {
  if (value === undefined) return true;
  const { from, to, sha256 } = (value ?? {}) as Partial<Record<keyof LogRange, unknown>>;
  const isPlace = (at: unknown): at is number => Number.isSafeInteger(at) && Number(at) >= 0;
  return isPlace(from) && isPlace(to) && from <= to && typeof sha256 === "string";
}

function isThere(name: string): boolean {
  try {
    closeSync(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    // A log whose name is as long as names can be has no rotated files.
    if (isAbsence(error) || errnoOf(error) === "ENAMETOOLONG") return false;
    throw faultOf(error, name);
  }
}
