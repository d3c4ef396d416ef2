// What is computed in a thread of its own where the texts are large: comparing, merging and
// replacing parts of them, and the views of notebooks. TextJobs take and return plain values.
import { cellSplices, notebookText } from "../../document/notebook.ts";
import { diffCounts, diffStart, hunksBetween, unifiedDiff } from "../../text/diff.ts";
import { replacedStart } from "../../text/replaced-start.ts";
import { notebookEdits } from "../notebook-edits.ts";
import { replaceBytes } from "../replace-bytes.ts";
import { replaceMatches } from "../replace-matches.ts";
import { weave } from "../weave.ts";

export const jobs = {
  cellSplices,
  diffCounts,
  diffStart,
  hunksBetween,
  notebookEdits,
  notebookText,
  replaceBytes,
  replaceMatches,
  replacedStart,
  unifiedDiff,
  weave,
} as const;

export type TextJobs = typeof jobs;
export type TextJobName = keyof TextJobs;

export interface TextJobRequest {
  readonly id: number;
  readonly job: TextJobName;
  /** Undefined if the argument was sent before, in pieces. */
  readonly given: readonly unknown[];
}

/** A part of a large argument: copying all of it at once would block the sender. */
export interface TextJobPiece {
  readonly id: number;
  /** Which argument. */
  readonly argument: number;
  readonly piece: string | readonly unknown[];
}

export type TextJobAnswer =
  | { readonly id: number; readonly made: unknown }
  | { readonly id: number; readonly error: string };
