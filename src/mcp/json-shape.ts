// Counts the nesting depth and the values of a JSON text as it arrives: parsing a few megabytes of `[{},{},...]`
// takes seconds and gigabytes, so a text with too much structure is refused before it is parsed.

const maxDepth = 1000;
/** No call has nearly as many: a long text is one value. */
const maxValues = 250_000;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a string begins and ends: the offsets of its quotes. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export class JsonShape {
  /** The strings of more bytes than `longText`. */
  readonly longTexts: TextSpan[] = [];
  readonly #longText: number;
  #taken = 0;
  #textStart = 0;
  #depth = 0;
  #values = 1;
  #inText = false;
  /** Whether the input so far ends in a backslash that escapes the next byte. */
  #escaped = false;

  constructor(longText = Number.POSITIVE_INFINITY) {
    this.#longText = longText;
  }

  /** Takes the next bytes. Returns what is wrong with the text so far. */
  take(bytes: Buffer): string | undefined {
    const { length } = bytes;
    let [depth, values, inText] = [this.#depth, this.#values, this.#inText];
    for (let at = 0; at < length; at++) {
      if (inText) {
        const end = this.#endOfText(bytes, at);
        if (end < 0) break;
        inText = false;
        at = end;
        const span = { start: this.#textStart, end: this.#taken + end };
        if (span.end - span.start > this.#longText) this.longTexts.push(span);
        continue;
      }
      const byte = bytes[at];
      if (byte === quote) {
        inText = true;
        this.#textStart = this.#taken + at;
        this.#escaped = false;
      } else if (byte === comma) values++;
      else if (byte === openList || byte === openObject) {
        values++;
        if (++depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
      } else if (byte === closeList || byte === closeObject) depth--;
    }
    [this.#depth, this.#values, this.#inText] = [depth, values, inText];
    this.#taken += length;
    return values > maxValues ? `made of more than ${maxValues} values` : undefined;
  }

  /** The index of the quote that ends a string, or -1. Most of a large message is one long string. */
  #endOfText(bytes: Buffer, from: number): number {
    for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 1))
      if (!this.#isEscaped(bytes, from, at)) return at;
    this.#escaped = this.#isEscaped(bytes, from, bytes.length);
    return -1;
  }

  /** Whether an odd number of backslashes leads to a place. Those of an earlier piece count too. */
  #isEscaped(bytes: Buffer, from: number, at: number): boolean {
    let first = at;
    while (first > from && bytes[first - 1] === backslash) first--;
    const isOdd = (at - first) % 2 === 1;
    return first === from && from === 0 && this.#escaped ? !isOdd : isOdd;
  }
}
