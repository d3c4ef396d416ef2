// The symbol to rename, as a caller names it: `name`, or one of several of that name as `file#name`,
// `file#Class.name`, `file:line#name` or `file:line:column#name`.
import type { CallContext } from "../../contract/context.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { declaredName } from "../../engine/syntax/declared-name.ts";
import type { Choice, DeclaredName } from "../../engine/syntax/rename.ts";
import { structureOf } from "../../engine/syntax/structure.ts";
import { byOwnName } from "../../engine/syntax/symbols.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import type { Text } from "../../engine/text/text.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import { refused } from "./failure.ts";
import { pathAt } from "./paths.ts";
import { wholeName } from "./queried-name.ts";

export interface NameInFile {
  readonly path: WorkspacePath;
  /** Its canonical path. */
  readonly canonical: string;
  readonly text: Text;
}

export interface SymbolName {
  readonly name: string;
  readonly at?: Declaration;
}

interface Declaration {
  /** The canonical path of its file, and the path as it was written. */
  readonly file: string;
  readonly given: string;
  /** With its class: `Class.name`. */
  readonly full: string;
  readonly line?: number;
  readonly column?: number;
}

const mostNamed = 30;

export function symbolNameOf(written: string, call: CallContext): SymbolName {
  const found = /^(.+?)(?::(\d+)(?::(\d+))?)?#([^#]+)$/s.exec(written);
  if (found === null) return { name: written };
  const [, given = "", line, column, full = ""] = found;
  const file = call.workspace.locate(pathAt(call, given)).path;
  const at = {
    file,
    given,
    full,
    ...(line !== undefined && { line: Number(line) }),
    ...(column !== undefined && { column: Number(column) }),
  };
  return { name: full.slice(full.lastIndexOf(".") + 1), at };
}

/** Faults, when it chooses: `unknown_symbol`, `ambiguous_symbol`. */
export async function choiceOf(files: readonly NameInFile[], at: Declaration, name: string): Promise<Choice> {
  const index = files.findIndex(({ canonical }) => canonical === at.file);
  const file = files[index];
  if (file === undefined)
    throw refused(
      `${printable(at.given)} is not one of paths, or has no ${name}`,
      "Add the file that declares it to paths.",
    );
  const { body } = file.text;
  const lines = new LineIndex(body);
  const starts = await declaredAs(file, at.full);
  const isThere = (start: number) => {
    const line = lines.lineAt(start);
    if (at.line !== undefined && line !== at.line) return false;
    return at.column === undefined || start - lines.start(line) + 1 === at.column;
  };
  const inTheWay = (what: string) =>
    refused(
      `the uses of ${at.full} in ${file.path.given} cannot be distinguished from those of ${what}`,
      `Rename it with edit_file, place by place, or all of them with match: regex, old: ${wholeName(name)}`,
    );
  return declared => {
    const inFile = declared.filter(one => one.file === index);
    const fitting = inFile.filter(({ start }) => isThere(start) && (at.full === name || starts.has(start)));
    const outer = at.line === undefined ? fitting.filter(({ top }) => top) : [];
    const best = outer.length > 0 ? outer : fitting;
    const [chosen] = best;
    if (chosen === undefined && [...starts].some(isThere)) throw inTheWay(`other members named ${name}`);
    if (chosen === undefined)
      throw new Fault("unknown_symbol", { path: at.given, symbol: at.full, nearest: [] });
    if (!chosen.distinct) throw inTheWay(`another ${name} there`);
    if (best.length > 1 && !isOneSymbol(best)) throw severalDeclared(files, name, best);
    return chosen;
  };
}

/** Where the file declares this full name. */
async function declaredAs({ path, text }: NameInFile, full: string): Promise<ReadonlySet<number>> {
  const { declared } = await structureOf(path.absolute, text.body);
  const names = [full, declaredName(full)];
  const named = declared.filter(one => names.some(name => `.${one.name}`.endsWith(`.${name}`)));
  const fitting = named.length > 0 ? named : byOwnName(declared, full);
  return new Set(fitting.map(({ nameStart }) => nameStart));
}

function isOneSymbol(declared: readonly DeclaredName[]): boolean {
  return new Set(declared.map(({ symbol }) => symbol)).size === 1;
}

/** The refusal to choose, with a notation for each that `old` takes. */
export function severalDeclared(
  files: readonly NameInFile[],
  symbol: string,
  declared: readonly DeclaredName[],
): Fault<"ambiguous_symbol"> {
  const places = declared.map(one => {
    const { text, path } = files[one.file] ?? {};
    const lines = new LineIndex(text?.body ?? "");
    const line = lines.lineAt(one.start);
    return { ...one, path: path?.given ?? "", line, column: one.start - lines.start(line) + 1 };
  });
  const candidates = places.slice(0, mostNamed).map(one => {
    const inFile = places.filter(other => other.file === one.file);
    const isOnly = inFile.filter(({ top }) => top || !one.top).length === 1;
    const onLine = inFile.filter(({ line }) => line === one.line).length;
    const place = isOnly ? "" : onLine === 1 ? `:${one.line}` : `:${one.line}:${one.column}`;
    const notation = one.distinct ? { notation: `${one.path}${place}#${symbol}` } : {};
    return { name: symbol, path: one.path, from: one.line, to: one.line, ...notation };
  });
  const path = counted(new Set(places.map(one => one.path)).size, "file");
  return new Fault("ambiguous_symbol", { path, symbol, candidates, count: places.length });
}
