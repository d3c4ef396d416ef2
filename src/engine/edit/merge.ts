// Three-way merge by lines: what one side changed since the common base is carried over into the other. Of an edit,
// its own hunks are placed; of a whole new text, what changed is found out as git finds it (diff3). Changes that
// touch or adjoin each other are refused unless they are the same; everything else is placed exactly.
import { traced } from "../span.ts";
import type { LineChange } from "../text/line-diff.ts";
import { rewriteRaw, type Text, withMarkApart, withMarkInText } from "../text/text.ts";
import type { LineHunk } from "./line-hunks.ts";
import { textJob } from "./thread/thread.ts";
import type { Overlap, RawText } from "./weave.ts";

/** One side of a merge: the new text, and the hunks that made it where they are known. */
export interface MergeSide {
  readonly text: Text;
  readonly hunks?: readonly LineHunk[];
}

export type Merged =
  | {
      readonly text: Text /** What `theirs` changed in the base. */;
      readonly incoming: readonly LineChange[];
    }
  | { readonly overlaps: readonly Overlap[] };

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

async function mergeTexts(base: Text, ours: MergeSide, theirs: Text): Promise<Merged> {
  const marks = [base, ours.text, theirs].map(({ mark }) => mark);
  if (marks.some(mark => mark !== marks[0])) return mergeWithMarks(base, ours, theirs);
  const texts = { base: rawOf(base), theirs: rawOf(theirs), ours: rawOf(ours.text) };
  const characters = base.raw.length + theirs.raw.length + ours.text.raw.length;
  const result = await textJob("weave", characters, { ...texts, hunks: ours.hunks });
  if ("overlaps" in result) return result;
  return { text: rewriteRaw(theirs, result.splices), incoming: result.incoming };
}

function rawOf({ raw, breaks }: Text): RawText {
  return { raw, breaks: breaks === "cr" ? "cr" : "lf" };
}

/** A byte-order mark that one side added or removed is a change of the first line. */
async function mergeWithMarks(base: Text, { text, hunks }: MergeSide, theirs: Text): Promise<Merged> {
  const marked = hunks?.map(hunk => {
    const [first = "", ...rest] = hunk.lines;
    return base.mark && hunk.start === 0 && hunk.lines.length > 0
      ? { ...hunk, lines: [`\ufeff${first}`, ...rest] }
      : hunk;
  });
  const ours = { text: withMarkInText(text), ...(marked && { hunks: marked }) };
  const result = await mergeTexts(withMarkInText(base), ours, withMarkInText(theirs));
  return "text" in result ? { ...result, text: withMarkApart(result.text) } : result;
}
