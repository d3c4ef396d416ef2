// A change in the audit log: each path with the hash of its content before and after, so that the log explains how
// one state of a tree became another. For a file that a rule hides or masks, the hash is left out: a short secret
// could be found by hashing guesses.
import type { RecordedFile } from "../engine/workspace/archive/log.ts";
import { listedIn, type Snapshot } from "../engine/workspace/archive/snapshot.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";

/** Files of a directory that are listed individually; for more, the hash of the listing stands for all. */
const mostEntries = 10_000;

export interface AuditedChange {
  readonly id: string;
  readonly undoes?: string;
  /** Parent directories that were created. */
  readonly parents?: readonly string[];
  readonly files?: readonly AuditedFile[];
}

interface AuditedFile extends Pick<RecordedFile, "at" | "effect" | "kind" | "from"> {
  readonly before?: AuditedContent;
  readonly replaced?: AuditedContent;
  readonly after?: AuditedContent;
}

/** `sha256:` and a hash, `link:` and its target, or the content of a directory by relative path; `withheld`. */
type AuditedContent = string | { readonly [path: string]: string };

export function auditedChange(workspace: Workspace, id: string): AuditedChange {
  const record = workspace.archive.changes.get(id);
  if (record === undefined) return { id };
  const content = (snapshot: Snapshot | undefined, at: string) =>
    snapshot && contentOf(snapshot, at, workspace);
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
      before: content(before, from ?? at),
      replaced: content(replaced, at),
      after: content(after, at),
    })),
  };
}

function contentOf(snapshot: Snapshot, at: string, workspace: Workspace): AuditedContent {
  if (snapshot.kind !== "directory") return leafOf(snapshot, at, workspace);
  // Without a listing, only the directory itself: its contents have their own entries.
  if (snapshot.entries === undefined) return "directory";
  const entries = Object.create(null) as Record<string, string>; // a file may be named __proto__
  if (collect(snapshot, "", at, workspace, entries)) return entries;
  // The hash of a listing depends on the hashes of the files below.
  return workspace.hasRules ? withheld : `directory:${snapshot.entries}`;
}

/** False if there is too much, or it is no longer kept. */
function collect(
  directory: Snapshot,
  path: string,
  top: string,
  workspace: Workspace,
  entries: Record<string, string>,
): boolean {
  const listed = listedIn(directory, workspace.archive.objects);
  if (listed === undefined) return false;
  for (const entry of listed) {
    const at = `${path}${entry.name}`;
    if (Object.keys(entries).length >= mostEntries) return false;
    if (entry.kind !== "directory") entries[at] = leafOf(entry, `${top}/${at}`, workspace);
    else {
      entries[`${at}/`] = "directory";
      if (!collect(entry, `${at}/`, top, workspace, entries)) return false;
    }
  }
  return true;
}

const withheld = "withheld";

function leafOf(
  snapshot: Exclude<Snapshot, { kind: "directory" }>,
  at: string,
  workspace: Workspace,
): string {
  if (snapshot.kind === "symlink") return `link:${snapshot.target}`;
  if (snapshot.kind !== "file") return snapshot.kind;
  return workspace.isShownWhole(at) ? `sha256:${snapshot.hash ?? "unknown"}` : withheld;
}
