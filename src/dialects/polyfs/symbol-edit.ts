// Replacing a declaration by its name: which lines that means, and how the new text is indented there. Comments and
// decorators above it stay if the new text has none.

import type { LinesEdit } from "../../engine/edit/edits.ts";
import type { Declared } from "../../engine/syntax/declared.ts";
import { type Structure, structureOf } from "../../engine/syntax/structure.ts";
import { symbolIn } from "../../engine/syntax/symbols.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import type { Text } from "../../engine/text/text.ts";

export interface SymbolEdit {
  readonly kind: "symbol";
  readonly symbol: string;
  readonly new: string;
}

/** The same edits with symbols as lines of this file. */
export async function withSymbolsAsLines<E>(
  edits: readonly (E | SymbolEdit)[],
  file: Text,
): Promise<(E | LinesEdit)[]> {
  if (!edits.some(isSymbolEdit)) return edits as E[];
  const structure = await structureOf(file.path, file.body);
  return edits.map(edit => (isSymbolEdit(edit) ? linesFor(edit, file, structure) : edit));
}

function isSymbolEdit(edit: unknown): edit is SymbolEdit {
  return (edit as SymbolEdit).kind === "symbol";
}

function linesFor({ symbol, new: added }: SymbolEdit, file: Text, structure: Structure): LinesEdit {
  const found = symbolIn(structure, file.path, symbol);
  const { body } = file;
  const index = new LineIndex(body);
  const from = index.lineAt(startOf(found, added, body));
  const { to } = found;
  if (added.trim() === "") return { kind: "lines", from: found.top, to, new: "" };
  const start = Math.max(index.start(from), from === found.from ? found.start : index.start(from));
  const before = body.slice(index.start(from), start);
  const behind = body.slice(found.end, index.end(to));
  const text =
    before.trim() === "" && behind.trim() === ""
      ? indentedLike(before || indentAt(body, index.start(from)), added)
      : before + added + behind;
  return { kind: "lines", from, to, new: text };
}

/** The start of the part that the new text replaces. */
function startOf({ topStart, start, bare }: Declared, added: string, body: string): number {
  const opening = added.trimStart();
  if (/^(\/\/|\/\*|#(?!\[|include|define|if|pragma|!)|--|"""|'''|;)/.test(opening)) return topStart;
  if (!/^(@|#\[)/.test(opening)) return Math.max(bare, Math.min(start, bare));
  const lead = body.slice(topStart, bare);
  const decorator = /^[ \t]*(?:@|#\[)/m.exec(lead);
  return decorator === null ? bare : topStart + decorator.index;
}

function indentAt(body: string, at: number): string {
  return /^[ \t]*/.exec(body.slice(at, at + 500))?.[0] ?? "";
}

/** The new text at the indentation of its place: all of it if it has none, the first line if only that lacks it. */
function indentedLike(indent: string, added: string): string {
  const lines = added.replace(/\n+$/, "").split("\n");
  const [first = "", ...rest] = lines;
  if (indent === "" || first.startsWith(indent)) return lines.join("\n");
  const used = rest.filter(line => line.trim() !== "");
  const restHasIt = used.length > 0 && used.every(line => line.startsWith(indent));
  const lacking = /^\s/.test(first) ? first.trimStart() : first;
  if (restHasIt) return [indent + lacking, ...rest].join("\n");
  return [indent + lacking, ...rest.map(line => (line.trim() === "" ? line : indent + line))].join("\n");
}
