// What to colour in parts of a text. Nothing where the language is not known, or the text is too large.
import { languageOf, parsedPart } from "./language.ts";
import type { SyntaxSpan } from "./thread/messages.ts";
import { ask } from "./thread/thread.ts";

const maxLength = 1_000_000;
const maxMs = 500;

/** `parts` are offsets in pairs, in order; spans may begin before a part and end after it. */
export async function spansOf(
  path: string,
  text: string,
  parts: readonly number[],
): Promise<readonly SyntaxSpan[]> {
  const language = languageOf(path, text);
  if (language === undefined || text.length > maxLength || parts.length === 0) return [];
  const found = await ask({
    grammar: language.grammar,
    text: parsedPart(text, language),
    maxMs,
    spans: parts,
  });
  return found?.spans ?? [];
}
