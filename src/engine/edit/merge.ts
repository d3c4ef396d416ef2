// Three-way merge by lines: what one side changed since the common base is carried over into the other. Of an edit,
// its own hunks are placed; of a whole new text, what changed is found out as git finds it (diff3). Changes that
// touch or adjoin each other are refused unless they are the same; everything else is placed exactly.
import { traced } from "../span.ts";
import type { LineChange } from "../text/line-diff.ts";
import { unpacked } from "../text/packed-changes.ts";
import type { Splice } from "../text/splice.ts";
import { rewriteRaw, type Text, withMarkApart, withMarkInText } from "../text/text.ts";
import { turnAfter } from "../turn.ts";
import type { TextEdits } from "./line-hunks.ts";
import { textJob } from "./thread/thread.ts";
import type { Overlap } from "./weave.ts";

/** One side of a merge: the new text, and the edits that made it where they are known. */
export interface MergeSide {
  readonly text: Text;
  readonly edits?: TextEdits;
}

export type Merged =
  | {
      readonly text: Text /** What `theirs` changed in the base. */;
      readonly incoming: readonly LineChange[];
    }
  | {
      readonly overlaps: readonly Overlap[];
      /** Splices of the raw text of `theirs`: what ours changed elsewhere, as far as its place is certain. */
      readonly rest: readonly Splice[];
    };

/**
 * Merges the changes from `base` to `ours` into `theirs`, the current file: its encoding, mark, endings and every
 * byte that `ours` did not change stay. Throws `unencodable`.
 */
export function merge(base: Text, ours: MergeSide, theirs: Text): Promise<Merged> {
  return traced("merge", async span => {
    const merged = await mergeTexts(base, ours, theirs);
    span?.set("merge", "overlaps" in merged ? "conflict" : "clean");
    return merged;
  });
}

async function mergeTexts(base: Text, side: MergeSide, theirs: Text, marked = false): Promise<Merged> {
  const { text: ours, edits } = side;
  const marks = [base, ours, theirs].map(({ mark }) => mark);
  if (marks.some(mark => mark !== marks[0])) return mergeWithMarks(base, side, theirs);
  const characters = base.raw.length + theirs.raw.length + ours.raw.length;
  await turnAfter(characters);
  const { splices, newLines = "neighbour", byLines = [] } = edits ?? {};
  const how = edits && { newLines, byLines, marked };
  const result = await textJob("weave", characters, base.raw, theirs.raw, ours.raw, how, splices);
  if ("overlaps" in result) return result;
  const text = rewriteRaw(theirs, result.splices);
  await turnAfter(characters);
  return { text, incoming: unpacked(result.incoming) };
}

/** A byte-order mark that one side added or removed is a change of the first line. */
async function mergeWithMarks(base: Text, { text, edits }: MergeSide, theirs: Text): Promise<Merged> {
  const ours = { text: withMarkInText(text), ...(edits && { edits }) };
  const result = await mergeTexts(withMarkInText(base), ours, withMarkInText(theirs), base.mark);
  return "text" in result ? { ...result, text: withMarkApart(result.text) } : { ...result, rest: [] };
}
