// ripgrep looks for the borders of the line around every match of a multi-line search, so a line of N bytes that is
// all matches costs N² steps: hours for a few megabytes. A chain matches from the first match of a line to its last
// one at once, and on into the lines where the last one ends. It covers exactly the same lines.
import { ripgrepTokens } from "./ripgrep-tokens.ts";

/** Any byte of a line. As few as possible come between two matches, so that none is skipped. */
const between = "(?-u:[^\\n])*?";

/**
 * Undefined if a chain could mean something else. ripgrep may still refuse it, for its length or because a group's
 * name is there twice.
 */
export function matchChain(source: string, wholeWord = false): string | undefined {
  if (!isOneExpression(source)) return undefined;
  const match = wholeWord ? `(?:\\b{start-half}(?:${source})\\b{end-half})` : `(?:${source})`;
  return `${match}(?:${between}${match})*`;
}

/** Whether its groups are closed, so that `(?:…)` around it holds all of it. With the flag x, comments may hold brackets. */
function isOneExpression(source: string): boolean {
  const tokens = /\(\?[a-z]*x/i.test(source) ? undefined : ripgrepTokens(source);
  let depth = 0;
  for (const token of tokens ?? []) {
    if (token.startsWith("(") && !token.endsWith(")")) depth++;
    else if (token === ")" && --depth < 0) return false;
  }
  return tokens !== undefined && depth === 0;
}
