// An answer is one JSON text that holds each content twice, as text and as structured content. What would make it
// longer than a string can be is refused as too large, instead of failing when it is sent.
import { Fault } from "../../engine/fault.ts";

const room = 2 ** 28 - 2 ** 21; // half of the longest string, minus the text around the contents
const piece = 2 ** 20;

export class AnswerRoom {
  /** Content whose length as JSON is not known exactly counts with its maximum. */
  #bound = 0;
  #uncounted: string[] = [];
  #counted = 0;

  /** Takes room for the content of a file, or refuses it: `too_large`. */
  take(content: string, path: string): void {
    if (this.#counted + this.#bound + longest(content) <= room) {
      this.#bound += longest(content);
      this.#uncounted.push(content);
      return;
    }
    // Counting costs as much as sending, so it is done when it matters.
    for (const one of this.#uncounted) this.#counted += encodedLength(one);
    this.#uncounted = [];
    this.#bound = 0;
    const length = encodedLength(content);
    const left = room - this.#counted;
    if (length > left) throw new Fault("too_large", { path, size: length, limit: left });
    this.#counted += length;
  }
}

/** A control character becomes six. */
function longest(content: string): number {
  return content.length * 6;
}

/** The length as JSON, without making it all at once. */
function encodedLength(content: string): number {
  let length = 0;
  for (let at = 0; at < content.length; at += piece)
    length += JSON.stringify(content.slice(at, at + piece)).length;
  return length;
}
