// Splits a stream of bytes into lines. A long line is kept in chunks and joined once; one over the limit is dropped
// as it arrives, so memory stays bounded.

const newline = 0x0a;

interface LinesListener {
  /** A line without its end. Blank ones are left out. */
  line(line: Buffer): void;
  /** A line went over the limit. Told once for each, at the moment it does. */
  tooLong(): void;
}

export class LineSplitter {
  readonly #limit: number;
  readonly #listener: LinesListener;
  #pieces: Buffer[] = [];
  #length = 0;
  #dropping = false;

  constructor(limit: number, listener: LinesListener) {
    this.#limit = limit;
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** End of the stream: the text after the last line end is a line too. */
  end(): void {
    this.#finish();
  }

  #keep(piece: Buffer): void {
    if (this.#dropping) return;
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#length <= this.#limit) return;
    this.#dropping = true;
    this.#pieces = [];
    this.#listener.tooLong();
  }

  #finish(): void {
    const [first = Buffer.alloc(0)] = this.#pieces;
    const whole = this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#length) : first;
    this.#pieces = [];
    this.#length = 0;
    this.#dropping = false;
    const line = trimmed(whole);
    if (line.length > 0) this.#listener.line(line);
  }
}

/** Without a byte-order mark in front and blanks (the CR of a CRLF) at the end. */
function trimmed(line: Buffer): Buffer {
  const marked = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
  let end = line.length;
  while (end > 0 && isBlank(line[end - 1])) end--;
  return marked || end < line.length ? line.subarray(marked ? 3 : 0, end) : line;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x0d || byte === 0x20 || byte === 0x09;
}
