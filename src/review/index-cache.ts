// The index of changes as one file: ten thousand changes are ten thousand small files, and a page must load at once. A
// record never changes, so what was read once holds; ids decide which of it still counts.
import type { StateFolder } from "../host/state-folder.ts";
import type { ChangeEntry } from "./change-entry.ts";

const file = "index.json";
const format = 1;

type CachedRow = readonly [
  id: string,
  time: number,
  tool: string,
  client: string,
  connection: string | null,
  trace: string | null,
  undoes: string | null,
  partial: boolean,
  paths: readonly string[],
];

export function cachedEntries(folder: StateFolder | undefined): Map<string, ChangeEntry> {
  const found = new Map<string, ChangeEntry>();
  const content = folder?.readJson(file) as { format?: unknown; rows?: unknown } | undefined;
  if (content?.format !== format || !Array.isArray(content.rows)) return found;
  for (const row of content.rows as readonly CachedRow[]) {
    const [id, time, tool, client, connection, trace, undoes, partial, paths] = row;
    found.set(id, {
      id,
      time,
      tool,
      client,
      connection: connection ?? undefined,
      trace: trace ?? undefined,
      undoes: undoes ?? undefined,
      partial,
      paths,
    });
  }
  return found;
}

/** Without a cache, the next page reads the records again. */
export function cacheEntries(folder: StateFolder | undefined, entries: readonly ChangeEntry[]): void {
  const rows = entries.map(
    (one): CachedRow => [
      one.id,
      one.time,
      one.tool,
      one.client,
      one.connection ?? null,
      one.trace ?? null,
      one.undoes ?? null,
      one.partial,
      one.paths,
    ],
  );
  try {
    folder?.write(file, JSON.stringify({ format, rows }));
  } catch {
    // As above.
  }
}
