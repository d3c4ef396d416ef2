// Offsets of some lines in large files: the number of line ends before an offset. A by-product of seeking a line; the
// next seek in the same file then reads a megabyte instead of everything before the line.
//
// Marks hold for one state of one file (file-state.ts).
import type { OpenFile } from "./file.ts";
import { stateOf } from "./file-state.ts";

interface LineMark {
  readonly offset: number;
  /** The number of the line that the byte at `offset` belongs to. */
  readonly line: number;
}

const worthwhileBytes = 4 * 1024 * 1024;
const betweenMarks = 1024 * 1024;
const maxMarks = 16_384;
const maxFiles = 32;

interface KnownMarks {
  /** In order, a megabyte apart. */
  readonly marks: readonly LineMark[];
  /** Right before the line that was asked for last: most ask for it again, or for what follows. */
  readonly latest: LineMark | undefined;
}

/** The marks of the files that an engine read last. */
class MarkedFiles {
  /** By identity and state of the file; those used last are at the end. */
  readonly #files = new Map<string, KnownMarks>();

  get(state: string): KnownMarks | undefined {
    return this.#files.get(state);
  }

  set(state: string, marks: KnownMarks): void {
    this.#files.delete(state);
    this.#files.set(state, marks);
    const [oldest] = this.#files.keys();
    if (this.#files.size > maxFiles && oldest !== undefined) this.#files.delete(oldest);
  }
}

/** The known marks of a file, and those learnt while it is read again. */
export class LineMarks {
  readonly #file: OpenFile;
  readonly #state: string | undefined;
  readonly #marks: LineMark[];
  #latest: LineMark | undefined;
  #grown = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#state = file.size < worthwhileBytes ? undefined : stateOf(file);
    const before = this.#state === undefined ? undefined : file.caches.of(MarkedFiles).get(this.#state);
    this.#marks = [...(before?.marks ?? [])];
    this.#latest = before?.latest;
  }

  /** The last mark before the line, with at least one line end in between; undefined if there is none. */
  before(line: number): LineMark | undefined {
    let low = 0;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle]?.line ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    const mark = this.#marks[low - 1];
    const latest = this.#latest;
    return latest !== undefined && latest.line < line && latest.line > (mark?.line ?? 0) ? latest : mark;
  }

  /** Notes where the line begins that was asked for. The byte before it belongs to the line before. */
  found(offset: number, line: number): void {
    if (offset - 1 === this.#latest?.offset) return;
    this.#latest = { offset: offset - 1, line: line - 1 };
    this.#grown = true;
  }

  /** Notes an offset that reading has reached. */
  note(offset: number, line: number): void {
    // From the very end it would be unknown whether the last line was begun.
    if (this.#state === undefined || this.#marks.length >= maxMarks || offset >= this.#file.size) return;
    if (offset < (this.#marks.at(-1)?.offset ?? 0) + betweenMarks) return;
    this.#marks.push({ offset, line });
    this.#grown = true;
  }

  /** Keeps the new marks, if the file is unchanged. */
  keep(): void {
    if (this.#state === undefined || (this.#marks.length === 0 && this.#latest === undefined)) return;
    if (this.#grown && stateOf(this.#file) !== this.#state) return;
    this.#file.caches.of(MarkedFiles).set(this.#state, { marks: this.#marks, latest: this.#latest });
  }
}
