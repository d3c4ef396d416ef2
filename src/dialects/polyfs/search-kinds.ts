// Which matching lines are definitions or references of a name: by grammar, not by type.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import type { FileHits, FoundLine } from "../../engine/search/grep-terms.ts";
import { languageOf } from "../../engine/syntax/language.ts";
import { parse } from "../../engine/syntax/parse.ts";
import { structureOf } from "../../engine/syntax/structure.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { decode } from "../../engine/text/text.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import type { QueriedName } from "./queried-name.ts";
import { decoding } from "./text-file.ts";

interface NameQuery {
  readonly pattern: string;
  readonly ignoreCase?: boolean | undefined;
  /** Undefined where the pattern is a regex. */
  readonly name?: QueriedName | undefined;
}

export class KindFilter {
  readonly #kind: "definition" | "reference";
  readonly #query: NameQuery;
  readonly #call: CallContext;
  /** Lines that match and are something else, and files whose language is not known. */
  #left = 0;
  #found = 0;
  #unknown = 0;

  constructor(kind: "definition" | "reference", query: NameQuery, call: CallContext) {
    this.#kind = kind;
    this.#query = query;
    this.#call = call;
  }

  /** The hits of the requested kind; undefined if none is left. */
  async of(path: WorkspacePath, found: FileHits): Promise<FileHits | undefined> {
    const body = await this.#bodyOf(path, found.whole);
    if (body === undefined) return undefined;
    const all = found.lines.filter(({ column }) => column !== undefined);
    const { lines: kept, known } = await new NamedHits(path.given, body, this.#query).of(this.#kind, all);
    const hits = all.filter(({ number }) => kept.has(number));
    this.#left += all.length - hits.length;
    this.#found += hits.length;
    if (!known && hits.length > 0) this.#unknown++;
    if (hits.length === 0) return undefined;
    const lines = found.lines.filter(({ column, number }) => column === undefined || kept.has(number));
    return { ...found, lines, count: hits.length };
  }

  notes(): string[] {
    const isDefinition = this.#kind === "definition";
    const what = isDefinition ? "no definitions" : "in strings, comments or declarations";
    const other = counted(this.#left, "more line");
    const isNoName = this.#found === 0 && this.#query.name === undefined;
    return [
      ...(isNoName ? [`[kind takes a name: Client${isDefinition ? " or Client.connect" : ""}]`] : []),
      ...(this.#left > 0 ? [`[by name; ${other} with it left out: ${what}]`] : ["[by name]"]),
      ...(this.#unknown > 0
        ? [`[${counted(this.#unknown, "file")} without a grammar: matched as text]`]
        : []),
    ];
  }

  async #bodyOf(path: WorkspacePath, whole: Buffer | undefined): Promise<string | undefined> {
    try {
      const bytes = whole ?? (await this.#bytesOf(path));
      return isNoText(bytes) ? undefined : (await decode(path.given, bytes, decoding)).body;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  async #bytesOf(path: WorkspacePath): Promise<Buffer> {
    const { workspace, settings } = this.#call;
    using file = await workspace.openFile(path);
    return await file.bytes(settings.maxFileBytes);
  }
}

/** A text in which a name was found. */
class NamedHits {
  readonly #path: string;
  readonly #body: string;
  readonly #pattern: string;
  readonly #ignoreCase: boolean;
  readonly #within: string | undefined;
  readonly #index: LineIndex;

  constructor(path: string, body: string, { pattern, ignoreCase = false, name }: NameQuery) {
    this.#within = name?.within;
    this.#path = path;
    this.#body = body;
    this.#pattern = pattern;
    this.#ignoreCase = ignoreCase;
    this.#index = new LineIndex(body);
  }

  /**
   * The matching lines on which the name is declared, or used in code. `known` is false for an unknown language: then
   * every line counts as a reference, and the heads of blocks as definitions.
   */
  async of(
    kind: "definition" | "reference",
    hits: readonly FoundLine[],
  ): Promise<{ lines: ReadonlySet<number>; known: boolean }> {
    const structure = await structureOf(this.#path, this.#body, false);
    const names = new Set(structure.declared.map(({ nameStart }) => nameStart));
    const numbers = new Set(hits.map(({ number }) => number));
    if (!structure.known) {
      const heads = structure.declared
        .filter(({ from, head, name }) => numbers.has(from) && this.#introduces(head, name))
        .map(({ from }) => from);
      return { lines: kind === "definition" ? new Set(heads) : numbers, known: false };
    }
    const places = hits.flatMap(({ number, column }) =>
      this.#matchesOn(number, column).map(offset => ({ line: number, offset })),
    );
    if (kind === "definition") {
      const wanted = structure.declared.filter(({ name }) => this.#isWithin(name));
      const starts = new Set(wanted.map(({ nameStart }) => nameStart));
      const declaring = places.filter(({ offset }) => starts.has(offset));
      return { lines: new Set(declaring.map(({ line }) => line)), known: true };
    }
    const language = languageOf(this.#path, this.#body);
    const found = language && (await parse(this.#body, language, { at: places.map(({ offset }) => offset) }));
    const uses = places.filter(({ offset }, i) => found?.kinds[i] === "identifier" && !names.has(offset));
    return { lines: new Set(uses.map(({ line }) => line)), known: true };
  }

  /** Whether the first line of a block introduces the name, and does not only mention it. */
  #introduces(head: string, full: string): boolean {
    if (!/^[\p{L}\p{N}_$]+$/u.test(this.#pattern) || `.${full}`.endsWith(`.${this.#pattern}`)) return true;
    const name = `${this.#pattern.replaceAll("$", "\\$")}(?![\\p{L}\\p{N}_$])`;
    const introduced = [
      `^#{1,6}\\s.*${name}`, // a heading
      `^(?:[\\p{L}\\p{N}_.]+[ \\t]+){0,3}["'<]?(?:[\\p{L}\\p{N}_$]+(?:\\.|::))*${name}["']?\\s*(?:$|[({=<\\[:>,])`,
      `(?:^|\\s)(?:class|interface|object|trait|protocol|extension|struct|enum|type|def|fn|fun|func|function|sub|proc|module)\\s+${name}`,
      `["']${name}["']\\s*[{:=]?\\s*$`,
    ];
    return new RegExp(introduced.join("|"), this.#ignoreCase ? "iu" : "u").test(head);
  }

  /** Whether a declaration of this full name lies in what the caller named. */
  #isWithin(full: string): boolean {
    if (this.#within === undefined) return true;
    const fold = (text: string) => (this.#ignoreCase ? text.toLowerCase() : text);
    return `.${fold(full)}`.endsWith(`.${fold(this.#within)}.${fold(this.#pattern)}`);
  }

  /** Where matches begin on a line: all of them for a plain name, else the first. */
  #matchesOn(line: number, column: number | undefined): number[] {
    const start = this.#index.start(line);
    const text = this.#body.slice(start, this.#index.end(line));
    if (/^[\p{L}\p{N}_$]+$/u.test(this.#pattern)) {
      const flags = this.#ignoreCase ? "giu" : "gu";
      const plain = this.#pattern.replaceAll("$", "\\$");
      const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${plain}(?![\\p{L}\\p{N}_$])`, flags);
      return [...text.matchAll(word)].map(({ index }) => start + index);
    }
    if (column === undefined) return [];
    return [start + Buffer.from(text).subarray(0, column).toString().length];
  }
}
