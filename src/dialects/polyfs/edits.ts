// The edits of this contract: their schema, and what each asks of the engine.
import type { Infer } from "../../contract/schema.ts";
import type { Applied } from "../../engine/edit/apply.ts";
import type { Edit, Tolerance } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import { dollarStyle } from "../../engine/regex/replacement.ts";
import { refused } from "./failure.ts";
import type { SymbolEdit } from "./symbol-edit.ts";

export const editsProperty = {
  type: "array",
  minItems: 1,
  items: {
    type: "object",
    properties: {
      old: { type: "string" },
      new: { type: "string" },
      all: { type: "boolean", description: "Every occurrence." },
      regex: { type: "boolean", description: "old is a JavaScript regex; new may use $1." },
      ignore_case: { type: "boolean" },
      start_line: { type: "integer" },
      end_line: { type: "integer" },
      insert_after: { type: "integer", description: "Line; 0 top, -1 end." },
      symbol: { type: "string", description: "Declaration to replace, as Class.method." },
    },
    required: ["new"],
    additionalProperties: false,
  },
} as const;

type EditParams = Infer<typeof editsProperty>[number];

/** Differences that an exact, unique edit may ignore if exactly one region matches. */
const tolerances: readonly Tolerance[] = ["trailing_space", "indentation", "typography"];

export function engineEdits(asked: readonly EditParams[], path: string): (Edit | SymbolEdit)[] {
  return asked.map((edit, i) => engineEdit(edit, i, path));
}

function engineEdit(edit: EditParams, index: number, path: string): Edit | SymbolEdit {
  const { old, start_line, end_line, insert_after, symbol } = edit;
  const forms = [old, start_line ?? end_line, insert_after, symbol].filter(form => form !== undefined);
  if (forms.length !== 1) {
    const what = forms.length === 0 ? "does not say what to replace" : "mixes several kinds of edits";
    throw refused(
      `edits[${index}] ${what}`,
      "An edit is old + new, or start_line + end_line + new, or insert_after + new, or symbol + new.",
    );
  }
  const added = edit.new;
  if (old !== undefined) return textEdit(edit, old, index, path);
  if (edit.all !== undefined || edit.regex !== undefined || edit.ignore_case !== undefined)
    throw refused(`edits[${index}] has all, regex or ignore_case without old`, "They belong to old + new.");
  if (symbol !== undefined) return { kind: "symbol", symbol, new: added };
  if (insert_after !== undefined) return { kind: "insert", after: insert_after, new: added };
  const from = start_line ?? end_line ?? 0;
  const to = end_line ?? from;
  if (to < from)
    throw refused(
      `edits[${index}]: ${from}-${to} is not a range of lines`,
      "Lines count from 1, start_line is the smaller number.",
    );
  return { kind: "lines", from, to, new: added };
}

function textEdit(edit: EditParams, old: string, index: number, path: string): Edit {
  const times = edit.all ? "all" : "unique";
  const ignoreCase = edit.ignore_case ?? false;
  if (old === "")
    throw refused(`edits[${index}].old is empty`, "Use insert_after to add text without replacing any.");
  if (edit.regex) return regexEdit(old, edit.new, ignoreCase, times);
  if (old === edit.new) throw new Fault("no_change", { path, edit: index });
  return { kind: "replace", old, new: edit.new, times, ignoreCase, ...(!edit.all && { tolerances }) };
}

export function regexEdit(
  pattern: string,
  added: string,
  ignoreCase: boolean,
  times: "all" | "unique",
): Edit {
  return { kind: "regex", pattern, flags: ignoreCase ? "mi" : "m", new: added, style: dollarStyle, times };
}

const words: { readonly [T in Tolerance]?: string } = {
  trailing_space: "matched ignoring trailing whitespace",
  indentation: "indentation differed; new was re-indented to match",
  typography: "matched ignoring typographic quotes, dashes or spaces",
};

/** How an edit matched where it did not match exactly, for the answer. */
export function overlooked(outcome: Applied | Fault, index: number): string[] {
  if (outcome instanceof Fault || outcome.tolerance === undefined) return [];
  return [`[edits[${index}]: no exact match; ${words[outcome.tolerance] ?? "matched ignoring whitespace"}]`];
}
