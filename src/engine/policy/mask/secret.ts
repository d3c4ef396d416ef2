// A span of text that is not shown, and the label under which it is found again after an edit.

export interface Secret {
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The key that the value belongs to; for text without keys, what precedes it on its line. */
  readonly label: string;
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
