// Small things that both notations need.
import { Fault, type PatchProblem } from "../../fault.ts";

export interface PatchLine {
  readonly sign: " " | "-" | "+";
  /** Without its final "\n"; a "\r" before that is part of it. */
  readonly text: string;
  /** Whether a line break follows: false if the patch says that the file ends without one. */
  readonly end: boolean;
}

export interface PatchHunk {
  readonly lines: readonly PatchLine[];
  /** The stated first old line, 1-based as in the notation; absent if only context locates it. */
  readonly oldStart?: number;
  /** Anchor lines above it, outermost first. */
  readonly anchors: readonly string[];
  /** Whether it ends where the file ends. */
  readonly atEnd: boolean;
  /** The line of the patch, in this hunk by its counts, that looks like the header of the next file. */
  readonly nextHeader?: number;
}

export interface FilePatch {
  readonly kind: "modify" | "create" | "delete" | "rename" | "copy";
  /** The path to read; for a created file the one to write. */
  readonly path: string;
  /** The new path of a rename or copy. */
  readonly to?: string;
  readonly hunks: readonly PatchHunk[];
  /** Whether the file becomes executable or stops being so, where the patch says. */
  readonly executable?: boolean;
  /** The start of the git hash of the file that the patch was made from. */
  readonly blob?: string;
  /** Whether the patch itself came with "\r\n", which was taken off its lines. */
  readonly crlf?: boolean;
  /** Whether a removed file must be exactly what the hunks say. */
  readonly checkRemoved: boolean;
  readonly added: number;
  readonly removed: number;
}

/** Lines count from 1. */
export function malformed(line: number, problem: PatchProblem): never {
  throw new Fault("malformed_patch", { line, problem });
}

export function filePatch(
  fields: Pick<FilePatch, "kind" | "path" | "checkRemoved"> & Partial<FilePatch>,
  hunks: readonly PatchHunk[],
): FilePatch {
  const lines = hunks.flatMap(hunk => hunk.lines);
  const count = (sign: string) => lines.filter(line => line.sign === sign).length;
  return { ...fields, hunks, added: count("+"), removed: count("-") };
}
