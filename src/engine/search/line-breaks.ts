// Line breaks in expressions. Where they are matched line by line, ripgrep refuses an expression that contains a line
// ending, which includes CR when lines may end with CRLF. It removes them from classes, and refuses a class that has
// nothing else. Where they are matched across lines, a line break stands for CRLF, too.

// A character in Rust's syntax; `[` together with a plain character after it.
const tokens = /\\(?:[xu]\{[0-9a-f]+\}|x[0-9a-f]{2}|u[0-9a-f]{4}|.)|\[\^?\]?|./gis;
const never = "[a&&b]";
const anyBreak = "(?:\\x0d?\\n)";

/** Whether the pattern searches for a lone CR, so that it cannot count as part of a line ending. */
export function seeksCarriageReturn(pattern: string, literal = false): boolean {
  if (literal || !/\r|\\[rxu]/i.test(pattern)) return pattern.includes("\r");
  let found = false;
  replaceTokens(pattern.replaceAll(anyBreak, ""), (token, isIn) => {
    found ||= isIn !== "negated class" && codeOf(token) === 13;
    return token;
  });
  return found;
}

/** The same expression, where a line break matches nothing. */
export function withoutLineBreaks(pattern: string): string {
  // With the flag x, line breaks are blanks that do not count.
  if (!/\n|\\[nxu]/i.test(pattern) || /\(\?[a-z]*x/i.test(pattern)) return pattern;
  return replaceTokens(pattern, (token, isIn) => (isIn === "" && codeOf(token) === 10 ? never : token));
}

interface Broken {
  readonly pattern: string;
  readonly literal?: boolean | undefined;
  readonly multiline?: boolean | undefined;
}

/**
 * The same query, where a line break matches CRLF, too, as in edits: callers are shown `\n`. Classes stay, and
 * look-behind, whose length is fixed.
 */
export function withAnyBreak<Q extends Broken>(query: Q): Q {
  const { pattern, literal, multiline } = query;
  if (!multiline || !(literal ? /\n/ : /\n|\\[nxu]/i).test(pattern)) return query;
  if (literal)
    return { ...query, literal: false, pattern: pattern.split(/\r?\n/).map(quoted).join(anyBreak) };
  if (/\(\?(?:[a-z]*x|<[=!])/i.test(pattern)) return query;
  const broken = replaceTokens(pattern, (token, isIn) =>
    isIn === "" && codeOf(token) === 10 ? anyBreak : token,
  );
  return { ...query, pattern: broken };
}

/** An expression for a plain text. */
export function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&");
}

type ClassContext = "" | "class" | "negated class";

function replaceTokens(pattern: string, replace: (token: string, isIn: ClassContext) => string): string {
  const classes: ClassContext[] = [];
  return pattern.replace(tokens, token => {
    if (token.startsWith("["))
      classes.push(token.startsWith("[^") || classes.at(-1) === "negated class" ? "negated class" : "class");
    else if (token === "]" && classes.length > 0) classes.pop();
    else return replace(token, classes.at(-1) ?? "");
    return token;
  });
}

function codeOf(token: string): number | undefined {
  if (token === "\\n") return 10;
  if (token === "\\r") return 13;
  const hexadecimal = /^\\[xu]\{?([0-9a-f]+)/i.exec(token)?.[1];
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16);
  return token.length === 1 ? token.charCodeAt(0) : undefined;
}
