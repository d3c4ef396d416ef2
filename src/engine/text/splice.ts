// A splice: replace [start, end) of a string by a text. Edits, patches and merges all end as a sorted list of them.

export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The string with all splices applied. They are sorted and do not overlap. */
export function spliced(source: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of splices) {
    parts.push(source.slice(at, start), text);
    at = end;
  }
  parts.push(source.slice(at));
  return parts.join("");
}

/** The splice without equal text at both ends. Characters beyond U+FFFF are not split. */
export function trimmed(source: string, splice: Splice): Splice {
  let { start, end } = splice;
  let from = 0;
  let to = splice.text.length;
  if (!sharesAnEnd(source, splice)) return splice;
  while (start < end && from < to && source.charCodeAt(start) === splice.text.charCodeAt(from)) {
    start += 1;
    from += 1;
  }
  if (from > 0 && isHighSurrogate(splice.text.charCodeAt(from - 1))) {
    start -= 1;
    from -= 1;
  }
  while (start < end && from < to && source.charCodeAt(end - 1) === splice.text.charCodeAt(to - 1)) {
    end -= 1;
    to -= 1;
  }
  if (to < splice.text.length && isLowSurrogate(splice.text.charCodeAt(to))) {
    end += 1;
    to += 1;
  }
  return { start, end, text: splice.text.slice(from, to) };
}

function sharesAnEnd(source: string, { start, end, text }: Splice): boolean {
  if (start === end || text === "") return false;
  return (
    source.charCodeAt(start) === text.charCodeAt(0) ||
    source.charCodeAt(end - 1) === text.charCodeAt(text.length - 1)
  );
}

/** Where splices would leave half of a character beyond U+FFFF behind; -1 where they do not. */
export function halvedAt(source: string, splices: readonly Splice[]): number {
  for (const { start, end, text } of joined(splices)) {
    const after = text === "" ? source.charCodeAt(end) : text.charCodeAt(0);
    if (isBetweenHalves(source, start) && !isLowSurrogate(after)) return start - 1;
    const before = text === "" ? source.charCodeAt(start - 1) : text.charCodeAt(text.length - 1);
    if (isBetweenHalves(source, end) && !isHighSurrogate(before)) return end - 1;
  }
  return -1;
}

export function isBetweenHalves(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));
}

/** Splices that touch each other as one. */
function* joined(splices: readonly Splice[]): Generator<Splice> {
  let last: Splice | undefined;
  for (const splice of splices) {
    if (last?.end === splice.start) last = { ...last, end: splice.end, text: last.text + splice.text };
    else {
      if (last !== undefined) yield last;
      last = splice;
    }
  }
  if (last !== undefined) yield last;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
