// Applies a list of edits to a text: all or none, or each by itself. Text edits see either the result of the edits
// before them (`sequence`) or the original file (`original`); line numbers always mean the original. Edits of the
// original that touch the same characters are refused.
import { Fault } from "../fault.ts";
import type { FindOptions } from "../regex/find.ts";
import type { NewLines } from "../text/endings.ts";
import { loneSurrogate } from "../text/escape.ts";
import { type LineCounting, LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import { rewrite, type Text } from "../text/text.ts";
import type { Edit, LineRange, Tolerance } from "./edits.ts";
import { insertLines, linesOf, replaceAnchored, replaceLines } from "./line-edits.ts";
import type { EditSplice, TextEdits } from "./line-hunks.ts";
import { replacedEverywhere } from "./replace-everywhere.ts";
import { TakenLines } from "./taken-lines.ts";
import { TextBuffer } from "./text-buffer.ts";
import { replaceRegex, replaceText } from "./text-edits.ts";

export interface EditOptions extends Pick<FindOptions, "ms" | "signal"> {
  /** What text edits are looked up in: the result of the edits before, or the original. */
  readonly order: "sequence" | "original";
  /** How lines are counted; by terminators by default. */
  readonly counting?: LineCounting;
  /** Which ending added lines get; the neighbour's by default. */
  readonly newLines?: NewLines;
  /** Whether an edit that cannot be applied ends everything (the default), or is left out and reported. */
  readonly failing?: "throw" | "skip";
}

/** What became of one edit. */
export interface Applied {
  /** How many places were replaced. */
  readonly count: number;
  /** What had to be overlooked, if anything. */
  readonly tolerance?: Tolerance;
}

/** Lines before and after that an edit changed; `to` is `from - 1` if there are none. */
export interface ChangedLines {
  readonly before: LineRange;
  readonly after: LineRange;
}

export interface EditResult {
  /** The new text; the same value as before if nothing changed. */
  readonly text: Text;
  /** One per edit, in order; a Fault only with `failing: "skip"`. */
  readonly outcomes: readonly (Applied | Fault)[];
  /** How many places were replaced in all. */
  readonly count: number;
  readonly changed: readonly ChangedLines[];
  /** The same for a merge. */
  readonly edits: TextEdits;
}

export async function applyEdits(
  text: Text,
  edits: readonly Edit[],
  options: EditOptions,
): Promise<EditResult> {
  try {
    const everywhere = await replacedEverywhere(text, edits, options);
    if (everywhere === undefined) return await applyAsSplices(text, edits, options);
    const { count, splices } = everywhere;
    return withDetails(text, edits, { ...everywhere, outcomes: [{ count }] }, splices, options);
  } catch (error) {
    if (options.failing !== "skip" || !(error instanceof Fault)) throw error;
    return withDetails(text, edits, { text, outcomes: [error], count: 0 }, () => [], options);
  }
}

async function applyAsSplices(text: Text, edits: readonly Edit[], options: EditOptions): Promise<EditResult> {
  const original = new TextBuffer(text.body);
  const draft = new TextBuffer(text.body);
  const outcomes: (Applied | Fault)[] = [];
  const taken = new TakenLines();
  let index: LineIndex | undefined;
  for (const [number, edit] of edits.entries()) {
    try {
      refuseBrokenText(text, edit);
      if (edit.kind === "replace" || edit.kind === "regex") {
        const source = options.order === "sequence" ? draft : original;
        const context = {
          text,
          edit: number,
          get body() {
            return source.current;
          },
          find: (old: string, most: number) => source.find(old, most),
        };
        const found =
          edit.kind === "replace" ? replaceText(edit, context) : await replaceRegex(edit, context, options);
        if (options.order === "sequence") draft.change(found.splices, number);
        else changeOriginal(draft, found.splices, text, number);
        const { tolerance } = found;
        outcomes.push({ count: found.splices.length, ...(tolerance === undefined ? {} : { tolerance }) });
      } else {
        index ??= new LineIndex(text.body);
        const context = { text, index, counting: options.counting ?? "terminated", edit: number };
        const splice =
          edit.kind === "lines"
            ? replaceLines(edit, context)
            : edit.kind === "insert"
              ? insertLines(edit, context)
              : replaceAnchored(edit, context);
        const lines = linesOf(edit, context);
        const clash = lines && taken.clash(lines);
        if (clash !== undefined)
          throw new Fault("edits_overlap", {
            path: text.path,
            edits: [clash.edit, number],
            line: clash.line,
          });
        changeOriginal(draft, [splice], text, number);
        if (lines !== undefined) taken.take(lines, number);
        outcomes.push({ count: 1 });
      }
    } catch (error) {
      if (options.failing !== "skip" || !(error instanceof Fault)) throw error;
      outcomes.push(error);
    }
  }
  const splices = draft.splices();
  const result = rewrite(text, splices, options.newLines);
  const count = outcomes.reduce((sum, one) => sum + (one instanceof Fault ? 0 : one.count), 0);
  return withDetails(text, edits, { text: result, outcomes, count }, () => splices, options);
}

/** A result that can also report what was changed. Computed on demand, because it is expensive. */
function withDetails(
  before: Text,
  edits: readonly Edit[],
  { text, outcomes, count }: Pick<EditResult, "text" | "outcomes" | "count">,
  splices: () => readonly EditSplice[],
  { newLines = "neighbour" }: EditOptions,
): EditResult {
  const isByLines = ({ kind }: Edit) => kind !== "replace" && kind !== "regex";
  return {
    text,
    outcomes,
    count,
    get changed() {
      return changedLines(before.body, splices());
    },
    get edits() {
      const byLines = edits.flatMap((edit, i) => (isByLines(edit) ? [i] : []));
      return { splices: splices(), newLines, byLines };
    },
  };
}

function changeOriginal(draft: TextBuffer, splices: readonly Splice[], text: Text, edit: number): void {
  const clash = draft.changeOriginal(splices, edit);
  if (clash === undefined) return;
  const line = new LineIndex(text.body).lineAt(clash.at);
  throw new Fault("edits_overlap", { path: text.path, edits: [clash.edit, edit], line });
}

/** Lone surrogates represent bytes of the file here; in a caller's text they are invalid. */
function refuseBrokenText(text: Text, edit: Edit): void {
  const at = loneSurrogate(edit.new);
  if (at < 0) return;
  const line = edit.new.slice(0, at).split("\n").length;
  throw new Fault("unencodable", { path: text.path, encoding: text.codec.name, character: "\ufffd", line });
}

function changedLines(body: string, splices: readonly Splice[]): ChangedLines[] {
  if (splices.length === 0) return [];
  const index = new LineIndex(body);
  const changed: ChangedLines[] = [];
  let drift = 0;
  for (const { start, end, text } of splices) {
    const from = index.lineAt(start);
    // A region that ends with a break ends on the line of that break.
    const to = end > start && body[end - 1] === "\n" ? index.lineAt(end) - 1 : index.lineAt(end);
    const removed = body.slice(start, end).split("\n").length - 1;
    const added = text.split("\n").length - 1;
    const wholeLines = start === end && start === index.start(from) && text.endsWith("\n");
    const last = wholeLines ? from - 1 : to;
    changed.push({
      before: { from, to: last },
      after: { from: from + drift, to: last + drift + added - removed },
    });
    drift += added - removed;
  }
  return changed;
}
