// Text and language in, structure out: declarations, what does not parse, and what is at an offset. Answers may be
// absent: a text that is too large or takes too long is treated as one whose language is not known.
import type { Language } from "./language.ts";
import { parsedPart } from "./language.ts";
import type { Hurry, NodeKind, ParseError, RawDeclaration } from "./thread/messages.ts";
import { ask } from "./thread/thread.ts";

/** Larger ones are data or generated. */
const maxLength = 1_500_000;
/** Texts of more bytes are larger in every encoding. */
export const maxParsedBytes = 3 * maxLength;
const maxMs = 2000;

/** Whether a text is not parsed because of its length. */
export function isTooLong(text: string): boolean {
  return text.length > maxLength;
}

export interface Syntax {
  /** So much does not parse that the text is hardly in this language. */
  readonly doubtful: boolean;
  readonly errors: readonly ParseError[];
  /** In the order of the text; a declaration comes before those in it. */
  readonly declarations: readonly RawDeclaration[];
  /** One for each requested offset. */
  readonly kinds: readonly NodeKind[];
}

export interface ParseOptions {
  readonly declarations?: boolean;
  /** Report also what a grammar accepts and its language does not. */
  readonly rules?: boolean;
  /** Read C and C++ as if macros that stand for no expression were not there. */
  readonly withoutMacros?: boolean;
  /** This text, or one much like it, may be parsed next. */
  readonly keep?: boolean;
  readonly at?: readonly number[];
  readonly maxMs?: number;
  readonly hurry?: Hurry;
}

/** Resolves to undefined if the text could not be parsed. */
export async function parse(
  text: string,
  language: Language,
  options: ParseOptions = {},
): Promise<Syntax | undefined> {
  if (isTooLong(text)) return undefined;
  const { declarations, rules, withoutMacros, keep, at, hurry } = options;
  const found = await ask({
    grammar: language.grammar,
    text: parsedPart(text, language),
    maxMs: options.maxMs ?? maxMs,
    hurry,
    declarations,
    rules,
    withoutMacros,
    keep,
    at,
  });
  return (
    found && {
      doubtful: isDoubtful(text, found.errors),
      errors: found.errors,
      declarations: found.declarations ?? [],
      kinds: found.kinds ?? [],
    }
  );
}

function isDoubtful(text: string, errors: readonly ParseError[]): boolean {
  if (errors.length < 20) return false;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return errors.length > lines / 3;
}
