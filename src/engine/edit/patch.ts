// Patches over several files, in one form whatever the notation: a list of FilePatch. `parsePatch` reads a unified
// diff or a patch envelope; `applyFilePatch` (hunks.ts) puts one of them into a text.
import { Fault } from "../fault.ts";
import { isEnvelope, parseEnvelope } from "./notation/envelope.ts";
import { parseUnified } from "./notation/unified.ts";

export interface PatchLine {
  readonly sign: " " | "-" | "+";
  /** Without its final "\n"; a "\r" before that is part of it. */
  readonly text: string;
  /** Whether a line break follows: false where the patch says that the file ends without one. */
  readonly end: boolean;
}

export interface Hunk {
  readonly lines: readonly PatchLine[];
  /** Where it is said to stand: the first old line, and 1-based as in the notation; absent where only context tells. */
  readonly oldStart?: number;
  /** Lines that stand above it, outermost first. */
  readonly anchors: readonly string[];
  /** Whether it ends where the file ends. */
  readonly atEnd: boolean;
}

export interface FilePatch {
  readonly kind: "modify" | "create" | "delete" | "rename" | "copy";
  /** The path that is read; for a created file the one that is written. */
  readonly path: string;
  /** The new path of a rename or copy. */
  readonly to?: string;
  readonly hunks: readonly Hunk[];
  /** Whether the file becomes executable or stops being so, where the patch says. */
  readonly executable?: boolean;
  /** The start of the git hash of the file that the patch was made from. */
  readonly blob?: string;
  /** Whether a removed file must be exactly what the hunks say. */
  readonly checkRemoved: boolean;
  readonly added: number;
  readonly removed: number;
}

/** Reads a patch in either notation. Throws `malformed_patch` with the line, or `duplicate_path`. */
export function parsePatch(patch: string): FilePatch[] {
  if (!patch.isWellFormed()) {
    const line = patch.slice(0, patch.search(/\p{Surrogate}/u)).split("\n").length;
    throw new Fault("malformed_patch", { line, reason: "not valid Unicode" });
  }
  const files = isEnvelope(patch) ? parseEnvelope(patch) : parseUnified(patch);
  const seen = new Set<string>();
  for (const file of files) {
    for (const path of file.to === undefined ? [file.path] : [file.path, file.to]) {
      if (seen.has(path)) throw new Fault("duplicate_path", { path });
      seen.add(path);
    }
  }
  return files;
}

/** The content of a created file. Its lines end with "\n", unless the patch itself says otherwise. */
export function createdContent(patch: FilePatch): string {
  const lines = patch.hunks.flatMap(hunk => hunk.lines).filter(line => line.sign === "+");
  return lines.map(line => line.text + (line.end ? "\n" : "")).join("");
}
