// Files that are read as a text which is not what their bytes are: PDFs by page, notebooks by cell.
import { printable } from "../../contract/wording.ts";
import { isNotebook } from "../../engine/document/notebook.ts";
import { pdfPages } from "../../engine/document/pdf.ts";
import type { TextEdits } from "../../engine/edit/line-hunks.ts";
import { textJob } from "../../engine/edit/thread/thread.ts";
import { Fault } from "../../engine/fault.ts";
import { utf8 } from "../../engine/text/codec.ts";
import { isPdf, startsAsPdf } from "../../engine/text/detect.ts";
import { breaksOf } from "../../engine/text/endings.ts";
import { decode, rewrite, type Text } from "../../engine/text/text.ts";
import { counted } from "./answer.ts";
import { refused } from "./failure.ts";
import { textOf } from "./text-file.ts";

/** The text that a caller reads, and whether it represents another format. */
export async function readableText(
  path: string,
  bytes: Buffer,
  encoding?: string,
): Promise<{ text: Text; as?: string }> {
  if (encoding === undefined && isPdf(bytes)) {
    const pages = await pdfPages(bytes);
    if (pages !== undefined)
      return { text: await asText(path, pagesText(pages)), as: `PDF, ${counted(pages.length, "page")}` };
    if (startsAsPdf(bytes)) throw new Fault("binary", { path });
    // A text that only mentions the mark, as the source of a reader does.
  }
  const text = await textOf(path, bytes, encoding);
  const view = isNotebook(path) ? await textJob("notebookText", text.body.length, text.body) : undefined;
  if (view === undefined) return { text };
  return { text: await asText(path, view.body), as: `notebook, ${counted(view.cells, "cell")}` };
}

/** Refuses to edit a PDF: its lines are not those that were read. With `encoding`, it is read and edited as it is. */
export async function refusePdf(path: string, bytes: Buffer, encoding: string | undefined): Promise<void> {
  if (encoding !== undefined || !(await isReadAsPdf(bytes))) return;
  throw refused(
    `${printable(path)} is a PDF: its text can be read, but not edited`,
    "Make it again with the program that made it; write_file with encoding: base64 replaces it.",
  );
}

/** Whether the text that a caller reads is that of pages, and not a text that only mentions the mark of a PDF. */
export async function isReadAsPdf(bytes: Buffer): Promise<boolean> {
  return isPdf(bytes) && (startsAsPdf(bytes) || (await pdfPages(bytes)) !== undefined);
}

function pagesText(pages: readonly string[]): string {
  const parts = pages.map((page, i) => {
    const head = `[page ${i + 1} of ${pages.length}]`;
    const empty = "[no text: it may be scanned; encoding: base64 gives the file]";
    return `${head}\n${page.trim() === "" ? empty : page.trimEnd()}\n`;
  });
  return parts.join("");
}

function asText(path: string, body: string): Promise<Text> {
  return decode(path, Buffer.from(body));
}

/**
 * Two versions as the caller reads them, so that a diff has the line numbers of read_file. Where only the rest of a
 * notebook differs, its JSON.
 */
export async function asRead(before: Text, after: Text): Promise<[before: Text, after: Text]> {
  if (!isNotebook(before.path)) return [before, after];
  const [old, made] = [await cellsOf(before), await cellsOf(after)];
  return old === undefined || made === undefined || old.body === made.body ? [before, after] : [old, made];
}

/** The text of a notebook's cells; undefined if it is not a valid one. */
async function cellsOf(file: Text): Promise<Text | undefined> {
  const view = await textJob("notebookText", file.body.length, file.body);
  return view && asText(file.path, view.body);
}

/**
 * Applies edits to the text that a caller has read: for a notebook, that of its cells. An edit that matches only the
 * JSON is applied to the JSON.
 */
export async function editReadable<A extends { readonly text: Text; readonly edits: TextEdits }>(
  file: Text,
  apply: (text: Text) => Promise<A>,
): Promise<A | { readonly text: Text }> {
  const view = isNotebook(file.path) ? await textJob("notebookText", file.body.length, file.body) : undefined;
  if (view === undefined) return apply(file);
  let edited: A;
  try {
    edited = await apply(sourceText(file.path, view.body));
  } catch (error) {
    if (!Fault.is(error, "no_match")) throw error;
    try {
      return await apply(file);
    } catch (other) {
      throw Fault.is(other, "no_match") ? error : other;
    }
  }
  const { splices: own, ...how } = edited.edits;
  const splices = await textJob("notebookEdits", file.body.length, file.body, how, own);
  if (splices === undefined) throw refusedHeads(file);
  return { text: rewrite(file, splices) };
}

function refusedHeads({ path }: Text): Error {
  return refused(
    `${printable(path)}: only the text of cells can be edited, not their heads and outputs`,
    "Keep the lines [cell …] and [out] out of the edits; edits of the raw JSON take old + new.",
  );
}

/**
 * Replaces something in each cell of a notebook, or in the text of any other file. Heads, outputs and the rest of the
 * JSON stay. Undefined if there is nothing to replace.
 */
export async function replaceReadable(
  file: Text,
  replace: (text: Text) => Promise<ReplacedPlaces | undefined>,
): Promise<ReplacedPlaces | undefined> {
  const view = isNotebook(file.path) ? await textJob("notebookText", file.body.length, file.body) : undefined;
  if (view === undefined) return replace(file);
  let count = 0;
  const made: (string | undefined)[] = [];
  for (const [start, end] of view.sources) {
    const cell = await replace(sourceText(file.path, view.body.slice(start, end)));
    made.push(cell?.text.raw);
    count += cell?.count ?? 0;
  }
  if (count === 0) return undefined;
  const splices = await textJob("cellSplices", file.body.length, file.body, made);
  if (splices === undefined) throw refusedHeads(file);
  return { count, text: rewrite(file, splices) };
}

export interface ReplacedPlaces {
  readonly text: Text;
  readonly count: number;
}

/** Not the codec itself, so that nothing takes these bytes for those of a file. */
const sources = { ...utf8 };

/** Sources of cells to edit. They may have line breaks of any kind, and halves of surrogate pairs. */
function sourceText(path: string, raw: string): Text {
  return { path, bytes: sources.encode(raw), codec: sources, mark: false, raw, ...breaksOf(raw) };
}
