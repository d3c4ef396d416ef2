// What became of diffs, in the contract's words: one sentence, or a list with the status of each.
import { say } from "../../contract/wording.ts";
import type { Applied } from "../../engine/edit/apply.ts";
import type { AnchoredEdit } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import { countLines } from "../../engine/text/lines.ts";
import { wording } from "./wording.ts";

export function singleReport(path: string, edit: AnchoredEdit, lines: number): string {
  return `Successfully applied diff to ${path}: replaced ${change(edit)}. File now has ${lines} lines.`;
}

interface DiffBatch {
  readonly path: string;
  readonly atomic: boolean;
  /** How many the file has now. */
  readonly lines: number;
  readonly diffs: readonly { readonly edit: AnchoredEdit; readonly outcome: Applied | Fault | undefined }[];
}

/** `applied` is false if nothing was changed because diffs failed. */
export function batchReport({ path, atomic, lines, diffs }: DiffBatch): { text: string; applied: boolean } {
  const fitting = diffs.filter(({ outcome }) => !(outcome instanceof Fault)).length;
  const applied = atomic ? fitting === diffs.length : fitting > 0;
  const mode = atomic ? "atomic" : "non-atomic";
  const summary = applied
    ? `completed: ${fitting}/${diffs.length} diffs applied successfully to ${path}. File now has ${lines} lines.`
    : `failed: 0/${diffs.length} diffs applied to ${path}. Nothing was changed. File has ${lines} lines.`;
  const details = diffs.map(({ edit, outcome }, i) => {
    const [status, message] =
      outcome instanceof Fault
        ? ["failed", say(wording, outcome)]
        : applied
          ? ["success", `Replaced ${change(edit)}`]
          : ["not applied", `Matches at line ${edit.line}, but another diff failed`];
    const indented = message.replaceAll("\n", "\n    ");
    return `Diff ${i + 1}:\n  Status: ${status}\n  Start Line: ${edit.line}\n  Message: ${indented}`;
  });
  const text = [`Batch diff operation (${mode}) ${summary}`, "Detailed results:", ...details].join("\n\n");
  return { text, applied };
}

function change(edit: AnchoredEdit): string {
  const before = countLines(edit.old, "split");
  const after = edit.new === "" ? 0 : countLines(edit.new, "split");
  const more =
    after > before
      ? ` (added ${after - before} line(s))`
      : after < before
        ? ` (removed ${before - after} line(s))`
        : "";
  return `${before} line(s) at line ${edit.line}${more}`;
}
