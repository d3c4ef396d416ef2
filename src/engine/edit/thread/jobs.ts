// What is computed in a thread of its own where the texts are large: comparing them, and merging them. Jobs take and
// return plain values.
import { diffCounts, diffStart, hunksBetween, unifiedDiff } from "../../text/diff.ts";
import { replacedStart } from "../../text/replaced-start.ts";
import { replaceBytes } from "../replace-bytes.ts";
import { weave } from "../weave.ts";

export const jobs = {
  diffCounts,
  diffStart,
  hunksBetween,
  replaceBytes,
  replacedStart,
  unifiedDiff,
  weave,
} as const;

export type Jobs = typeof jobs;
export type JobName = keyof Jobs;

export interface Request {
  readonly id: number;
  readonly job: JobName;
  readonly given: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly made: unknown }
  | { readonly id: number; readonly error: string };
