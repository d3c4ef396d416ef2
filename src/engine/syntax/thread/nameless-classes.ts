// `export default abstract class { … }`: the grammars of TypeScript want a name after `abstract class`. Without the
// modifier they read it, with its abstract members.

const nameless =
  /\bexport\s+default\s+(?:@[\w.]+(?:\([^()]*\))?\s+)*abstract(?=\s+class\s*(?:[{<]|(?:extends|implements)\b))/g;

/** The same text with blanks for the modifier. */
export function withNamelessClasses(text: string): string {
  if (!text.includes("abstract")) return text;
  return text.replace(nameless, found => found.slice(0, -"abstract".length) + " ".repeat("abstract".length));
}
