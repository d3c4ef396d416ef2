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
    const { length } = bytes;
    let [depth, values, inText, escaped] = [this.#depth, this.#values, this.#inText, this.#escaped];
    for (let at = 0; at < length; at++) {
      // A text is most of any large message, so that it has a loop of its own.
      for (; inText && at < length; at++) {
        const byte = bytes[at];
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inText = false;
      }
      if (at === length) break;
      const byte = bytes[at];
      if (byte === quote) inText = true;
      else if (byte === comma) values++;
      else if (byte === openList || byte === openObject) {
        values++;
        if (++depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
      } else if (byte === closeList || byte === closeObject) depth--;
    }
    [this.#depth, this.#values, this.#inText, this.#escaped] = [depth, values, inText, escaped];
    return values > maxValues ? `made of more than ${maxValues} values` : undefined;
  }
}
