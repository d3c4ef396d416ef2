// Cuts a stream of bytes into lines. A long line is kept as the pieces that it came in and joined once; one that
// is over the limit is dropped as it comes, so memory stays bounded whatever is sent.

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LinesListener {
  /** A line without its end. Blank ones are left out. */
  line(line: Buffer): void;
  /** A line went over the limit. Told once for each, at the moment it does. */
  tooLong(): void;
}

export class Lines {
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

  /** The stream has ended: what stands after the last line end is a line too. */
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
  let end = line.length;
  while (end > 0 && (line[end - 1] === 0x0d || line[end - 1] === 0x20 || line[end - 1] === 0x09)) end--;
  const marked = line.length >= 3 && line.compare(byteOrderMark, 0, 3, 0, 3) === 0;
  return line.subarray(marked ? 3 : 0, end);
}
