// Syntax errors that a change introduced. Only new ones count: a grammar that lacks the newest syntax, or a file that
// was incomplete before, causes no report.
import { LineIndex } from "../text/lines.ts";
import { type Language, languageOf } from "./language.ts";
import { parse, type Syntax } from "./parse.ts";
import { isLarge } from "./thread/large.ts";
import type { ParseError } from "./thread/messages.ts";

export interface NewError {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly text: string;
  /** What the parser expected here, if known. */
  readonly missing?: string | undefined;
}

/**
 * Processor time that the answer to an edit waits for each of two large texts: some 7,000 lines. Parsing goes on to the
 * end, so that the next edit's errors are known.
 */
const answerMs = 250;
/** The same for smaller texts, which need more than half of it only if hardly anything parses. */
const maxMs = 500;

/** A file that was edited is often edited again. */
const checked = { rules: true, keep: true } as const;

/** The errors in `after` that were not in `before`, which is undefined for a new file. */
export async function newErrors(
  path: string,
  before: string | undefined,
  after: string,
  patienceMs = answerMs,
): Promise<readonly NewError[]> {
  const language = languageOf(path, after);
  if (language === undefined || before === after) return [];
  const optionsFor = (text: string) =>
    isLarge(text) ? { ...checked, hurry: { file: path, answerMs: patienceMs } } : { ...checked, maxMs };
  const errorsIn = async (text: string, withoutMacros = false) =>
    parse(text, languageOf(path, text) ?? language, { ...optionsFor(text), withoutMacros });
  let made = await errorsIn(after);
  if (made === undefined || made.errors.length === 0) return [];
  let was = before === undefined ? undefined : await errorsIn(before);
  if (language.grammar === "cpp" && !isLarge(after) && mayHaveMacros(before, after, was)) {
    const [wasPlain, plain] = [
      before === undefined ? undefined : await errorsIn(before, true),
      await errorsIn(after, true),
    ];
    // Of two readings, the one with fewer errors is nearer to what the preprocessor makes of the file.
    if (plain !== undefined && (wasPlain ?? plain).errors.length < (was ?? made).errors.length)
      [was, made] = [wasPlain && withBracketsOf(was, wasPlain), withBracketsOf(made, plain)];
    else if (before !== undefined && was?.errors.length === 0 && plain?.errors.length === 0) return [];
  }
  if (before !== undefined && (was === undefined || was.doubtful)) return [];
  if (before === undefined && made.doubtful) return [];
  return new ErrorComparison(before ?? "", after, language).fresh(was?.errors ?? [], made.errors);
}

/** Brackets count in macros, too, of which the other reading has none. */
function withBracketsOf(whole: Syntax | undefined, plain: Syntax): Syntax {
  const brackets = whole?.errors.filter(({ bracket }) => bracket) ?? [];
  return { ...plain, errors: [...plain.errors.filter(({ bracket }) => !bracket), ...brackets] };
}

/** Whether macros may be why the grammar cannot read a text of C or C++: it could not before, or there are new ones. */
function mayHaveMacros(before: string | undefined, after: string, was: Syntax | undefined): boolean {
  if (before === undefined || (was?.errors.length ?? 0) > 0) return true;
  const known = new Set(before.match(inCapitals));
  return (after.match(inCapitals) ?? []).some(word => !known.has(word));
}

const inCapitals = /\b_*[A-Z][A-Z0-9_]{2,}\b/g;

class ErrorComparison {
  readonly #before: LineIndex;
  readonly #after: LineIndex;
  readonly #texts: readonly [before: string, after: string];
  readonly #language: Language;
  /** How much is the same at the start and at the end. */
  readonly #head: number;
  readonly #tail: number;

  constructor(before: string, after: string, language: Language) {
    this.#before = new LineIndex(before);
    this.#after = new LineIndex(after);
    this.#texts = [before, after];
    this.#language = language;
    const shorter = Math.min(before.length, after.length);
    let head = 0;
    while (head < shorter && before.charCodeAt(head) === after.charCodeAt(head)) head++;
    let tail = 0;
    while (
      tail < shorter - head &&
      before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
    )
      tail++;
    this.#head = head;
    this.#tail = tail;
  }

  fresh(old: readonly ParseError[], made: readonly ParseError[]): NewError[] {
    const known = new Map<string, number>();
    for (const error of old) {
      const key = this.#key(error, 0);
      known.set(key, (known.get(key) ?? 0) + 1);
    }
    const broken = old.map(({ start, end }) => ({ start: this.#moved(start), end: this.#moved(end) }));
    const found = new Map<string, NewError>();
    const brackets = made.filter(({ bracket }) => bracket);
    for (const error of made) {
      if (error.bracket) continue;
      const key = this.#key(error, 1);
      const left = known.get(key) ?? 0;
      if (left > 0) known.set(key, left - 1);
      else if (
        error.directive ||
        !broken.some(({ start, end }) => error.start >= start && error.end <= end)
      ) {
        const told = this.#told(error);
        if (told !== undefined && !found.has(`${told.line}`)) found.set(`${told.line}`, told);
      }
    }
    if (found.size === 0 && !old.some(({ bracket }) => bracket))
      return brackets.map(one => this.#at(one.start));
    return [...found.values()];
  }

  /** An error is the same if it has the same kind, on a line with the same text. */
  #key({ start, missing = "" }: ParseError, side: 0 | 1): string {
    const index = side === 0 ? this.#before : this.#after;
    const line = index.lineAt(start);
    return `${missing} ${this.#texts[side].slice(index.start(line), index.end(line)).trim()}`;
  }

  /** Where an offset of the old text is in the new one; inside the change, at its end. */
  #moved(offset: number): number {
    const [before, after] = this.#texts;
    if (offset <= this.#head) return offset;
    return Math.max(offset, before.length - this.#tail) + after.length - before.length;
  }

  #told({ start, end, missing, directive }: ParseError): NewError | undefined {
    if (directive) return this.#at(start);
    const [, after] = this.#texts;
    // The parser gives up on everything around an error, which may begin far above: the error is in the changed part.
    let at = start < this.#head && end >= this.#head ? this.#head : start;
    while (at < end && /\s/.test(after[at] ?? "")) at++;
    const told = this.#at(at);
    if (this.#language.name === "c" && onlyInCpp.test(told.text)) return undefined;
    return { ...told, missing };
  }

  #at(offset: number): NewError {
    const line = this.#after.lineAt(offset);
    const start = this.#after.start(line);
    return { line, column: offset - start + 1, text: this.#texts[1].slice(start, this.#after.end(line)) };
  }
}

/** Names in C, keywords for the grammar that reads it. */
const onlyInCpp =
  /\b(class|new|delete|template|this|private|public|protected|namespace|try|catch|throw|using|operator|virtual|typename|friend|and|or|not|xor|export|mutable|explicit|requires|concept|module|import)\b/;
