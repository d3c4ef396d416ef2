// The record of a commit, from its planned effects.
import { contentHash } from "../../text/version.ts";
import type { By, ChangeEffect } from "../archive/log.ts";
import {
  mostWaiting,
  type PendingContent,
  type PendingFile,
  type PendingRecord,
} from "../archive/pending-record.ts";
import type { EntryRef } from "../disk/held-directories.ts";
import type { Steps } from "../footprint/time-slice.ts";
import type { ContentSource, PlannedEffect } from "./planned-effect.ts";

export function* pendingRecord(
  outcomes: readonly PlannedEffect[],
  by: By,
  parents: readonly string[],
): Steps<PendingRecord> {
  const files: PendingFile[] = [];
  for (const outcome of outcomes) {
    yield;
    if (outcome.effect === "none" || "root" in outcome) continue;
    const { effect, kind, source, before, change } = outcome;
    const relocated = (effect === "moved" || effect === "copied") && !outcome.edited;
    const old = before && kept(before);
    files.push({
      at: change.at,
      effect,
      kind,
      ...(source && { from: source.at }),
      ...(old && (relocated ? { replaced: old } : { before: old })),
      ...(outcome.after &&
        outcome.moved === undefined && { after: made(outcome.after, change.entry, effect) }),
      ...(outcome.moved && { moved: outcome.moved }),
    });
  }
  return { time: Date.now(), by, files, parents };
}

function made(after: ContentSource, spot: EntryRef, effect: ChangeEffect): PendingContent {
  const { kind, bytes, blob, size } = after;
  // Entries of a new directory are recorded separately.
  if (kind === "directory" && effect !== "copied" && effect !== "moved")
    return { kind, mode: after.mode ?? 0o777 & ~process.umask() };
  if (kind !== "file" || bytes === undefined) return { kind, spot };
  const mode = after.mode ?? 0o666 & ~process.umask();
  if (blob !== undefined) return { kind, mode, blob, size };
  return size > mostWaiting ? { kind, spot } : { kind, mode, spot, size, hash: contentHash(bytes) };
}

function kept({ kind, mode, target, entry, blob, size, modified }: ContentSource): PendingContent {
  return {
    kind,
    size,
    ...(modified !== undefined && { modified: modified.getTime() }),
    ...(mode !== undefined && { mode }),
    ...(target !== undefined && { target }),
    ...(entry && { spot: entry }),
    ...(blob && { blob }),
  };
}
