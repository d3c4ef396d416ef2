// What ripgrep prints, as records: `path NUL line [: column] : text LF` for a match, `path NUL line - text LF`
// for context. The NUL keeps hostile names apart from the text; a line is kept up to a limit and the rest of it
// dropped as it streams by, so that a file that is one line of 300 MB costs no memory.

export interface GrepLine {
  /** Counts from 1. */
  readonly number: number;
  /** Byte offset of the first match, from 0; undefined on lines of context. */
  readonly column: number | undefined;
  /** Without its line ending. */
  readonly bytes: Buffer;
  /** Whether the line goes on behind `bytes`. */
  readonly cut: boolean;
}

export interface FileBlock {
  readonly path: Buffer;
  readonly lines: GrepLine[];
  /** How many lines match, held or not. */
  count: number;
  /** Whether there were more lines than are held of one file. */
  cut: boolean;
}

const maxHeader = 64;
const maxBlockLines = 200_000;
const maxBlockBytes = 32 * 1024 * 1024;

/** Parses a stream; each file's lines come together. `end` gives what stood behind the last record. */
export class HitParser {
  readonly #limit: number;
  readonly #done: (block: FileBlock) => void;
  readonly #sample: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #inLine = false;
  #path: Buffer = Buffer.alloc(0);
  #block: FileBlock | undefined;
  #blockBytes = 0;

  /** With `sample`, only so many lines of a file are held and the others counted. */
  constructor(maxLineBytes: number, done: (block: FileBlock) => void, sample = Number.POSITIVE_INFINITY) {
    this.#limit = maxLineBytes + maxHeader;
    this.#done = done;
    this.#sample = sample;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(this.#inLine ? 10 : 0, at);
      const piece = chunk.subarray(at, end < 0 ? chunk.length : end);
      if (end < 0) {
        this.#keep(Buffer.from(piece));
        return;
      }
      at = end + 1;
      const whole = this.#take(piece);
      if (this.#inLine) this.#line(whole);
      else this.#path = whole;
      this.#inLine = !this.#inLine;
    }
  }

  end(): string {
    this.#flush();
    return this.#inLine ? "" : this.#take(Buffer.alloc(0)).toString("latin1");
  }

  #keep(piece: Buffer): void {
    if (this.#inLine && this.#pendingBytes > this.#limit) return;
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
  }

  #take(last: Buffer): Buffer {
    if (this.#pending.length === 0) return last;
    const whole = Buffer.concat([...this.#pending, last]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole;
  }

  #line(record: Buffer): void {
    let at = 0;
    const number = (): number => {
      let value = 0;
      for (; isDigit(record[at]); at++) value = value * 10 + ((record[at] as number) - 48);
      return value;
    };
    const line = number();
    const isMatch = record[at++] === 58;
    let column: number | undefined;
    if (isMatch) {
      const written = at;
      column = number() - 1;
      if (column >= 0 && record[at] === 58) at++;
      else {
        // Ripgrep leaves the column out where it finds the match in the file, but not again in the line by itself.
        column = 0;
        at = written;
      }
    }
    const block = this.#current();
    if (isMatch) block.count++;
    if (block.lines.length >= this.#sample) return;
    const whole = record.at(-1) === 13 ? record.subarray(at, -1) : record.subarray(at);
    const bytes = Buffer.from(whole.subarray(0, this.#limit - maxHeader));
    block.cut ||= block.lines.length >= maxBlockLines || this.#blockBytes > maxBlockBytes;
    if (block.cut) return;
    this.#blockBytes += bytes.length;
    block.lines.push({ number: line, column, bytes, cut: bytes.length < whole.length });
  }

  /** The block of the file whose lines are being read. */
  #current(): FileBlock {
    if (this.#block?.path.equals(this.#path)) return this.#block;
    this.#flush();
    this.#block = { path: Buffer.from(this.#path), lines: [], count: 0, cut: false };
    this.#blockBytes = 0;
    return this.#block;
  }

  #flush(): void {
    if (this.#block !== undefined) this.#done(this.#block);
    this.#block = undefined;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}
