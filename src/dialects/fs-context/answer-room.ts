// An answer is one JSON text that holds each content twice, as text and as structured content. What would make it
// longer than a string can be is refused as too large, instead of failing when it is sent.
import { Fault } from "../../engine/fault.ts";

const room = 2 ** 28 - 2 ** 21; // half of the longest string, less what stands around the contents
const piece = 2 ** 20;

export class AnswerRoom {
  #left = room;

  /** Takes room for the content of a file, or refuses it: `too_large`. */
  take(content: string, path: string): void {
    const length = content.length < piece / 16 ? content.length * 6 : encodedLength(content);
    if (length > this.#left) throw new Fault("too_large", { path, size: length, limit: this.#left });
    this.#left -= length;
  }
}

/** The length as JSON, without making it all at once. */
function encodedLength(content: string): number {
  let length = 0;
  for (let at = 0; at < content.length; at += piece)
    length += JSON.stringify(content.slice(at, at + piece)).length;
  return length;
}
