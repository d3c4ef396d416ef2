// Which matching lines are definitions or references of a name: by grammar, not by type.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import type { FileHits, FoundLine } from "../../engine/search/grep-terms.ts";
import { declaredName } from "../../engine/syntax/declared-name.ts";
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
  /** Undefined if the pattern is a regex. */
  readonly name?: QueriedName | undefined;
}

export class KindFilter {
  readonly #kind: "definition" | "reference";
  readonly #query: NameQuery;
  readonly #call: CallContext;
  /** Lines that match and are something else, and files that were matched as text. */
  #left = 0;
  #found = 0;
  #asText = 0;

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
    const { lines: kept, isText } = await new NamedHits(path.given, body, this.#query).of(this.#kind, all);
    const hits = all.filter(({ number }) => kept.has(number));
    this.#left += all.length - hits.length;
    this.#found += hits.length;
    if (isText) this.#asText++;
    if (hits.length === 0) return undefined;
    const lines = found.lines.filter(({ column, number }) => column === undefined || kept.has(number));
    return { ...found, lines, count: hits.length };
  }

  notes(): string[] {
    const isDefinition = this.#kind === "definition";
    const what = isDefinition ? "not a definition" : "in a string, a comment or a declaration";
    const other = counted(this.#left, "other line");
    const isNoName = this.#found === 0 && this.#query.name === undefined;
    const [last = "Client"] = /(?<=\.)[\p{L}_$][\p{L}\p{N}_$]*$/u.exec(this.#query.pattern) ?? [];
    const example = isDefinition ? "Client or Client.connect" : last;
    return [
      ...(isNoName ? [`[kind takes a name: ${example}]`] : []),
      ...(this.#left > 0 ? [`[by name; ${other} left out: ${what}]`] : ["[by name]"]),
      ...(this.#asText > 0 ? [`[${counted(this.#asText, "file")} not parsed: matched as text]`] : []),
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
   * The matching lines on which the name is declared, or used in code. A file that cannot be parsed is text: every line
   * counts as a reference, and the heads of blocks as definitions. `isText` says so where it makes a difference: if
   * lines were found, or if the file has a grammar and is too large for it.
   */
  async of(
    kind: "definition" | "reference",
    hits: readonly FoundLine[],
  ): Promise<{ lines: ReadonlySet<number>; isText: boolean }> {
    const structure = await structureOf(this.#path, this.#body, false);
    const names = new Set(structure.declared.map(({ nameStart }) => nameStart));
    const numbers = new Set(hits.map(({ number }) => number));
    if (!structure.known) {
      const heads = structure.declared
        .filter(({ from, head, name }) => numbers.has(from) && this.#introduces(head, name))
        .map(({ from }) => from);
      const lines = kind === "definition" ? new Set(heads) : numbers;
      return { lines, isText: lines.size > 0 || structure.unparsed === true };
    }
    const places = hits.flatMap(({ number, column }) =>
      this.#matchesOn(number, column).map(offset => ({ line: number, offset })),
    );
    if (kind === "definition") {
      const wanted = structure.declared.filter(({ name }) => this.#isWithin(name));
      const starts = new Set(wanted.map(({ nameStart }) => nameStart));
      const declaring = places.filter(({ offset }) => starts.has(offset));
      return { lines: new Set(declaring.map(({ line }) => line)), isText: false };
    }
    const language = languageOf(this.#path, this.#body);
    const found = language && (await parse(this.#body, language, { at: places.map(({ offset }) => offset) }));
    const uses = places.filter(({ offset }, i) => found?.kinds[i] === "identifier" && !names.has(offset));
    return { lines: new Set(uses.map(({ line }) => line)), isText: false };
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

  /** Whether a declaration of this full name is in what the caller named. */
  #isWithin(full: string): boolean {
    if (this.#within === undefined) return true;
    const fold = (text: string) => (this.#ignoreCase ? text.toLowerCase() : text);
    const wanted = `${this.#within}.${this.#pattern}`;
    return [wanted, declaredName(wanted)].some(name => `.${fold(full)}`.endsWith(`.${fold(name)}`));
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
