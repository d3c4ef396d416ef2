// Small things that both notations need.
import { Fault } from "../../fault.ts";
import type { FilePatch, Hunk } from "../patch.ts";

/** Lines count from 1. */
export function malformed(line: number, reason: string): never {
  throw new Fault("malformed_patch", { line, reason });
}

export function filePatch(
  fields: Pick<FilePatch, "kind" | "path" | "checkRemoved"> & Partial<FilePatch>,
  hunks: readonly Hunk[],
): FilePatch {
  const lines = hunks.flatMap(hunk => hunk.lines);
  const count = (sign: string) => lines.filter(line => line.sign === sign).length;
  return { ...fields, hunks, added: count("+"), removed: count("-") };
}
