// Search results in an answer: lines below the head line of their file, or files, or counts.
import type { CallContext } from "../../contract/context.ts";
import { printable } from "../../contract/wording.ts";
import { isNotebook } from "../../engine/document/notebook.ts";
import { Fault } from "../../engine/fault.ts";
import { remember } from "../../engine/history/versions.ts";
import { once } from "../../engine/once.ts";
import type { FileHits, FoundLine, GrepReport } from "../../engine/search/grep-terms.ts";
import { sourceOf, type VersionedText } from "../../engine/syntax/known-structures.ts";
import { startsAsPdf } from "../../engine/text/detect.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { decode } from "../../engine/text/text.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted, isShownFromStart, isShownWhole, number, shownLine, shownMatch } from "./answer.ts";
import { type ShownHit, SymbolsAround } from "./search-code.ts";
import { SearchPage, type SearchPageOptions } from "./search-page.ts";

interface InspectedFile {
  readonly version?: string;
  readonly source?: VersionedText | undefined;
  /** What is searched is not what is read. */
  readonly isDocument?: boolean;
  /** What is shown of a line. */
  textOf(line: FoundLine): string;
}

export interface Results {
  /** Takes a file's hits; false if nothing more is needed. */
  add(path: WorkspacePath, hits: FileHits): Promise<boolean>;
  print(report: GrepReport): Promise<string>;
}

/** Files, or how many lines match in each: then all are gone through, so that the sum is that of all. */
export class FileResults implements Results {
  readonly #page: SearchPage;
  readonly #output: "files" | "count";
  readonly #counts: { readonly given: string; readonly count: number }[] = [];

  constructor(options: SearchPageOptions, output: "files" | "count") {
    this.#page = new SearchPage(options);
    this.#output = output;
  }

  async add({ given }: WorkspacePath, { count = 0 }: FileHits): Promise<boolean> {
    if (this.#output === "count") {
      this.#counts.push({ given, count });
      return true;
    }
    if (this.#page.takes()) this.#page.print(printable(given), 1);
    return !this.#page.full;
  }

  async print(report: GrepReport): Promise<string> {
    if (this.#output === "files") return this.#page.end(counted(this.#page.shown, "file"), report);
    const matches = this.#counts.reduce((sum, { count }) => sum + count, 0);
    const all = `${counted(matches, "match", "matches")} in ${counted(this.#counts.length, "file")}`;
    if (matches > 0) this.#page.print(all, 0);
    for (const { given, count } of this.#counts.sort((a, b) => b.count - a.count)) {
      if (this.#page.takes()) this.#page.print(`${printable(given)}: ${number(count)}`, 1);
    }
    return this.#page.end(counted(this.#page.shown, "file"), report);
  }
}

/** Matching lines with their context. */
export class LineResults implements Results {
  readonly #page: SearchPage;
  readonly #context: number;
  readonly #call: CallContext;
  readonly #symbols: SymbolsAround;
  #files = 0;
  /** Lines of context before the first hit for which there was no room. */
  #leftOut = 0;

  constructor(options: SearchPageOptions, context: number, call: CallContext) {
    this.#page = new SearchPage(options);
    this.#context = context;
    this.#call = call;
    this.#symbols = new SymbolsAround(call.workspace);
  }

  async add(path: WorkspacePath, found: FileHits): Promise<boolean> {
    const hits = found.lines.filter(line => isHit(line) && this.#page.takes());
    if (hits.length > 0) await this.#print(path, found, hits);
    return !this.#page.full;
  }

  async #print(path: WorkspacePath, { lines, whole }: FileHits, hits: readonly FoundLine[]): Promise<void> {
    const { version, source, isDocument, textOf } = await this.#inspect(path, whole);
    const name = printable(path.given);
    const named = version === undefined ? name : `${name} · ${version}`;
    const head = isNotebook(path.given)
      ? `${named} · lines of the JSON; read_file counts those of cells`
      : isDocument
        ? `${named} · lines of the file, not of the text that read_file shows of a PDF`
        : named;
    let before = this.#files > 0 ? `\n${head}\n` : `${head}\n`;
    let left = hits.length;
    let last: number | undefined;
    const shown: ShownHit[] = [];
    const near = this.#near(lines, hits);
    const first = this.#page.next === 0 ? this.#fitting(near, before, textOf) : 0;
    this.#leftOut += first;
    for (const line of near.slice(first)) {
      const isApart = this.#context > 0 && last !== undefined && line.number > last + 1;
      const printed = `${before}${isApart ? "--\n" : ""}${row(line, textOf)}`;
      const place = this.#page.next;
      if (place === 0 && isHit(line)) this.#page.printFirst(printed);
      else if (!this.#page.print(printed, left)) break;
      if (last === undefined) this.#files++;
      if (isHit(line)) shown.push({ line: line.number, place });
      if (isHit(line)) left--;
      before = "";
      last = line.number;
    }
    if (source !== undefined) this.#symbols.add(source, shown);
  }

  /** The index of the first line from which on the first hit of the page fits below `head`. */
  #fitting(near: readonly FoundLine[], head: string, textOf: InspectedFile["textOf"]): number {
    let room = this.#page.room - Buffer.byteLength(head);
    let first = near.findIndex(isHit);
    for (let i = first; i >= 0; i--) {
      const line = near[i];
      if (line !== undefined) room -= Buffer.byteLength(row(line, textOf)) + 1;
      if (room < 0) break;
      first = i;
    }
    return first;
  }

  /** The hits with their own context: without the hits left for another page, and their context. */
  #near(lines: readonly FoundLine[], hits: readonly FoundLine[]): FoundLine[] {
    const taken = new Set(hits);
    const numbers = hits.map(hit => hit.number);
    const isNear = ({ number: at }: FoundLine) => numbers.some(n => Math.abs(n - at) <= this.#context);
    return lines.filter(line => (isHit(line) ? taken.has(line) : isNear(line)));
  }

  /** The file's version; and its lines, where the search, which knows only Unicode, could not read them. */
  async #inspect(path: WorkspacePath, whole: Buffer | undefined): Promise<InspectedFile> {
    const { workspace } = this.#call;
    try {
      const bytes = whole ?? (await this.#bytesOf(path));
      const version = remember(workspace, path.absolute, bytes);
      const { body, codec } = await decode(path.given, bytes, { legacy: true });
      const isDocument = startsAsPdf(bytes);
      const source = sourceOf(path.given, version, body);
      const index = once(() => new LineIndex(body));
      const lineAt = (at: number) => body.slice(index().start(at), index().end(at));
      const isUtf8 = codec.name === "utf-8";
      const textOf = (row: FoundLine): string => {
        const { number: at, column, cut } = row;
        const text = !isUtf8 && row.text.includes("\ufffd") ? lineAt(at) : row.text;
        if (column === undefined || (!cut && isShownWhole(text.length))) return shownLine(text, cutMark(row));
        const line = lineAt(at);
        // A column counts bytes of the file, or of UTF-8 where the file had to be decoded.
        const ahead = (isUtf8 ? codec.encode(line) : Buffer.from(line)).subarray(0, column);
        const offset = (isUtf8 ? codec.decode(ahead) : ahead.toString()).length;
        return isShownFromStart(offset) ? shownLine(text, cutMark(row)) : shownMatch(line, offset);
      };
      return { version, source, isDocument, textOf };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { textOf: row => shownLine(row.text, cutMark(row)) };
    }
  }

  async #bytesOf(path: WorkspacePath): Promise<Buffer> {
    const { workspace, settings } = this.#call;
    using file = await workspace.openFile(path);
    return await file.bytes(settings.maxFileBytes);
  }

  async print(report: GrepReport): Promise<string> {
    await this.#symbols.print(this.#page);
    const found = counted(this.#page.shown, "match", "matches");
    const page = this.#page.end(`${found} in ${counted(this.#files, "file")}`, report);
    if (this.#leftOut === 0) return page;
    return `${page}\n[no room for ${counted(this.#leftOut, "line")} of context before the first match]`;
  }
}

function row(line: FoundLine, textOf: InspectedFile["textOf"]): string {
  return `${line.number}${isHit(line) ? ":" : "-"} ${textOf(line)}`;
}

function cutMark({ cut }: FoundLine): "some" | 0 {
  return cut ? "some" : 0;
}

function isHit({ column }: FoundLine): boolean {
  return column !== undefined;
}
