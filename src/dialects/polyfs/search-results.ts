// What a search found, as answers show it: lines under the head line of their file, or files, or counts.
import type { CallContext } from "../../contract/context.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { remember } from "../../engine/history/versions.ts";
import type { FileHits, FoundLine, GrepReport } from "../../engine/search/grep-terms.ts";
import { languageOf } from "../../engine/syntax/language.ts";
import { structureOf } from "../../engine/syntax/structure.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { decode } from "../../engine/text/text.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted, number, shownLine } from "./answer.ts";
import { ParseBudget, symbolAround } from "./search-code.ts";
import { Page, type PageOptions } from "./search-page.ts";

export interface Results {
  /** Takes a file's hits; false where nothing more is needed. */
  add(path: WorkspacePath, hits: FileHits): Promise<boolean>;
  print(report: GrepReport): string;
}

/** Files, or how many lines match in each: then all are gone through, so that the sum is that of all. */
export class FileResults implements Results {
  readonly #page: Page;
  readonly #output: "files" | "count";
  readonly #counts: { readonly given: string; readonly count: number }[] = [];

  constructor(options: PageOptions, output: "files" | "count") {
    this.#page = new Page(options);
    this.#output = output;
  }

  async add({ given }: WorkspacePath, { count = 0 }: FileHits): Promise<boolean> {
    if (this.#output === "count") {
      this.#counts.push({ given, count });
      return true;
    }
    if (this.#page.takes()) this.#page.print(given, 1);
    return !this.#page.full;
  }

  print(report: GrepReport): string {
    if (this.#output === "files") return this.#page.end(counted(this.#page.shown, "file"), report);
    const matches = this.#counts.reduce((sum, { count }) => sum + count, 0);
    const all = `${counted(matches, "match", "matches")} in ${counted(this.#counts.length, "file")}`;
    if (matches > 0) this.#page.print(all, 0);
    for (const { given, count } of this.#counts.sort((a, b) => b.count - a.count)) {
      if (this.#page.takes()) this.#page.print(`${given}: ${number(count)}`, 1);
    }
    return this.#page.end(counted(this.#page.shown, "file"), report);
  }
}

/** Matching lines with their context. */
export class LineResults implements Results {
  readonly #page: Page;
  readonly #context: number;
  readonly #call: CallContext;
  readonly #budget = new ParseBudget();
  #files = 0;

  constructor(options: PageOptions, context: number, call: CallContext) {
    this.#page = new Page(options);
    this.#context = context;
    this.#call = call;
  }

  async add(path: WorkspacePath, found: FileHits): Promise<boolean> {
    const hits = found.lines.filter(line => isHit(line) && this.#page.takes());
    if (hits.length > 0) await this.#print(path, found, hits);
    return !this.#page.full;
  }

  async #print(path: WorkspacePath, { lines, whole }: FileHits, hits: readonly FoundLine[]): Promise<void> {
    const { version, textOf, around } = await this.#inspect(path, whole);
    const head = version === undefined ? path.given : `${path.given} · ${version}`;
    let before = this.#files > 0 ? `\n${head}\n` : `${head}\n`;
    let left = hits.length;
    let last: number | undefined;
    for (const line of this.#near(lines, hits)) {
      const isApart = this.#context > 0 && last !== undefined && line.number > last + 1;
      const body = shownLine(textOf(line), line.cut ? "some" : 0);
      const symbol = isHit(line) ? around(line.number) : "";
      const mark = isHit(line) ? ":" : "-";
      const printed = `${before}${isApart ? "--\n" : ""}${line.number}${mark} ${body}${symbol}`;
      if (!this.#page.print(printed, left)) break;
      if (last === undefined) this.#files++;
      if (isHit(line)) left--;
      before = "";
      last = line.number;
    }
  }

  /** The hits with the context that is theirs: not the hits that are left for another page, and what is theirs. */
  #near(lines: readonly FoundLine[], hits: readonly FoundLine[]): FoundLine[] {
    const taken = new Set(hits);
    const numbers = hits.map(hit => hit.number);
    const isNear = ({ number: at }: FoundLine) => numbers.some(n => Math.abs(n - at) <= this.#context);
    return lines.filter(line => (isHit(line) ? taken.has(line) : isNear(line)));
  }

  /** The file's version; and its lines, where the search, which knows only Unicode, could not read them. */
  async #inspect(
    path: WorkspacePath,
    whole: Buffer | undefined,
  ): Promise<{ version?: string; textOf(line: FoundLine): string; around(line: number): string }> {
    const { workspace } = this.#call;
    try {
      const bytes = whole ?? (await this.#bytesOf(path));
      const version = remember(workspace, path.absolute, bytes);
      const { body, codec } = await decode(path.given, bytes, { legacy: true });
      const around = await this.#symbols(path, body);
      if (codec.name === "utf-8") return { version, textOf: ({ text }) => text, around };
      const index = new LineIndex(body);
      return {
        version,
        around,
        textOf: ({ number: at, text }) =>
          text.includes("\ufffd") ? body.slice(index.start(at), index.end(at)) : text,
      };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { textOf: ({ text }) => text, around: () => "" };
    }
  }

  /** ` ‹ Class.method 8-40` for a line in code; the lines only where they were not told for the last one. */
  async #symbols({ given }: WorkspacePath, body: string): Promise<(line: number) => string> {
    if (languageOf(given, body) === undefined || !this.#budget.takes(body.length)) return () => "";
    const structure = await structureOf(given, body);
    if (!structure.known) return () => "";
    let last: string | undefined;
    return line => {
      const symbol = symbolAround(structure, line);
      if (symbol === undefined) return "";
      const { name, top, to } = symbol;
      const isTold = name === last;
      last = name;
      return ` ‹ ${printable(name)}${isTold ? "" : ` ${top}-${to}`}`;
    };
  }

  async #bytesOf(path: WorkspacePath): Promise<Buffer> {
    const { workspace, settings } = this.#call;
    using file = workspace.file(path);
    return await file.bytes(settings.maxFileBytes);
  }

  print(report: GrepReport): string {
    const found = counted(this.#page.shown, "match", "matches");
    return this.#page.end(`${found} in ${counted(this.#files, "file")}`, report);
  }
}

function isHit({ column }: FoundLine): boolean {
  return column !== undefined;
}
