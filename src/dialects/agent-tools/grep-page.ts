// One page of search results: from `offset` on, up to the limit and the size of an answer. Further results are
// counted, so that the footer can say where the page is.
import { firstBytes } from "../../contract/render/cut.ts";
import type { FoundLine, GrepReport } from "../../engine/search/grep-terms.ts";
import { shownLine, truncation } from "./output.ts";

export interface GrepPageOptions {
  readonly offset: number;
  readonly limit: number | undefined;
  /** Lines of context; groups of lines are separated if there is any. */
  readonly before: number;
  readonly after: number;
  /** Bytes of an answer. */
  readonly cap: number;
}

const reasons: { readonly [R in NonNullable<GrepReport["stopped"]>]: string } = {
  limit: "there are more results",
  files: "there are too many files; narrow path or glob",
  time: "it took too long; narrow pattern, path or glob",
  output: "too much was found to hold all of it; narrow pattern, path or glob",
  memory: "a line in a large file is too long; files over 16 MB were left out",
  killed: "the search process was killed; try again",
};

/** The number of the last line of a hit, which may be a match of several. */
function lastOf({ number, text }: FoundLine): number {
  return number + text.split("\n").length - 1;
}

/** A line as grep prints it, a match of several lines below the prefix of its first. */
function row(path: string, mark: ":" | "-", { number, text }: FoundLine): string {
  const shown = text.split("\n").map(one => shownLine(one.replace(/\r$/, "")));
  return `${path}${mark}${number}${mark}${shown.join("\n")}`;
}

/** Bytes that a part takes, with its line break. */
function sizeOf(part: string): number {
  return Buffer.byteLength(part) + 1;
}

const noContext = "[... no room for the context of this match ...]";

/** Space for the footer. */
const reserve = 100;

export class GrepPage {
  readonly #options: GrepPageOptions;
  readonly #parts: string[] = [];
  #bytes = 0;
  #count = 0;
  #shown = 0;
  #full = false;

  constructor(options: GrepPageOptions) {
    this.#options = options;
  }

  /** A result of one line. */
  add(line: string): void {
    if (this.#takes()) this.#print(line);
  }

  /** The lines of a file: each that matches is a result with its context. */
  addLines(path: string, lines: readonly FoundLine[]): void {
    const { before, after } = this.#options;
    let printed = Number.NEGATIVE_INFINITY; // the last line number that was
    for (const [at, line] of lines.entries()) {
      if (line.column === undefined || !this.#takes()) continue;
      const group: string[] = [];
      let last = printed;
      for (let i = Math.max(0, at - before); i <= Math.min(lines.length - 1, at + after); i++) {
        const near = lines[i];
        if (near === undefined || near.number < line.number - before) continue;
        if (i !== at && near.number <= last) continue;
        if (near.number > lastOf(line) + after) break;
        // Context ends before the next result.
        if (i > at && near.column !== undefined && this.#takesAfter()) break;
        if (this.#isApart(near.number, last)) group.push("--");
        group.push(row(path, i === at ? ":" : "-", near));
        last = lastOf(near);
      }
      // A result is never cut for its context.
      const isAlone = group.length > 1 && this.#shown === 0 && sizeOf(group.join("\n")) > this.#room;
      const part = isAlone ? [row(path, ":", line), noContext] : group;
      if (this.#print(part.join("\n"))) printed = isAlone ? lastOf(line) : last;
    }
  }

  /**
   * The whole answer. `stopped` says why the search was incomplete; `total` counts the results that were not
   * returned.
   */
  print(stopped?: GrepReport["stopped"], total = this.#count): string {
    const { offset } = this.#options;
    const end = offset + this.#shown;
    const lines = [...this.#parts];
    if (this.#count === 0) lines.push("(no matches)");
    else if (this.#shown === 0) lines.push(`(no results at offset ${offset}; ${total} total)`);
    else if (end < this.#count) {
      lines.push(`[... showing ${offset}..${end} of ${total}; call again with offset=${end} for more ...]`);
    }
    if (stopped !== undefined) lines.push(`[... warning: search incomplete: ${reasons[stopped]} ...]`);
    return lines.join("\n");
  }

  /** Counts a result, and returns whether it belongs to the page. */
  #takes(): boolean {
    const taken = this.#wants(this.#count);
    this.#count++;
    return taken;
  }

  #takesAfter(): boolean {
    return this.#wants(this.#count);
  }

  #wants(result: number): boolean {
    const { offset, limit = Number.POSITIVE_INFINITY } = this.#options;
    return !this.#full && result >= offset && result < offset + limit;
  }

  #isApart(number: number, last: number): boolean {
    const { before, after } = this.#options;
    return before + after > 0 && this.#parts.length > 0 && (number > last + 1 || last < 0);
  }

  get #room(): number {
    return this.#options.cap - reserve - this.#bytes;
  }

  #print(part: string): boolean {
    const bytes = sizeOf(part);
    const room = this.#room;
    if (bytes > room && this.#shown > 0) {
      this.#full = true;
      return false;
    }
    const shown = bytes > room ? firstBytes(part, Math.max(0, room)) : part;
    this.#parts.push(shown === part ? part : `${shown}\n${truncation(Buffer.byteLength(shown), bytes - 1)}`);
    this.#bytes += bytes;
    this.#shown++;
    return true;
  }
}
