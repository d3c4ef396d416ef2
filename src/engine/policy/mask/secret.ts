// A span of text that is not shown, and the label under which it is found again after an edit. Any caller can write
// files that are masked, and every tool reads them in the server's own thread: all of this takes linear time.

export interface Secret {
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The key that the value belongs to; absent where it has none. Never a part of what is hidden. */
  readonly label?: string;
}

/** A secret that can be found again. Without a key it is labelled by what is shown of the line before it. */
export interface LabelledSecret extends Secret {
  readonly label: string;
}

/**
 * A text with more of them is not shown: masking it, and an edit even more, would hold up everything else. A parser may
 * stop at the first one too many, and returns that one, too.
 */
export const mostSecrets = 50_000;

/** How much of a name or a line counts in a label: a file of one line must not cost its square. */
const mostOfLabel = 200;

/** A label of names, outermost first. */
export function labelOf(...names: readonly string[]): string {
  const first = Math.max(0, names.length - mostOfLabel);
  let label = "";
  for (let i = first; i < names.length; i++) {
    if (i > first) label += "."; // not `join`: a file may have half a million labels
    label += names[i]?.slice(-mostOfLabel) ?? "";
  }
  return label;
}

/** How long the label of a path may be. Each name in it takes a character or more. */
export const mostOfPath = 200;

/** The label of what is below a path with another label. */
export function labelBelow(above: string, name: string): string {
  return `${above}.${labelOf(name)}`.slice(-mostOfPath);
}

/** The label of a value without a key: what precedes it on its line, in the text as it is shown. */
export function lineLabel(shown: string, start: number): string {
  const before = shown.slice(Math.max(0, start - mostOfLabel), start);
  return before.slice(before.lastIndexOf("\n") + 1).trim();
}

/** The placeholder of a hidden value. */
export const placeholder = "••••";

/** The part of a value between its quotes, or the value itself. A value that is only quotes hides nothing. */
export function unquoted(text: string, start: number, end: number): readonly [number, number] {
  const quote = text[start];
  const isQuoted =
    end - start >= 2 && (quote === '"' || quote === "'" || quote === "`") && text[end - 1] === quote;
  return isQuoted ? [start + 1, end - 1] : [start, end];
}
