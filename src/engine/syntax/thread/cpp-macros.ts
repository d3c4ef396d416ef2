// C and C++ without macros that stand where the language has no place for an expression: attributes and specifiers,
// `API_EXPORT void f()`, and whole lines, `BEGIN_NAMESPACE`. The grammar cannot read those, and then hardly reads the
// rest. By convention such names are in capitals. Everything keeps its place: macros become blanks.
import { type CppToken, cppTokens } from "./cpp-tokens.ts";

const macro = /^_*[A-Z][A-Z0-9_]{2,}$/;
/** Macros of compilers and libraries, which act as requirements. */
const reserved = /^__\w+$/;
const word = /^[A-Za-z_$]/;
const specifier =
  /^(inline|static|constexpr|const|virtual|explicit|friend|typedef|extern|noexcept|override)$/;
const startOfType =
  /^(inline|static|constexpr|explicit|virtual|void|int|bool|char|auto|operator|struct|class|enum|typename|template|using|namespace|friend|extern|const|unsigned|public|private|protected)$/;

export function withoutMacros(text: string): string {
  const tokens = cppTokens(text);
  let made = "";
  let done = 0;
  const replace = (start: number, end: number, by: (part: string) => string) => {
    made += text.slice(done, start) + by(text.slice(start, end));
    done = end;
  };
  let before = -1; // the last token that stays
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined) break;
    const last = closingOf(tokens, i);
    if (token.text === "template" && last > i) {
      // `template(typename T)(requires C<T>)`: concepts by macros, for compilers that have none.
      replace(tokens[i + 1]?.start ?? 0, tokens[i + 1]?.end ?? 0, () => "<");
      replace(tokens[last]?.start ?? 0, tokens[last]?.end ?? 0, () => ">");
      const end = closingOf(tokens, last);
      if (end > last) replace(tokens[last + 1]?.start ?? 0, tokens[end]?.end ?? 0, blank);
      i = before = end;
      continue;
    }
    const use = { tokens, first: i, last, before: tokens[before]?.text ?? "" };
    const isReserved = reserved.test(token.text) && last > i && /^[;{}:]$/.test(use.before);
    if (macro.test(token.text) || (isReserved && isAlone(text, use))) {
      if (isOutOfPlace(text, use)) {
        replace(token.start, tokens[last]?.end ?? token.end, blank);
        i = last;
        continue;
      }
      // `if CONSTEXPR (…)`, and `NAME(f)(int a)`, which is a name itself.
      if (use.before === "if" && last > i) replace(token.start, token.end, blank);
      if (last === i + 3 && tokens[last + 1]?.text === "(") {
        replace(token.start, tokens[last]?.end ?? 0, part => part.replace(/[^\w\n]/g, "_"));
        i = last;
      }
    }
    before = i;
  }
  return withoutIncludeChecks(made + text.slice(done));
}

/** A macro with its arguments, and the token that would come before it without macros. */
interface MacroUse {
  readonly tokens: readonly CppToken[];
  readonly first: number;
  readonly last: number;
  readonly before: string;
}

function isOutOfPlace(text: string, use: MacroUse): boolean {
  const { tokens, first, last, before } = use;
  const [next = "", then = ""] = [tokens[last + 1]?.text, tokens[last + 2]?.text];
  const hasArguments = last > first;
  if (isAlone(text, use) && (/^[;{})>:]?$/.test(before) || specifier.test(before)))
    // `NAME(int a)` before a block is a function.
    return next === "{" && hasArguments
      ? before === ")" || /^(const|noexcept|override)$/.test(before)
      : !/^(\.|->|[;,?=+*/|&<>-])$/.test(next);
  if (/^(class|struct|union|enum)$/.test(before)) return word.test(next) || next === "[";
  if (tokens[first - 2]?.text === "namespace" && next === "{") return true;
  if (before === "}" && next === ";") return true;
  const isBehindFunction = before === ")" || specifier.test(before);
  if (isBehindFunction && (/^[{=:]$/.test(next) || specifier.test(next))) return true;
  if (isBehindFunction && !hasArguments && next === ";") return true;
  if (!word.test(next) && next !== "~" && next !== "[") return false;
  if (hasArguments) return /^[;{}>:(,]?$|^else$/.test(before) || specifier.test(before);
  if (/^(\.|->|::|=|return)$/.test(before)) return false;
  // `NAME x;` declares a variable of that type.
  const isVariable = /^[;=,)[({:]$/.test(then) && !startOfType.test(next);
  return !isVariable || (then === "(" && /^[;{}]$/.test(before));
}

/** Whether a macro has its lines for itself. */
function isAlone(text: string, { tokens, first, last }: MacroUse): boolean {
  const isFirst = (i: number) => {
    const token = tokens[i];
    const line = token === undefined ? 0 : text.lastIndexOf("\n", token.start - 1) + 1;
    return token === undefined || (tokens[i - 1]?.end ?? 0) <= line;
  };
  return isFirst(first) && isFirst(last + 1);
}

/** The index of the parenthesis that ends the arguments after a token; its own if there are none. */
function closingOf(tokens: readonly CppToken[], at: number): number {
  if (tokens[at + 1]?.text !== "(") return at;
  let depth = 0;
  for (let i = at + 1; i < tokens.length; i++) {
    const text = tokens[i]?.text ?? "";
    if (text === "(") depth++;
    else if (text === ")" && --depth === 0) return i;
    else if (/^[{};]$/.test(text)) return at;
  }
  return at;
}

/** `#if HAS_INCLUDE(<file>)`: the grammar knows no such argument. */
function withoutIncludeChecks(text: string): string {
  return text.replace(/^[ \t]*#[ \t]*(?:el)?if\b[^\n]*/gm, line =>
    line.replace(/\(\s*(?:<[\w./+-]+>|"[\w./+-]+")\s*\)/g, part => `(${"1".padEnd(part.length - 2)})`),
  );
}

function blank(part: string): string {
  return part.replace(/[^\n]/g, " ");
}
