// Where lines begin in large files, roughly: so many line ends stand before this offset. It is a by-product of
// looking for a line, and makes the next look into the same file cost a megabyte instead of all that lies before.
//
// Marks hold for one state of one file, by its identity, size and times as the system keeps them to the nanosecond.
// The clock that stamps files ticks slower than that: two writes within a tick look alike. So no marks are kept of a
// file that was changed just before it was read; by the next tick a change shows. (What a program writes through a
// memory map shows when the system stamps the file, which may be later; readers of such files know.)
import type { OpenFile } from "./file.ts";

interface LineMark {
  readonly offset: number;
  /** The number of the line that the byte at `offset` belongs to. */
  readonly line: number;
}

const worthwhileBytes = 4 * 1024 * 1024;
const betweenMarks = 1024 * 1024;
const maxMarks = 16_384;
const maxFiles = 32;
const settledMs = 2500; // some file systems count in steps of two seconds

/** By identity and state of the file; those used last are at the end. */
const known = new Map<string, readonly LineMark[]>();

/** What is known about a file, and what is learnt while it is read once more. */
export class LineMarks {
  readonly #file: OpenFile;
  readonly #state: string | undefined;
  readonly #marks: LineMark[];
  #grown = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#state = file.size < worthwhileBytes ? undefined : stateOf(file);
    this.#marks = this.#state === undefined ? [] : [...(known.get(this.#state) ?? [])];
  }

  /** The last mark in front of the line, so that at least one line end lies between; undefined where there is none. */
  before(line: number): LineMark | undefined {
    let low = 0;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle]?.line ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return this.#marks[low - 1];
  }

  /** Takes note of a place that reading has come to. */
  note(offset: number, line: number): void {
    // From the very end nothing would tell whether the last line was begun.
    if (this.#state === undefined || this.#marks.length >= maxMarks || offset >= this.#file.size) return;
    if (offset < (this.#marks.at(-1)?.offset ?? 0) + betweenMarks) return;
    this.#marks.push({ offset, line });
    this.#grown = true;
  }

  /** Keeps what was learnt, if the file is still as it was before it was read. */
  keep(): void {
    if (this.#state === undefined || this.#marks.length === 0) return;
    if (this.#grown && stateOf(this.#file) !== this.#state) return;
    known.delete(this.#state);
    known.set(this.#state, this.#marks);
    for (const oldest of known.keys()) {
      if (known.size <= maxFiles) break;
      known.delete(oldest);
    }
  }
}

/** Undefined where the next change might not show. */
function stateOf(file: OpenFile): string | undefined {
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = file.statBig();
  const sinceChange = Date.now() - Number(ctimeMs);
  return sinceChange > settledMs ? `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` : undefined;
}
