// How deep a JSON text is nested, and how many values it has, counted as it comes in: parsing a few megabytes of
// `[{},{},...]` takes seconds and gigabytes, so that what has too much structure is refused before it is parsed.

const maxDepth = 1000;
/** No call has nearly as many: a long text is one value. */
const maxValues = 250_000;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

export class JsonShape {
  #depth = 0;
  #values = 1;
  #inText = false;
  #escaped = false;

  /** Takes the next bytes. Returns what is wrong with the text so far. */
  take(bytes: Uint8Array): string | undefined {
    let inText = this.#inText;
    let escaped = this.#escaped;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === quote) inText = false;
        else if (byte === backslash) escaped = true;
      } else if (byte === quote) inText = true;
      else if (byte === comma) this.#values++;
      else if (byte === openList || byte === openObject) {
        this.#values++;
        if (++this.#depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
      } else if (byte === closeList || byte === closeObject) this.#depth--;
    }
    this.#inText = inText;
    this.#escaped = escaped;
    return this.#values > maxValues ? `made of more than ${maxValues} values` : undefined;
  }
}
