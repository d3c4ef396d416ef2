// A change in the audit log: each path with the hash of its content before and after, so that the log explains how
// one state of a tree became another. For a file that a rule hides or masks, the hash is left out: a short secret
// could be found by hashing guesses.
import type { RecordedFile } from "../engine/workspace/archive/log.ts";
import { listedIn, type Snapshot } from "../engine/workspace/archive/snapshot.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { auditJson } from "../host/audit-json.ts";

/** What a directory holds is listed within these limits; for more, the hash of the listing stands for all. */
const mostEntries = 10_000;
/** Of the paths and targets of links as JSON: in a deep directory, they take more than its files do. */
const mostCharacters = 1024 * 1024;
/** A listing that is larger has more entries or characters than that: it is not parsed. */
const mostBytes = 3 * mostCharacters + 300 * mostEntries;
/** Of all listings in a line. */
const mostInLine = 8 * mostCharacters;

export interface AuditedChange {
  readonly id: string;
  readonly undoes?: string;
  /** Parent directories that were created, without those inside them: all on the way to a changed path were. */
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

/** Where changes are recorded, and which files are shown whole. */
type ChangeSource = Pick<Workspace, "archive" | "hasRules" | "isShownWholeAnywhere">;

/** The changes of one line. */
export function auditedChanges(workspace: ChangeSource, ids: readonly string[]): AuditedChange[] {
  const room: Room = { left: mostInLine };
  return ids.map(id => auditedChange(workspace, id, room));
}

/** The characters that the listings in a line may still have. */
interface Room {
  left: number;
}

function auditedChange(workspace: ChangeSource, id: string, room: Room): AuditedChange {
  const record = workspace.archive.changes.get(id);
  if (record === undefined) return { id };
  const content = (snapshot: Snapshot | undefined, at: string) =>
    snapshot && contentOf(snapshot, at, workspace, room);
  const { undoes, parents, files } = record;
  return {
    id,
    ...(undoes !== undefined && { undoes }),
    ...(parents.length > 0 && { parents: outermost(parents) }),
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

/** Without the directories in others: a path of n directories would take n² characters. */
function outermost(directories: readonly string[]): string[] {
  const all = new Set(directories);
  return directories.filter(path => !all.has(path.slice(0, path.lastIndexOf("/"))));
}

function contentOf(snapshot: Snapshot, at: string, workspace: ChangeSource, room: Room): AuditedContent {
  if (snapshot.kind !== "directory") return leafOf(snapshot, at, workspace);
  // Without a listing, only the directory itself: its contents have their own entries.
  if (snapshot.entries === undefined) return "directory";
  const listing = new ListedContent(at, workspace, Math.min(mostCharacters, room.left));
  if (listing.add(snapshot)) {
    room.left -= listing.characters;
    return listing.entries;
  }
  // The hash of a listing depends on the hashes of the files below.
  return workspace.hasRules ? withheld : `directory:${snapshot.entries}`;
}

class ListedContent {
  readonly entries = Object.create(null) as Record<string, string>; // a file may be named __proto__
  characters = 0;
  #count = 0;
  readonly #top: string;
  readonly #workspace: ChangeSource;
  readonly #most: number;

  constructor(top: string, workspace: ChangeSource, most: number) {
    this.#top = top;
    this.#workspace = workspace;
    this.#most = most;
  }

  /** False if there is too much, or it is no longer kept. `length` is that of the path as JSON. */
  add(directory: Snapshot, path = "", length = 0): boolean {
    const listed = listedIn(directory, this.#workspace.archive.objects, mostBytes);
    if (listed === undefined) return false;
    for (const entry of listed) {
      const here = length + auditJson(entry.name).length - 1; // one quote for the slash
      this.characters += here + (entry.kind === "symlink" ? auditJson(entry.target).length : 0);
      if (++this.#count > mostEntries || this.characters > this.#most) return false;
      const at = `${path}${entry.name}`;
      if (entry.kind !== "directory") this.entries[at] = leafOf(entry, `${this.#top}/${at}`, this.#workspace);
      else {
        this.entries[`${at}/`] = "directory";
        if (!this.add(entry, `${at}/`, here)) return false;
      }
    }
    return true;
  }
}

const withheld = "withheld";

function leafOf(
  snapshot: Exclude<Snapshot, { kind: "directory" }>,
  at: string,
  workspace: ChangeSource,
): string {
  if (snapshot.kind === "symlink") return `link:${snapshot.target}`;
  if (snapshot.kind !== "file") return snapshot.kind;
  return workspace.isShownWholeAnywhere(at) ? `sha256:${snapshot.hash ?? "unknown"}` : withheld;
}
