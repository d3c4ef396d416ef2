// Edits by line number: replace lines, insert lines, and replace lines that must match. Numbers are always those of
// the original file.
import { Fault } from "../fault.ts";
import { likeBody } from "../text/endings.ts";
import { countLines, type LineCounting, type LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import type { Text } from "../text/text.ts";
import type { AnchoredEdit, InsertEdit, LineRange, LinesEdit } from "./edits.ts";
import { placesFrom } from "./near.ts";

export interface LineContext {
  readonly text: Text;
  readonly index: LineIndex;
  readonly counting: LineCounting;
  readonly edit: number;
}

export function replaceLines(edit: LinesEdit, context: LineContext): Splice {
  const { index, text, counting } = context;
  const lines = index.count(counting);
  if (edit.from < 1 || edit.to < edit.from) refuseLine(edit.from, context);
  if (edit.to > lines) refuseLine(Math.max(edit.from, lines + 1), context);
  const start = index.start(edit.from);
  const end = index.end(edit.to);
  if (edit.new === "") return withoutLines(text.body, start, end);
  return { start, end, text: block(likeBody(text, edit.new), counting) };
}

export function insertLines(edit: InsertEdit, context: LineContext): Splice {
  const { index, text, counting } = context;
  const lines = index.count(counting);
  const after = edit.after === -1 ? lines : edit.after;
  if (after < 0 || after > lines) refuseLine(edit.after, context);
  const added = block(likeBody(text, edit.new), counting);
  const at = after === 0 ? 0 : index.end(after);
  if (after === 0)
    return {
      start: 0,
      end: 0,
      text: `${added}\n`,
    };
  // After a last line without a break the break comes first, and the file still ends without one.
  const breakFollows = text.body[at] === "\n";
  return breakFollows
    ? { start: at + 1, end: at + 1, text: `${added}\n` }
    : { start: at, end: at, text: `\n${added}` };
}

/** The lines that an edit replaces; none for an insertion. */
export function linesOf(
  edit: LinesEdit | InsertEdit | AnchoredEdit,
  { text, counting }: LineContext,
): LineRange | undefined {
  if (edit.kind === "insert") return undefined;
  if (edit.kind === "lines") return edit;
  return { from: edit.line, to: edit.line + countLines(oldBlock(edit, text, counting), "split") - 1 };
}

export function replaceAnchored(edit: AnchoredEdit, context: LineContext): Splice {
  const { index, text, counting } = context;
  const old = oldBlock(edit, text, counting).split("\n");
  if (edit.line < 1 || edit.line > index.count(counting)) refuseLine(edit.line, context);
  const start = index.start(edit.line);
  const last = edit.line + old.length - 1;
  const end = index.end(last);
  const place = last > index.count(counting) ? [] : text.body.slice(start, end).split("\n");
  const seen = (line: string | undefined) => (edit.compare === "trimmed" ? line?.trim() : line);
  if (!old.every((line, i) => seen(line) === seen(place[i]))) {
    const current = placesFrom(text.body, index, edit.line, old.length);
    // Where lines are split, the empty piece after a final break is one, too.
    const lines = index.count(counting);
    if (last >= lines && lines > index.count("terminated")) current.push({ line: lines, text: "" });
    const trimmedSame = old.every((line, i) => line.trim() === place[i]?.trim());
    const near = { line: edit.line, difference: trimmedSame ? "whitespace" : "text", current } as const;
    throw new Fault("no_match", { path: text.path, old: edit.old, edit: context.edit, near });
  }
  if (edit.new === "") return withoutLines(text.body, start, end);
  return { start, end, text: block(likeBody(text, edit.new), counting) };
}

function oldBlock(edit: AnchoredEdit, text: Text, counting: LineCounting): string {
  return block(likeBody(text, edit.old), counting);
}

/** Lines as given; where lines are terminated, the last one's break may be left out or not. */
function block(text: string, counting: LineCounting): string {
  return counting === "terminated" && text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Removes lines with their break; the last line of a file without a final break takes the one before it along. */
function withoutLines(body: string, start: number, end: number): Splice {
  if (body[end] === "\n") return { start, end: end + 1, text: "" };
  return { start: Math.max(0, start - 1), end, text: "" };
}

function refuseLine(line: number, { text, index, counting }: LineContext): never {
  throw new Fault("past_end", { path: text.path, line, lines: index.count(counting) });
}
