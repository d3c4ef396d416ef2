// The directives of the preprocessor. The grammar takes every name for a directive, and where no `#if` is open also
// `#endif` and `#else`.
import { type CppToken, cppTokens } from "./cpp-tokens.ts";
import type { ParseError } from "./messages.ts";

const condition = /^(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)$/;
const needsOperand = /^(?:include|include_next|import|embed|define|undef|line)$/;
/** `using` and the ones after it are extensions of some compilers. */
const known = /^(?:error|warning|pragma|using|ident|sccs|assert|unassert)$/;
const directive = /^([ \t]*#[ \t]*)([A-Za-z_]\w*|#)([^\n]*)/;
/** A directive on a line that continues another one is part of that one. */
const continued = /\\\r?\n[ \t]*#[ \t]*(?:define|undef|include|if|ifdef|ifndef|elif|else|endif)\b/;
const directives = new RegExp(directive.source, "gm");

/**
 * Directives that belong to no `#if`, those between an `#else` and its `#endif`, those on a line that continues another
 * one, and those that there are none of.
 */
export function directiveErrors(text: string): ParseError[] {
  // Making tokens takes time, and is needed only to leave out what is in comments and strings.
  if (refused([...text.matchAll(directives)]).length === 0 && !continued.test(text)) return [];
  const tokens = cppTokens(text, "directives");
  const found = tokens.flatMap(({ start, text: token }) => {
    const one = directive.exec(token);
    return one === null ? [] : [Object.assign(one, { index: start })];
  });
  return [...refused(found), ...tokens.flatMap(continuedErrors)];
}

function continuedErrors({ start, text }: CppToken): ParseError[] {
  const found = /^[ \t]*#/.test(text) ? continued.exec(text) : null;
  if (found === null) return [];
  const at = start + found.index + found[0].indexOf("#");
  return [{ start: at, end: start + found.index + found[0].length, directive: true }];
}

/** `#` alone on its line is a directive that does nothing. The grammar has none, so it becomes a blank. */
export function withoutNullDirectives(text: string): string {
  return text.replace(/^[ \t]*#[ \t]*(?=\r?$)/gm, line => line.replace("#", " "));
}

function refused(found: readonly RegExpExecArray[]): ParseError[] {
  const errors: ParseError[] = [];
  /** For each `#if` around, whether its `#else` has come, and whether no compiler reads this part of it. */
  const open: { hasElse: boolean; isOff: boolean }[] = [];
  for (const { 1: lead = "", 2: name = "", 3: rest = "", index } of found) {
    const start = index + lead.indexOf("#");
    const error = { start, end: index + lead.length + name.length, directive: true } as const;
    const last = open.at(-1);
    if (!condition.test(name)) {
      const isRight = needsOperand.test(name) ? rest.trim() !== "" : known.test(name);
      if (!isRight && !open.some(({ isOff }) => isOff)) errors.push(error);
    } else if (name.startsWith("if"))
      open.push({ hasElse: false, isOff: name === "if" && /^\s*(?:0|false)\b/.test(rest) });
    else if (last === undefined || (name !== "endif" && last.hasElse)) errors.push(error);
    else if (name === "endif") open.pop();
    else Object.assign(last, { hasElse: name === "else", isOff: false });
  }
  return errors;
}
