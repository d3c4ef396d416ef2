// One literal replacement everywhere in a large file, done on its bytes. Splices would take a hundred bytes for each
// place, and hold up everything while they are made.
import { isUtf8 } from "node:buffer";
import { utf8 } from "../text/codec.ts";
import { decode, type Text } from "../text/text.ts";
import type { Edit } from "./edits.ts";
import type { EditSplice } from "./line-hunks.ts";
import { occurrences } from "./literal.ts";
import { textJob } from "./thread/thread.ts";

const large = 256 * 1024;
/** What a replacement may grow a file to. */
const largest = 128 * 1024 * 1024;

export interface Everywhere {
  readonly text: Text;
  readonly count: number;
  /** The places, one by one, for those who want to know. */
  readonly splices: () => readonly EditSplice[];
}

/** The new text and how many places were replaced; undefined where it takes more than comparing bytes. */
export async function replacedEverywhere(
  text: Text,
  edits: readonly Edit[],
): Promise<Everywhere | undefined> {
  const [edit, second] = edits;
  if (edit?.kind !== "replace" || second !== undefined || edit.times !== "all") return undefined;
  if (edit.ignoreCase || edit.within !== undefined || text.bytes.length < large) return undefined;
  const { bytes, codec, path } = text;
  if (codec !== utf8 || text.doubt !== undefined || !isUtf8(bytes)) return undefined;
  // Breaks may be written in another way in the file, and a mark at its start is no part of the text.
  const isPlain = (part: string) => part.isWellFormed() && !/[\r\n\ufeff]/.test(part);
  if (edit.old === "" || !isPlain(edit.old) || !isPlain(edit.new)) return undefined;
  const made = await textJob("replaceBytes", bytes.length, bytes, edit.old, edit.new, largest);
  if (made === undefined) return undefined;
  const result = Buffer.from(made.bytes.buffer, made.bytes.byteOffset, made.bytes.byteLength);
  const splices = () =>
    occurrences(text.body, edit.old, { most: made.count }).map(region => ({
      ...region,
      text: edit.new,
      edits: [0],
    }));
  return { text: await decode(path, result, { encoding: codec.name }), count: made.count, splices };
}
