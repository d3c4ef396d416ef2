// The size of an answer, and the text of its lines. An answer ends at a whole line before the limit and says how to
// continue: a client that truncates it would cut what matters.
import { firstCharacters } from "../../contract/render/cut.ts";
import type { Settings } from "../../contract/settings.ts";
import type { PrintedLine } from "../../engine/text/diff.ts";
import type { LinePart } from "../../engine/text/line-part.ts";

/** Some 20,000 tokens of code; clients cut at 25,000. */
const mostBytes = 64_000;
export const longestLine = 2000;

/** Tells clients how large an answer may get, so that they do not truncate one that is mostly digits or Chinese. */
export const sizeHint = { "anthropic/maxResultSizeChars": mostBytes };

export function answerBytes({ maxOutputBytes }: Settings): number {
  return Math.min(mostBytes, maxOutputBytes);
}

/** Lines, as long as there is room for them. */
export class AnswerLines {
  readonly #lines: string[] = [];
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  get room(): number {
    return this.#room;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** False if the line does not fit; then it is not added, and no later line should be. */
  add(line: string): boolean {
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > this.#room) return false;
    this.#room -= bytes;
    this.#lines.push(line);
    return true;
  }

  /** As many of them as fit, up to the first that does not. */
  addAll(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const bytes = Buffer.byteLength(lines.join("\n")) + 1;
    if (bytes <= this.#room) {
      this.#room -= bytes;
      for (const line of lines) this.#lines.push(line);
    } else for (const line of lines) if (!this.add(line)) return;
  }

  /** Appends to an earlier line, if there is space. */
  extend(index: number, text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#room || this.#lines[index] === undefined) return false;
    this.#room -= bytes;
    this.#lines[index] += text;
    return true;
  }

  /** Adds a line regardless of the limit: one that says what is missing. */
  note(line: string): void {
    this.#room -= Buffer.byteLength(line) + 1;
    this.#lines.push(line);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

/** A line of a file as it is shown: a very long one is cut, and says so. `left` bytes were left out before. */
export function shownLine(line: string, left: number | "some" = 0): string {
  const { text, left: cut } = firstCharacters(line, longestLine);
  if (left === "some") return `${text} […]`;
  if (left > 0) return `${text} […${number(left + cut)} more bytes]`;
  return cut > 0 ? `${text} […${number(cut)} more characters]` : text;
}

/** Characters of a line in a diff. Of longer ones it shows the part that changed. */
export const longestInDiff = 500;

/** A line of a diff, whose sign stays in front. */
export function shownDiffLine(line: PrintedLine): string {
  return typeof line === "string"
    ? shownLine(line)
    : line.text.slice(0, 1) + shownPart(line, line.text.slice(1));
}

/** A part of a line, with marks for what is before and after it. */
export function shownPart({ before, after }: LinePart, text: string): string {
  const start = before > 0 ? `[…${number(before)} characters] ` : "";
  return `${start}${text}${after > 0 ? ` […${number(after)} more characters]` : ""}`;
}

/** Characters of a long line that are shown before a match in it. */
const beforeMatch = 500;

/** Whether a match at this offset is in the part of a long line that is shown anyway. */
export function isShownFromStart(at: number): boolean {
  return at + beforeMatch <= longestLine;
}

/** The part of a long line around a match at an offset. */
export function shownMatch(line: string, at: number): string {
  const half = /[\udc00-\udfff]/.test(line[at - beforeMatch] ?? "") ? 1 : 0;
  const from = at - beforeMatch - half;
  const where = `[…${number(from)} characters; match at column ${number(at + 1)}]`;
  return `${where} ${shownLine(line.slice(from))}`;
}

/** Whether a line of this many characters is shown without being cut. */
export function isShownWhole(characters: number): boolean {
  return characters <= longestLine;
}

export function number(value: number): string {
  return value < 1000 ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 line`, `12 lines`, `1 match`, `2 matches`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** A note that an answer about a tree is not complete. */
export function unreadDirectories(count: number): string {
  return `[${counted(count, "directory", "directories")} could not be read]`;
}
