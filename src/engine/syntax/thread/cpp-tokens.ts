// The tokens of C and C++, without comments and directives. There is no preprocessor for the grammar, so some errors
// are found in the tokens alone.

export interface CppToken {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const pattern = new RegExp(
  [
    /\/\/[^\n]*(?:\\\r?\n[^\n]*)*/, // comments
    /\/\*[\s\S]*?(?:\*\/|(?![\s\S]))/,
    /^[ \t]*#[^\n]*(?:(?<=\\\r?)\n[^\n]*)*/, // directives
    /\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\([\s\S]*?(?:\)\1"|(?![\s\S]))/, // strings, numbers, characters
    /"(?:[^"\\\n]|\\[\s\S])*"?/,
    /\b\d(?:'?[\w.])*/,
    /'(?:[^'\\\n]|\\.)*'?/,
    /[A-Za-z_$][\w$]*/,
    /::|->/,
    /[^\s\w]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gm",
);
const skipped = /^(?:\/[/*]|[ \t]*#)/;

/** Directives are tokens of their own if they are `wanted`. */
export function cppTokens(text: string, wanted?: "directives"): CppToken[] {
  const found: CppToken[] = [];
  for (const { 0: token, index: start } of text.matchAll(pattern)) {
    const isWanted = !skipped.test(token) || (wanted !== undefined && !token.startsWith("/"));
    if (isWanted) found.push({ start, end: start + token.length, text: token });
  }
  return found;
}
