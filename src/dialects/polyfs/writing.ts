// Shared by all tools that change files: the options of a commit, and the notes about it.
import type { CallContext } from "../../contract/context.ts";
import { printable } from "../../contract/wording.ts";
import { Fault, type Kind } from "../../engine/fault.ts";
import { isVersion, type Rebased, sameVersion } from "../../engine/history/versions.ts";
import { version } from "../../engine/text/version.ts";
import type { By } from "../../engine/workspace/archive/log.ts";
import type { Commit, CommitOptions } from "../../engine/workspace/commit/change.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import { refused } from "./failure.ts";

/** Places of incoming changes that an answer names. */
const mostPlaces = 8;

export const dryRunProperty = { type: "boolean" } as const;
export const versionProperty = { type: "string" } as const;

export function writing({ settings, signal }: CallContext): CommitOptions {
  return { parents: true, unicodeForms: "either", hardLinks: settings.hardLinks, signal };
}

/** The lines of an answer about a commit: its id, hard links, and what cannot be undone. */
export function notes(
  { id, files, recorded }: Commit,
  { settings }: CallContext,
  hint: (change: Pick<Commit, "id">) => string = undoHint,
): string[] {
  const names = files.reduce((sum, file) => sum + (file.effect === "modified" ? file.otherNames : 0), 0);
  const others = counted(names, "other hard link");
  const kept =
    settings.hardLinks === "keep"
      ? "changed with it"
      : names === 1
        ? "keeps the old content"
        : "keep the old content";
  const changed = recorded && files.some(({ effect }) => effect !== "none");
  return [
    ...(changed ? [hint({ id })] : []),
    ...(names > 0 ? [`[${others} ${kept}]`] : []),
    ...(recorded
      ? []
      : [
          "[not kept in the history (too large, unreadable, no room, or its disk failed): this cannot be undone]",
        ]),
  ];
}

/** One line about changes since the version that the caller had read; none if nothing was merged. */
export function mergedNote({ merged, incoming }: Pick<Rebased, "merged" | "incoming">): string[] {
  if (!merged) return [];
  const added = incoming.reduce((sum, { bStart, bEnd }) => sum + bEnd - bStart, 0);
  const removed = incoming.reduce((sum, { aStart, aEnd }) => sum + aEnd - aStart, 0);
  const places = incoming.slice(0, mostPlaces).map(({ bStart, bEnd }) => {
    if (bEnd - bStart > 1) return `${bStart + 1}-${bEnd}`;
    return bEnd === bStart ? `after ${bStart}` : `${bEnd}`;
  });
  const lines = incoming.length === 1 && /^\d+$/.test(places[0] ?? "") ? "line" : "lines";
  if (incoming.length > mostPlaces) places.push("…");
  return [
    `[merged with changes made since that version] +${added} -${removed} at ${lines} ${places.join(", ")}`,
  ];
}

export function undoHint({ id, others }: Pick<Commit, "id"> & Pick<By, "others">): string {
  return others
    ? `change ${id} (undo with change and path reverts what is yours)`
    : `change ${id} (undo reverts it)`;
}

/** Refuses an `if_version` that is not a version. Reported as stale, it would send the caller looking for a change. */
export function refuseNoVersion(wanted: string | undefined): void {
  if (wanted === undefined || isVersion(wanted)) return;
  throw refused(
    `if_version is not a version: ${JSON.stringify(wanted.slice(0, 40))}`,
    "Pass the one that read_file shows in its head line, such as v:3f9a1c2b77d0, or leave it out.",
  );
}

/** Refuses an `if_version` for a directory. */
export function refuseVersionOf(
  { kind }: { readonly kind: Kind },
  { given }: WorkspacePath,
  wanted: string | undefined,
): void {
  if (wanted === undefined || kind !== "directory") return;
  throw refused(`${printable(given)} is a directory, and only files have versions`, "Leave if_version out.");
}

/** The same for an undo: undo takes one back only where it is named. */
export function redoHint({ id }: Pick<Commit, "id">): string {
  return `change ${id} (undo with change: "${id}" redoes it)`;
}

/** The same for a change that undo takes back only where it is named: a redo, or one that others come after. */
export function namedHint({ id }: Pick<Commit, "id">): string {
  return `change ${id} (undo with change: "${id}" reverts it)`;
}

/** For changes that cannot be merged: the file must be unchanged since the caller read it. */
export function refuseStale(path: WorkspacePath, bytes: Buffer | undefined, wanted: string): void {
  if (bytes === undefined) throw new Fault("not_found", { path: path.given });
  const is = version(bytes);
  if (!sameVersion(wanted, is)) throw new Fault("stale", { path: path.given, current: [], version: is });
}
