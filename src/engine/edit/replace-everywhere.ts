// One replacement everywhere in a large file: a literal one on its bytes, one by an expression on its text. Splices
// would take a hundred bytes for each place, and hold up everything while they are made.
import { isUtf8 } from "node:buffer";
import { Fault } from "../fault.ts";
import { type FindOptions, findPacked, unpacked } from "../regex/find.ts";
import { expand, readReplacement } from "../regex/replacement.ts";
import { utf8 } from "../text/codec.ts";
import { decode, type Text } from "../text/text.ts";
import type { Edit, RegexEdit } from "./edits.ts";
import type { EditSplice } from "./line-hunks.ts";
import { occurrences } from "./literal.ts";
import { anyBreak } from "./text-edits.ts";
import { textJob } from "./thread/thread.ts";

const large = 256 * 1024;
/** The largest size that a replacement may produce. */
const largest = 128 * 1024 * 1024;

export interface Everywhere {
  readonly text: Text;
  readonly count: number;
  /** The places, one by one, for callers that report them. */
  readonly splices: () => readonly EditSplice[];
}

/** The new text and how many places were replaced; undefined if it takes more than comparing bytes. */
export async function replacedEverywhere(
  text: Text,
  edits: readonly Edit[],
  options: Pick<FindOptions, "ms" | "signal">,
): Promise<Everywhere | undefined> {
  const [edit, second] = edits;
  if (edit === undefined || second !== undefined || text.bytes.length < large) return undefined;
  if (edit.kind !== "replace" && edit.kind !== "regex") return undefined;
  if (edit.times !== "all" || edit.within !== undefined) return undefined;
  const { bytes, codec, path } = text;
  if (codec !== utf8 || text.doubt !== undefined || !isUtf8(bytes)) return undefined;
  if (edit.kind === "regex") return await matchesReplaced(text, edit, options);
  if (edit.ignoreCase) return undefined;
  // Breaks may be written in another way in the file, and a mark at its start is not part of the text.
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

const lineFeedOnly = (bytes: Buffer) => !bytes.includes("\r") && bytes[0] !== 0xef;

/** The same for an expression, if the text is the file as it is: no other breaks than line feeds, and no mark. */
async function matchesReplaced(
  text: Text,
  edit: RegexEdit,
  options: Pick<FindOptions, "ms" | "signal">,
): Promise<Everywhere | undefined> {
  const { body, path, codec, bytes } = text;
  if (!lineFeedOnly(bytes) || !edit.new.isWellFormed() || /[\r\ufeff]/.test(edit.new)) return undefined;
  const { ms, signal } = options;
  const found = await findPacked(anyBreak(edit.pattern), edit.flags, body, {
    ...(ms === undefined ? {} : { ms }),
    signal,
    byLine: edit.byLine ?? false,
  });
  const replacement = readReplacement(edit.new, edit.style, found, { path, edit: 0 });
  if (found.more || found.packed.length === 0) return undefined;
  const made = await textJob("replaceMatches", body.length, body, found, replacement, largest);
  if (made === undefined) return undefined;
  if ("size" in made) throw new Fault("too_large", { path, size: made.size, limit: largest });
  const result = Buffer.from(made.bytes.buffer, made.bytes.byteOffset, made.bytes.byteLength);
  const splices = () =>
    unpacked(found)
      .slice(0, made.count)
      .map(match => ({
        start: match.start,
        end: match.end,
        text: expand(replacement, body, match),
        edits: [0],
      }));
  const isSame = result.equals(bytes);
  const replaced = isSame ? text : await decode(path, result, { encoding: codec.name });
  return { text: replaced, count: made.count, splices };
}
