// A change as the audit log has it: each path with the hash of what was there before and of what is there after, so
// that the log explains how one state of a tree became another.
import type { Archive } from "../engine/workspace/archive/archive.ts";
import type { RecordedFile } from "../engine/workspace/archive/log.ts";
import { listedIn, type Snapshot } from "../engine/workspace/archive/snapshot.ts";

/** Files of a directory that are listed one by one; of larger ones the hash of the listing stands for all. */
const mostEntries = 10_000;

export interface AuditedChange {
  readonly id: string;
  readonly undoes?: string;
  /** Directories that were made on the way. */
  readonly parents?: readonly string[];
  readonly files?: readonly AuditedFile[];
}

interface AuditedFile extends Pick<RecordedFile, "at" | "effect" | "kind" | "from"> {
  readonly before?: AuditedContent;
  readonly replaced?: AuditedContent;
  readonly after?: AuditedContent;
}

/** `sha256:` and a hash, `link:` and its target, or what is below a directory, by relative path. */
type AuditedContent = string | { readonly [path: string]: string };

export function auditedChange(archive: Archive, id: string): AuditedChange {
  const record = archive.changes.get(id);
  if (record === undefined) return { id };
  const content = (snapshot: Snapshot | undefined) => snapshot && contentOf(snapshot, archive);
  const { undoes, parents, files } = record;
  return {
    id,
    ...(undoes !== undefined && { undoes }),
    ...(parents.length > 0 && { parents }),
    files: files.map(({ at, effect, kind, from, before, replaced, after }) => ({
      at,
      effect,
      kind,
      from,
      before: content(before),
      replaced: content(replaced),
      after: content(after),
    })),
  };
}

function contentOf(snapshot: Snapshot, archive: Archive): AuditedContent {
  if (snapshot.kind !== "directory") return leafOf(snapshot);
  const entries: Record<string, string> = {};
  return collect(snapshot, "", archive, entries) ? entries : `directory:${snapshot.entries ?? ""}`;
}

/** False where there is too much, or it is not kept any more. */
function collect(
  directory: Snapshot,
  path: string,
  archive: Archive,
  entries: Record<string, string>,
): boolean {
  const listed = listedIn(directory, archive.objects);
  if (listed === undefined) return false;
  for (const entry of listed) {
    const at = `${path}${entry.name}`;
    if (Object.keys(entries).length >= mostEntries) return false;
    if (entry.kind !== "directory") entries[at] = leafOf(entry);
    else {
      entries[`${at}/`] = "directory";
      if (!collect(entry, `${at}/`, archive, entries)) return false;
    }
  }
  return true;
}

function leafOf(snapshot: Exclude<Snapshot, { kind: "directory" }>): string {
  if (snapshot.kind === "symlink") return `link:${snapshot.target}`;
  return snapshot.kind === "file" ? `sha256:${snapshot.hash ?? "unknown"}` : snapshot.kind;
}
