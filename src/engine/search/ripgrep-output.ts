// Parses ripgrep's output: `path NUL line [: column] : text LF` for a match, `path NUL line - text LF` for context.
// The NUL separates hostile names from the text; a line is kept up to a limit and the rest dropped while streaming,
// so a file with one line of 300 MB costs no memory.

export interface GrepLine {
  /** Counts from 1. */
  readonly number: number;
  /** Byte offset of the first match, from 0; undefined on lines of context. */
  readonly column: number | undefined;
  /** Without its line ending. */
  readonly bytes: Buffer;
  /** Whether the line continues after `bytes`. */
  readonly cut: boolean;
}

export interface FileBlock {
  readonly path: Buffer;
  readonly lines: GrepLine[];
  /** Its first lines, each with a line feed, where they are to prove something and not to be given. */
  proof?: Buffer;
  /** How many lines match, held or not. */
  count: number;
  /** Whether there were more lines than are held of one file. */
  cut: boolean;
}

const maxHeader = 64;
const maxBlockLines = 200_000;
const maxBlockBytes = 32 * 1024 * 1024;
const lineFeed = Buffer.from("\n");

export interface ParserOptions {
  /** Lines are cut here. */
  readonly maxLineBytes: number;
  /** This many lines of a file are held as a proof, and the others only counted. */
  readonly sample?: number | undefined;
  /** The most matching lines of a file that are needed. A few more may be held, the others are only counted. */
  readonly most?: number | undefined;
  /** Whether matching lines come with a column. Without, it is 0. */
  readonly columns?: boolean | undefined;
}

/** Parses a stream; the lines of a file come together. `end` returns what follows the last record. */
export class HitParser {
  readonly #limit: number;
  readonly #done: (block: FileBlock) => void;
  readonly #sample: number | undefined;
  readonly #most: number;
  readonly #columns: boolean;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #inLine = false;
  #block: FileBlock | undefined;
  #blockBytes = 0;
  #proof: Buffer[] = [];

  constructor(options: ParserOptions, done: (block: FileBlock) => void) {
    const { maxLineBytes, sample, most = Number.POSITIVE_INFINITY, columns = false } = options;
    this.#limit = maxLineBytes + maxHeader;
    this.#done = done;
    this.#sample = sample;
    this.#most = most;
    this.#columns = columns;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(this.#inLine ? 10 : 0, at);
      if (end < 0) {
        this.#keep(Buffer.from(chunk.subarray(at)));
        return;
      }
      if (this.#pending.length === 0) this.#record(chunk, at, end);
      else {
        const whole = this.#take(chunk.subarray(at, end));
        this.#record(whole, 0, whole.length);
      }
      at = end + 1;
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
    const whole = Buffer.concat([...this.#pending, last]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole;
  }

  /** A tree can have millions of these, so only what is kept is allocated. */
  #record(bytes: Buffer, from: number, to: number): void {
    if (this.#inLine) this.#line(bytes, from, to);
    else this.#enter(bytes, from, to);
    this.#inLine = !this.#inLine;
  }

  /** The path of the file whose line comes next. */
  #enter(bytes: Buffer, from: number, to: number): void {
    const path = this.#block?.path;
    if (path !== undefined && bytes.compare(path, 0, path.length, from, to) === 0) return;
    this.#flush();
    this.#block = { path: Buffer.from(bytes.subarray(from, to)), lines: [], count: 0, cut: false };
    this.#blockBytes = 0;
  }

  #line(bytes: Buffer, from: number, to: number): void {
    const block = this.#block;
    if (block === undefined) return;
    let at = from;
    const number = (): number => {
      let value = 0;
      for (; at < to && isDigit(bytes[at]); at++) value = value * 10 + ((bytes[at] as number) - 48);
      return value;
    };
    const line = number();
    const isMatch = bytes[at++] === 58;
    let column: number | undefined;
    if (isMatch) {
      block.count++;
      const written = at;
      column = this.#columns ? number() - 1 : -1;
      if (column >= 0 && bytes[at] === 58) at++;
      else {
        // ripgrep omits the column if it finds the match in the file, but not again in the line alone.
        column = 0;
        at = written;
      }
    }
    if (block.count > this.#most + 1) return; // one more shows that there are more
    if (this.#sample !== undefined && this.#proof.length >= 2 * this.#sample) return;
    const whole = to > at && bytes[to - 1] === 13 ? to - 1 : to;
    const end = Math.min(whole, at + this.#limit - maxHeader);
    if (this.#sample !== undefined) {
      this.#proof.push(bytes.subarray(at, end), lineFeed);
      return;
    }
    block.cut ||= block.lines.length >= maxBlockLines || this.#blockBytes > maxBlockBytes;
    if (block.cut) return;
    this.#blockBytes += end - at;
    block.lines.push({ number: line, column, bytes: Buffer.from(bytes.subarray(at, end)), cut: end < whole });
  }

  #flush(): void {
    const block = this.#block;
    this.#block = undefined;
    if (this.#proof.length > 0 && block !== undefined) block.proof = Buffer.concat(this.#proof);
    this.#proof = [];
    // A search that was stopped may have printed a path and nothing about it.
    if (block !== undefined && block.count + block.lines.length > 0) this.#done(block);
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}
