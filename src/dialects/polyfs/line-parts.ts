// What an answer shows of a text by lines: a page of them, some parts, or its outline.
import { Fault } from "../../engine/fault.ts";
import { languageOf } from "../../engine/syntax/language.ts";
import type { Structure } from "../../engine/syntax/structure.ts";
import { symbolIn } from "../../engine/syntax/symbols.ts";
import type { LineIndex } from "../../engine/text/lines.ts";
import { AnswerLines, isShownWhole, shownLine } from "./answer.ts";
import { notParsed, type OutlineWindow, outlineLines } from "./code-outline.ts";
import { toldInline } from "./failure.ts";
import { confirmedRange, linesInLink, type PathPart } from "./parts.ts";
import { defaultLimit, type ReadParams } from "./read-params.ts";

/** Space for the line that says how to continue. */
const footing = 100;

/** Where lines are in a text. */
type LinePlaces = Pick<LineIndex, "start" | "end" | "longest">;

/** A text by lines, or as much of it as an answer can show. */
export interface LinedText {
  readonly path: string;
  readonly head: string;
  readonly body: string;
  readonly index: LinePlaces;
  /** Lines of the whole text. */
  readonly total: number;
  /** Bytes of the whole text. */
  readonly size: number;
  readonly structure: () => Promise<Structure>;
  /** Called with a page that ends where the text does: it is the same each time. */
  readonly keep?: (page: string) => void;
}

export class LineParts {
  readonly #text: LinedText;
  readonly #reading: ReadParams;
  readonly #room: number;

  constructor(text: LinedText, reading: ReadParams, room: number) {
    this.#text = text;
    this.#reading = reading;
    this.#room = room;
  }

  #outline(structure: Structure, room: number, window?: OutlineWindow): string[] {
    return outlineLines(structure, this.#text.size, room, window);
  }

  /** The lines that offset and limit name; without them, all. */
  #window(): OutlineWindow {
    const { offset, limit } = this.#reading;
    const from = this.#firstLine(offset);
    return { from, to: limit === defaultLimit ? Number.POSITIVE_INFINITY : from + limit - 1, page: true };
  }

  #firstLine(offset: number): number {
    const { path, total } = this.#text;
    if (offset > Math.max(1, total)) throw new Fault("past_end", { path, line: offset, lines: total });
    return firstLine(offset, total);
  }

  /** The outline, or a page, which begins with the outline where the file is cut at its limit. */
  async whole(): Promise<string> {
    const { offset } = this.#reading;
    if (this.#reading.outline) {
      const room = this.#room - this.#text.head.length - footing;
      return [this.#text.head, ...this.#outline(await this.#text.structure(), room, this.#window())].join(
        "\n",
      );
    }
    const page = this.#page([]);
    if (!page.cut) this.#text.keep?.(page.text);
    if (!page.cut || offset !== 1 || languageOf(this.#text.path, this.#text.body) === undefined)
      return page.text;
    const structure = await this.#text.structure();
    if (!structure.known || structure.declared.length === 0) return page.text;
    return this.#page(["[outline]", ...this.#outline(structure, this.#room / 4), "[lines]"]).text;
  }

  #page(above: readonly string[]): { text: string; cut: boolean } {
    const { offset, limit } = this.#reading;
    const total = this.#text.total;
    const first = this.#firstLine(offset);
    const lines = new AnswerLines(this.#room - footing);
    for (const line of [this.#text.head, ...above]) lines.note(line);
    const last = this.#print(lines, first, Math.min(total, first + limit - 1));
    const range = `[lines ${first}-${last} of ${total}`;
    if (last < total) lines.note(`${range}; go on with offset=${last + 1}]`);
    else if (first > 1) lines.note(`${range}]`);
    return { text: lines.toString(), cut: last < total };
  }

  /** Prints lines while there is space; returns the last one printed. */
  #print(lines: AnswerLines, from: number, to: number): number {
    const together = this.#together(from, to, lines.room);
    if (together !== undefined && lines.add(together)) return to;
    const { body } = this.#text;
    let next = from;
    for (; next <= to; next++) {
      const line = shownLine(body.slice(this.#text.index.start(next), this.#text.index.end(next)));
      if (!lines.add(this.#reading.numbers ? `${next}: ${line}` : line)) break;
    }
    return next - 1;
  }

  /** All of these lines as one text, which takes a fraction of the time; undefined if one of them has to be cut. */
  #together(from: number, to: number, room: number): string | undefined {
    const start = this.#text.index.start(from);
    const end = this.#text.index.end(to);
    if (from > to || end - start > room) return undefined;
    if (!this.#areShownWhole(from, to)) return undefined;
    const { body } = this.#text;
    const text = body.slice(start, end);
    if (!text.isWellFormed()) return undefined;
    if (!this.#reading.numbers) return text;
    const lines = text.split("\n");
    for (let i = 0; i < lines.length; i++) lines[i] = `${from + i}: ${lines[i]}`;
    return lines.join("\n");
  }

  #areShownWhole(from: number, to: number): boolean {
    const { index } = this.#text;
    if (isShownWhole(index.longest)) return true;
    for (let line = from; line <= to; line++)
      if (!isShownWhole(index.end(line) - index.start(line))) return false;
    return true;
  }

  async some(parts: readonly PathPart[]): Promise<string> {
    const { path } = this.#text;
    const needs = this.#reading.outline || parts.some(({ symbol }) => symbol !== undefined);
    const structure = needs ? await this.#text.structure() : undefined;
    const lines = new AnswerLines(this.#room - footing * parts.length);
    lines.note(this.#text.head);
    if (structure?.known === false && parts.some(({ symbol }) => symbol !== undefined))
      lines.note(`[${notParsed(structure.unparsed)}: symbols are found by headings and indentation]`);
    for (const part of parts) {
      try {
        const { from, to, label } = this.#rangeOf(part, structure, path);
        lines.note(`[${label}]`);
        if (this.#reading.outline && structure !== undefined) {
          for (const line of this.#outline(structure, this.#room / parts.length, { from, to }))
            lines.note(line);
          continue;
        }
        const { limit } = this.#reading;
        const end = lastLine(from, to, limit);
        const last = this.#print(lines, from, end);
        if (last < to) lines.note(`[go on with ${path}:${last + 1}-${to}]`);
      } catch (error) {
        if (parts.length === 1) throw error;
        lines.note(toldInline(error));
      }
    }
    return lines.toString();
  }

  #rangeOf({ lines, symbol }: PathPart, structure: Structure | undefined, path: string) {
    let linked: PathPart["lines"];
    if (symbol !== undefined && structure !== undefined) {
      try {
        const { name, top, to } = symbolIn(structure, path, symbol);
        return { from: top, to, label: `${name} · lines ${top}-${to}` };
      } catch (error) {
        linked = linesInLink(symbol);
        if (linked === undefined) throw error;
      }
    }
    const { from, to } = confirmedRange(lines ?? linked ?? { from: 1, to: this.#text.total });
    if (from > this.#text.total) throw new Fault("past_end", { path, line: from, lines: this.#text.total });
    const last = Math.min(to, this.#text.total);
    return { from, to: last, label: `lines ${from}-${last} of ${this.#text.total}` };
  }
}

/** The line that an offset names. Negative offsets count from the end. */
export function firstLine(offset: number, total: number): number {
  return offset < 0 ? Math.max(1, total + 1 + offset) : offset;
}

/** The last line that a part shows. Only a limit that the caller names cuts it. */
export function lastLine(from: number, to: number, limit: number): number {
  return limit === defaultLimit ? to : Math.min(to, from + limit - 1);
}
