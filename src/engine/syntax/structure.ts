// The declarations of a file with their lines and full names, from the grammar of its language or, without one, from
// headings and indentation.

import { LineIndex } from "../text/lines.ts";
import { blocksOf } from "./blocks.ts";
import type { Declared } from "./declared.ts";
import { languageOf } from "./language.ts";
import { parse } from "./parse.ts";
import type { RawDeclaration, SymbolKind } from "./thread/messages.ts";

export interface Structure {
  readonly declared: readonly Declared[];
  /** False if it comes from the text alone. */
  readonly known: boolean;
  /** There is a grammar, but the text is too large, or takes too long to parse. */
  readonly unparsed?: boolean;
  /** The text has more of them than are kept. */
  readonly cut?: boolean;
}

/** `keep`: the file may be edited next. */
export async function structureOf(path: string, text: string, keep = true): Promise<Structure> {
  const language = languageOf(path, text);
  const found = language && (await parse(text, language, { declarations: true, keep }));
  if (found === undefined || (found.doubtful && found.errors.length > found.declarations.length)) {
    const unparsed = language !== undefined && found === undefined;
    return { ...(await blocksOf(path, text)), known: false, ...(unparsed && { unparsed }) };
  }
  return { declared: qualified(found.declarations, new LineIndex(text)), known: true };
}

const functions: ReadonlySet<SymbolKind> = new Set(["function", "method", "constructor"]);

function qualified(declarations: readonly RawDeclaration[], index: LineIndex): Declared[] {
  const made: Declared[] = [];
  for (const one of declarations) {
    const parent = made[one.parent];
    const isLocal = parent !== undefined && (parent.local || functions.has(parent.kind));
    made.push({
      kind: one.kind,
      name: parent === undefined ? one.name : `${parent.name}.${one.name}`,
      depth: parent === undefined ? 0 : parent.depth + 1,
      top: index.lineAt(one.top),
      from: index.lineAt(one.start),
      to: index.lineAt(Math.max(one.start, one.end - 1)),
      topStart: one.top,
      start: one.start,
      bare: one.bare,
      end: one.end,
      nameStart: one.nameStart,
      nameEnd: one.nameEnd,
      head: one.head,
      local: isLocal,
    });
  }
  return made;
}
