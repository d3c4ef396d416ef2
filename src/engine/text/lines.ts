// Lines of a text whose breaks are "\n". Contracts count in two ways: by terminators ("a\n" is one line), or by what is
// between breaks ("a\n" is two, the last one empty).

export type LineCounting = "terminated" | "split";

export function countLines(body: string, counting: LineCounting): number {
  let breaks = 0;
  for (let at = body.indexOf("\n"); at >= 0; at = body.indexOf("\n", at + 1)) breaks += 1;
  return counting === "split" ? breaks + 1 : breaks + (body === "" || body.endsWith("\n") ? 0 : 1);
}

export function splitLines(body: string, counting: LineCounting): string[] {
  const lines = body.split("\n");
  if (counting === "terminated" && lines.at(-1) === "") lines.pop();
  return lines;
}

/** Where lines begin, and on which line an offset lies. Lines count from 1. Built once, asked often. */
export class LineIndex {
  /** The offset of each line's first character; the piece after a final break is in it, too. */
  readonly starts: readonly number[];
  readonly #length: number;
  #longest = -1;

  constructor(body: string) {
    const starts = [0];
    for (let at = body.indexOf("\n"); at >= 0; at = body.indexOf("\n", at + 1)) starts.push(at + 1);
    this.starts = starts;
    this.#length = body.length;
  }

  count(counting: LineCounting): number {
    const pieces = this.starts.length;
    return counting === "split" || this.starts[pieces - 1] !== this.#length ? pieces : pieces - 1;
  }

  /** The offset at which a line begins; the end of the text for lines after the last. */
  start(line: number): number {
    return this.starts[line - 1] ?? this.#length;
  }

  /** The offset at which a line's text ends, before its break. */
  end(line: number): number {
    const next = this.starts[line];
    return next === undefined ? this.#length : next - 1;
  }

  /** The most characters of a line, without its break. */
  get longest(): number {
    if (this.#longest < 0)
      for (let line = 1; line <= this.starts.length; line++)
        this.#longest = Math.max(this.#longest, this.end(line) - this.start(line));
    return this.#longest;
  }

  lineAt(offset: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
