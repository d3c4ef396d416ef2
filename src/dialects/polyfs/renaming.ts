// `match: name`: renames one symbol across files, and lists occurrences of the name that may be something else.
import type { TextOf } from "../../engine/syntax/python-modules.ts";
import { type NamedUses, usesInFiles } from "../../engine/syntax/rename.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { rewrite, type Text } from "../../engine/text/text.ts";
import { counted, shownLine } from "./answer.ts";
import { refused } from "./failure.ts";
import { wholeName } from "./queried-name.ts";
import { choiceOf, type NameInFile, type SymbolName, severalDeclared } from "./symbol-name.ts";

const identifier = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const mostListed = 50;

export interface Renamed {
  /** In the order of the files; undefined if nothing is certain. */
  readonly after: readonly ({ readonly text: Text; readonly count: number } | undefined)[];
  readonly notes: readonly string[];
}

export function refuseNoName(old: string, added: string): void {
  for (const name of [old, added]) {
    if (!identifier.test(name))
      throw refused(
        `${JSON.stringify(name)} is not a name`,
        "match: name takes one identifier for new, and for old one identifier or file#name.",
      );
  }
}

/** Faults: `ambiguous_symbol` where several things have the name. */
export async function renamed(
  files: readonly NameInFile[],
  { name: old, at }: SymbolName,
  added: string,
  textOf: TextOf,
): Promise<Renamed> {
  const named = files.map(({ path, text }) => ({ path: path.absolute, text: text.body }));
  const choose = at && (await choiceOf(files, at, old));
  const uses = await usesInFiles(named, old, choose, textOf);
  if (at === undefined && uses.declared.length > 1) throw severalDeclared(files, old, uses.declared);
  const after = files.map(({ text }, i) => {
    const places = uses.sure[i] ?? [];
    if (places.length === 0) return undefined;
    const splices = places.map(({ start, shorthand }) => ({
      start,
      end: start + old.length,
      text: shorthand ? `${old}: ${added}` : added,
    }));
    return { text: rewrite(text, splices), count: places.length };
  });
  const notes = [...overriding(old, uses), ...unsureLines(files, old, uses), ...taken(files, after, added)];
  return { after, notes };
}

function overriding(old: string, { heirs }: NamedUses): string[] {
  const all = heirs.map(({ name, bases }) => `[${name}.${old} may override a member of ${bases.join(", ")}]`);
  return [...new Set(all)].slice(0, 20);
}

function unsureLines(files: readonly NameInFile[], old: string, { unsure }: NamedUses): string[] {
  const lines: string[] = [];
  const total = unsure.reduce((sum, list) => sum + list.length, 0);
  if (total === 0) return lines;
  lines.push(`[${counted(total, "place")} left alone, which may refer to something else of that name:]`);
  for (const [i, starts] of unsure.entries()) {
    const { path, text } = files[i] ?? {};
    if (path === undefined || text === undefined) continue;
    const index = new LineIndex(text.body);
    for (const line of new Set(starts.map(start => index.lineAt(start)))) {
      if (lines.length > mostListed) continue;
      const shown = shownLine(text.body.slice(index.start(line), index.end(line)).trim());
      lines.push(`${path.given}:${line}: ${shown.slice(0, 200)}`);
    }
  }
  const listed = lines.length - 1;
  if (listed >= mostListed) lines.push("[and more: search_text with kind: reference lists them]");
  lines.push(`[to rename these too: match: regex, old: ${wholeName(old)}, with paths limited to them]`);
  return lines;
}

/** Files that already use the new name: two symbols would become one. */
function taken(files: readonly NameInFile[], after: Renamed["after"], added: string): string[] {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${added.replaceAll("$", "\\$")}(?![\\p{L}\\p{N}_$])`, "u");
  const names = files.filter(({ text }, i) => after[i] !== undefined && word.test(text.body));
  if (names.length === 0) return [];
  const some = names.slice(0, 5).map(({ path }) => path.given);
  return [`[${added} was in use before in ${some.join(", ")}${names.length > 5 ? ", …" : ""}]`];
}
