// Entries as listings show them: a mark for the kind, the path, and the size of files.
import type { Kind } from "../../engine/fault.ts";
import type { Sortable } from "../../engine/search/sort.ts";
import type { WalkEntry } from "../../engine/search/walker.ts";
import { humanSize } from "../../engine/text/size.ts";

export type EntryType = "file" | "directory" | "symlink" | "other";

export const entryTypes = ["file", "directory", "symlink", "other"] as const satisfies readonly EntryType[];

export interface ListedItem extends Sortable {
  readonly target?: string | undefined;
}

export function typeOf(kind: Kind): EntryType {
  return kind === "file" || kind === "directory" || kind === "symlink" ? kind : "other";
}

/** For entries of directories that can be read but not entered, and for entries that are gone. */
export function namesNote(count: number): string {
  return `Skipped: ${plural(count, "entry", "entries")} of which nothing but the name could be seen.`;
}

/** The walk's current entry with its attributes; undefined if it is gone, or only its name is visible. */
export function listed(entry: WalkEntry, { target = false } = {}): ListedItem | undefined {
  const stat = entry.stat();
  if (stat === undefined) return undefined;
  const { path, name, kind } = entry;
  const { size, modified } = stat;
  return { path, name, kind, size, modified, target: target ? entry.target() : undefined };
}

export function line(path: string, { kind, size, target }: ListedItem): string {
  switch (typeOf(kind)) {
    case "file":
      return `[FILE] ${path} (${humanSize(size)})`;
    case "directory":
      return `[DIR] ${path}`;
    case "symlink":
      return `[LINK] ${path}${target === undefined ? "" : ` -> ${target}`}`;
    case "other":
      return `[OTHER] ${path}`;
  }
}

/** Why something is missing, as the last lines of a text. */
export function withNotes(lines: readonly string[], notes: readonly (string | false)[]): string {
  const said = notes.filter(note => note !== false);
  return [...lines, ...(said.length > 0 ? ["", ...said] : [])].join("\n");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
