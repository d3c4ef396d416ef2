// Lines of a file that is read whole: a page of them, some parts, or its outline.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { contentOf, sameVersion } from "../../engine/history/versions.ts";
import { sourceOf } from "../../engine/syntax/known-structures.ts";
import { languageOf } from "../../engine/syntax/language.ts";
import { type Structure, structureOf } from "../../engine/syntax/structure.ts";
import { symbolIn } from "../../engine/syntax/symbols.ts";
import type { LineIndex } from "../../engine/text/lines.ts";
import type { Text } from "../../engine/text/text.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { AnswerLines, isShownWhole, shownLine } from "./answer.ts";
import { type OutlineWindow, outlineLines } from "./code-outline.ts";
import { changeOf, diffOf } from "./diff.ts";
import { readableText } from "./documents.ts";
import { refused, toldInline } from "./failure.ts";
import type { PathPart } from "./parts.ts";
import { defaultLimit, type ReadParams } from "./read-params.ts";
import { textRead } from "./recent-texts.ts";
import { structuresOf } from "./search-code.ts";
import { headLine } from "./text-file.ts";

/** Space for the line that says how to continue. */
const footing = 100;

export async function readLines(
  file: OpenFile,
  parts: readonly PathPart[],
  reading: ReadParams,
  { workspace, settings }: CallContext,
  room: number,
): Promise<string> {
  const bytes = file.whole() ?? (await file.bytes(settings.maxFileBytes));
  const reads = textRead(workspace, file, bytes, reading.encoding);
  const read = reads instanceof Promise ? await reads : reads; // waiting for what is there costs turns
  const { text, as, version } = read;
  const past = () => ({ workspace, at: file.path });
  const structure = async () => {
    const found = await structureOf(text.path, text.body);
    const source = as === undefined ? sourceOf(file.given, version, text.body) : undefined;
    if (source !== undefined) structuresOf(workspace).keep(source, found);
    return found;
  };
  const { since } = reading;
  if (since !== undefined && sameVersion(since, version))
    return `${headLine(file.given, text, version, { as })}\nunchanged`; // the text need not be decoded
  const index = read.index();
  const head = read.head();
  const isWhole = parts.every(({ lines, symbol }) => lines === undefined && symbol === undefined);
  if (since === undefined || !isWhole) {
    const content = new Parts(head, text, index, reading, room, structure);
    return await (isWhole ? content.whole() : content.some(parts));
  }
  const old = await contentOf(past(), since);
  if (old === undefined)
    return new Parts(
      `${head}\n[${since} is not known any more; this is the file]`,
      text,
      index,
      reading,
      room,
      structure,
    ).whole();
  const like = reading.encoding ?? (as === undefined ? text.codec.name : undefined);
  const { text: before } = await readableText(file.given, old, like);
  const diff = await diffOf(await changeOf(before, text), room - head.length);
  return `${head}\n${diff.text}`;
}

class Parts {
  readonly #head: string;
  readonly #text: Text;
  readonly #reading: ReadParams;
  readonly #room: number;
  readonly #structure: () => Promise<Structure>;
  readonly #index: LineIndex;
  readonly #total: number;

  constructor(
    head: string,
    text: Text,
    index: LineIndex,
    reading: ReadParams,
    room: number,
    structure: () => Promise<Structure>,
  ) {
    this.#structure = structure;
    this.#head = head;
    this.#text = text;
    this.#reading = reading;
    this.#room = room;
    this.#index = index;
    this.#total = index.count("terminated");
  }

  #outline(structure: Structure, room: number, window?: OutlineWindow): string[] {
    return outlineLines(structure, this.#text.bytes.length, room, window);
  }

  /** The lines that offset and limit name; without them, all. */
  #window(): OutlineWindow {
    const { offset, limit } = this.#reading;
    const from = this.#firstLine(offset);
    return { from, to: limit === defaultLimit ? Number.POSITIVE_INFINITY : from + limit - 1 };
  }

  /** Negative offsets count from the end. */
  #firstLine(offset: number): number {
    const total = this.#total;
    if (offset > Math.max(1, total))
      throw new Fault("past_end", { path: this.#text.path, line: offset, lines: total });
    return offset < 0 ? Math.max(1, total + 1 + offset) : offset;
  }

  /** The outline, or a page, which begins with the outline where the file is cut at its limit. */
  async whole(): Promise<string> {
    const { offset } = this.#reading;
    if (this.#reading.outline) {
      const room = this.#room - this.#head.length - footing;
      return [this.#head, ...this.#outline(await this.#structure(), room, this.#window())].join("\n");
    }
    const page = this.#page([]);
    if (!page.cut || offset !== 1 || languageOf(this.#text.path, this.#text.body) === undefined)
      return page.text;
    const structure = await this.#structure();
    if (!structure.known || structure.declared.length === 0) return page.text;
    return this.#page(["[outline]", ...this.#outline(structure, this.#room / 4), "[lines]"]).text;
  }

  #page(above: readonly string[]): { text: string; cut: boolean } {
    const { offset, limit } = this.#reading;
    const total = this.#total;
    const first = this.#firstLine(offset);
    const lines = new AnswerLines(this.#room - footing);
    for (const line of [this.#head, ...above]) lines.note(line);
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
      const line = shownLine(body.slice(this.#index.start(next), this.#index.end(next)));
      if (!lines.add(this.#reading.numbers ? `${next}: ${line}` : line)) break;
    }
    return next - 1;
  }

  /** All of these lines as one text, which takes a fraction of the time; undefined if one of them has to be cut. */
  #together(from: number, to: number, room: number): string | undefined {
    const start = this.#index.start(from);
    const end = this.#index.end(to);
    if (from > to || end - start > room) return undefined;
    for (let line = from; line <= to; line++)
      if (!isShownWhole(this.#index.end(line) - this.#index.start(line))) return undefined;
    const { body } = this.#text;
    const text = body.slice(start, end);
    if (!text.isWellFormed()) return undefined;
    if (!this.#reading.numbers) return text;
    let numbered = "";
    for (let line = from; line <= to; line++)
      numbered += `${line === from ? "" : "\n"}${line}: ${body.slice(this.#index.start(line), this.#index.end(line))}`;
    return numbered;
  }

  async some(parts: readonly PathPart[]): Promise<string> {
    const { path } = this.#text;
    const needs = this.#reading.outline || parts.some(({ symbol }) => symbol !== undefined);
    const structure = needs ? await this.#structure() : undefined;
    const lines = new AnswerLines(this.#room - footing * parts.length);
    lines.note(this.#head);
    if (structure?.known === false && parts.some(({ symbol }) => symbol !== undefined))
      lines.note("[not parsed as code: symbols are found by headings and indentation]");
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
        const end = limit === defaultLimit ? to : Math.min(to, from + limit - 1);
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
    if (symbol !== undefined && structure !== undefined) {
      const { name, top, to } = symbolIn(structure, path, symbol);
      return { from: top, to, label: `${name} · lines ${top}-${to}` };
    }
    const { from = 1, to = this.#total } = lines ?? {};
    if (from < 1 || to < from)
      throw refused(`${from}-${to} names no lines`, "Lines count from 1, the first comes first: file:10-40.");
    if (from > this.#total) throw new Fault("past_end", { path, line: from, lines: this.#total });
    const last = Math.min(to, this.#total);
    return { from, to: last, label: `lines ${from}-${last} of ${this.#total}` };
  }
}
