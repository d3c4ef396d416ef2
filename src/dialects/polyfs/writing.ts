// What all tools that change files have in common: how they commit, and what they say about a commit besides what
// was asked for.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { sameVersion } from "../../engine/history/versions.ts";
import { version } from "../../engine/text/version.ts";
import type { Commit, CommitOptions } from "../../engine/workspace/commit/change.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";

export const dryRunProperty = { type: "boolean" } as const;
export const versionProperty = { type: "string" } as const;

export function writing({ settings, signal }: CallContext): CommitOptions {
  return { parents: true, hardLinks: settings.hardLinks, signal };
}

/** Lines that an answer ends with: about other names of the files, and what cannot be undone. */
export function notes({ files, recorded }: Commit, { settings }: CallContext): string[] {
  const names = files.reduce((sum, file) => sum + (file.effect === "modified" ? file.otherNames : 0), 0);
  const others = counted(names, "other hard link");
  const kept =
    settings.hardLinks === "keep"
      ? "changed with it"
      : names === 1
        ? "keeps the old content"
        : "keep the old content";
  return [
    ...(names > 0 ? [`[${others} ${kept}]`] : []),
    ...(recorded ? [] : ["[too large to be kept: this cannot be undone]"]),
  ];
}

/** The same, and how to take the change back. */
export function ending(commit: Commit, call: CallContext): string[] {
  return [...notes(commit, call), ...(commit.recorded ? [undoHint(commit)] : [])];
}

export function undoHint({ id }: Pick<Commit, "id">): string {
  return `change ${id} (undo takes it back)`;
}

/** For changes that cannot be merged: the file must be what the caller has read. */
export function refuseStale(path: WorkspacePath, bytes: Buffer | undefined, wanted: string): void {
  if (bytes === undefined) throw new Fault("not_found", { path: path.given });
  const is = version(bytes);
  if (!sameVersion(wanted, is)) throw new Fault("stale", { path: path.given, current: [], version: is });
}
