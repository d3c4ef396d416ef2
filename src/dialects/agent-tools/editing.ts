// What `edit_file` and `multi_edit` share: the form of an edit, and a file's way through edits back to the disk.
import type { CallContext } from "../../contract/context.ts";
import { type Applied, applyEdits } from "../../engine/edit/apply.ts";
import type { RegionLimit, ReplaceEdit, Tolerance } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { editableTextOf } from "./text-file.ts";
import { otherNames, writing } from "./writing.ts";

export const replacement = {
  old_string: {
    type: "string",
    minLength: 1,
    description: "Text to find, literally: no regex, no line-number prefixes. Must be unique in the file.",
  },
  new_string: { type: "string", description: "Replacement; must differ from old_string." },
  replace_all: {
    type: "boolean",
    default: false,
    description: "Replace every exact occurrence instead of requiring a unique one.",
  },
} as const;

export interface ReplacementParams {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

/** From strict to loose; the first that fits somewhere decides. */
const tolerances: readonly Tolerance[] = ["dedented", "trimmed_lines", "collapsed", "trimmed"];

/** A match much larger than the old text is not the intended one. */
const stretch: RegionLimit = { lines: 2, characters: 500 };

/** What became of each edit, or which one failed. */
export type FileEdits =
  | { readonly applied: readonly Applied[]; readonly note: string }
  | { readonly fault: Fault; readonly index: number };

/** Applies all edits in order, each to the result of the previous one; if one fails, the file stays. */
export async function editFile(
  path: WorkspacePath,
  edits: readonly ReplacementParams[],
  call: CallContext,
): Promise<FileEdits> {
  const { given } = path;
  const same = edits.findIndex(edit => edit.old_string === edit.new_string);
  let outcomes: readonly (Applied | Fault)[] = [];
  const commit = await call.workspace.edit(
    path,
    async bytes => {
      if (same >= 0) return undefined;
      const text = await editableTextOf(given, bytes);
      const result = await applyEdits(text, edits.map(asReplacement), { ...options, signal: call.signal });
      outcomes = result.outcomes;
      const stays = result.text === text || outcomes.some(outcome => outcome instanceof Fault);
      return stays ? undefined : result.text.bytes;
    },
    { ...writing(call), maxBytes: call.settings.maxFileBytes },
  );
  if (same >= 0) return { fault: new Fault("no_change", { path: given, edit: same }), index: same };
  const applied: Applied[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome instanceof Fault) return { fault: outcome, index };
    applied.push(outcome);
  }
  return { applied, note: otherNames(commit, call.settings) };
}

const options = { order: "sequence", newLines: "dominant", failing: "skip" } as const;

function asReplacement({ old_string, new_string, replace_all }: ReplacementParams): ReplaceEdit {
  const times = replace_all ? "all" : "unique";
  return { kind: "replace", old: old_string, new: new_string, times, tolerances, stretch };
}

const overlooked: { readonly [T in Tolerance]?: string } = {
  dedented: "indentation",
  trimmed_lines: "whitespace at line ends and starts",
  collapsed: "the amount of whitespace",
  trimmed: "whitespace around the text",
};

/** What a tolerant match must disclose. */
export function disclosure(tolerance: Tolerance): string {
  return `whitespace-tolerant match, ${overlooked[tolerance] ?? "whitespace"} differed`;
}
