// The kinds of symbols that a name of PHP refers to. Functions, classes and constants have separate namespaces there,
// so one name can be all three, and only the syntax around a use shows which. If a name has several kinds, no use is
// certain.
import type { NameUse } from "./thread/messages.ts";

type PhpKind = "function" | "class" | "constant" | "other";

/** Whether the uses of a name in a file may refer to several symbols. Ignores variables and members. */
export function isSharedInPhp(uses: readonly NameUse[], text: string, name: string): boolean {
  const kinds = new Set<PhpKind>();
  let declared = 0;
  for (const { start, binds } of uses) {
    const before = text.slice(Math.max(0, start - 60), start);
    if (/(\$|->|::)\s*$/.test(before)) continue;
    const kind = kindOf(before, text.slice(start + name.length, start + name.length + 60));
    kinds.add(kind);
    if (binds) declared++;
  }
  // A type in a signature is only a name, as a constant is; a function never is.
  const certain = [...kinds].filter(kind => kind !== "other").length;
  return declared > 1 || certain > 1 || (kinds.has("function") && kinds.has("other"));
}

function kindOf(before: string, after: string): PhpKind {
  if (/\bfunction\s+&?\s*$/i.test(before)) return "function";
  const isClass = /\b(class|interface|trait|enum|new|extends|implements|instanceof)\s+\\?$/i;
  if (isClass.test(before) || /^\s*::/.test(after)) return "class";
  if (/^\s*=(?![=>])/.test(after)) return "constant";
  return /^\s*\(/.test(after) ? "function" : "other";
}
