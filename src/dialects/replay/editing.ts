// Shared by `edit_file` and `edit_files`: the schema of an edit, its translation for the engine, and its failures.
// The modes, and what each tolerates, follow the contract's matching strategy.

import type { CallContext } from "../../contract/context.ts";
import { patternProblem } from "../../contract/problems.ts";
import type { Infer } from "../../contract/schema.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import type { Edit } from "../../engine/edit/edits.ts";
import { textJob } from "../../engine/edit/thread/thread.ts";
import { Fault } from "../../engine/fault.ts";
import { sedStyle } from "../../engine/regex/replacement.ts";
import { shown } from "../../engine/text/escape.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";
import type { AllowedPath } from "./paths.ts";
import { maxAnswerBytes } from "./room.ts";

export const editsProperty = {
  type: "array",
  minItems: 1,
  description: "Edits, applied in sequence.",
  items: {
    type: "object",
    properties: {
      oldText: { type: "string", description: "Text to find." },
      newText: {
        type: "string",
        default: "",
        description:
          "Replacement. With isRegex: \\1-\\9 or $1-$9 are capture groups of oldText, \\0, $0 and $& the whole " +
          "match, $$ a dollar sign.",
      },
      limit: { type: "integer", minimum: 0, default: 1, description: "Most replacements; 0 is unlimited." },
      isRegex: {
        type: "boolean",
        default: false,
        description: "oldText is an ECMAScript (JavaScript) regex. Keep false where the text is known.",
      },
      caseInsensitive: { type: "boolean", default: false, description: "Ignore case." },
    },
    required: ["oldText"],
  },
} as const;

export const dryRunProperty = {
  type: "boolean",
  default: false,
  description: "Return a unified diff and write nothing. Use it first for regex edits.",
} as const;

export type ReplayEditParams = Infer<typeof editsProperty>[number];

/** Edits a file. Any failure leaves it as it was. */
export async function editFile(
  { path }: AllowedPath,
  edits: readonly ReplayEditParams[],
  { workspace, settings, signal }: CallContext,
): Promise<Commit> {
  return await workspace.edit(
    path,
    async bytes => {
      const text = await decode(path.given, bytes, { legacy: true });
      const edited = await applied(text, edits, signal);
      return edited.bytes === text.bytes ? undefined : edited.bytes;
    },
    { hardLinks: settings.hardLinks, signal, maxBytes: maxAnswerBytes },
  );
}

/** The changes of the edits as a unified diff; for a missing file, the requested edits. */
export async function preview(
  { path, at }: AllowedPath,
  edits: readonly ReplayEditParams[],
  { workspace, signal }: Pick<CallContext, "workspace" | "signal">,
): Promise<string> {
  let bytes: Buffer;
  try {
    using file = await workspace.openFile(path);
    bytes = await file.bytes(maxAnswerBytes);
  } catch (error) {
    if (Fault.is(error, "not_found")) return intended(at, edits);
    throw error;
  }
  const text = await decode(path.given, bytes, { legacy: true });
  const { raw } = await applied(text, edits, signal);
  const options = { from: at, to: at, context: 3 };
  const diff = await textJob("unifiedDiff", text.raw.length + raw.length, text.raw, raw, options);
  return diff === "" ? "(no changes)" : shown(diff);
}

async function applied(text: Text, edits: readonly ReplayEditParams[], signal: AbortSignal): Promise<Text> {
  try {
    const result = await applyEdits(text, edits.map(engineEdit), { order: "sequence", signal });
    return result.text;
  } catch (error) {
    throw inContractWords(error, edits);
  }
}

function engineEdit(edit: ReplayEditParams): Edit {
  const { oldText, newText, limit, isRegex, caseInsensitive } = edit;
  if (oldText === "") throw refusal("oldText must not be empty");
  const times = limit === 0 ? "all" : limit;
  if (isRegex) {
    const flags = caseInsensitive ? "mi" : "m";
    return { kind: "regex", pattern: oldText, flags, new: newText, style: sedStyle, times };
  }
  const replace = { kind: "replace", old: oldText, new: newText } as const;
  if (limit !== 1) return { ...replace, times, ignoreCase: caseInsensitive };
  return caseInsensitive
    ? { ...replace, times: "unique", ignoreCase: true }
    : { ...replace, times: "unique", tolerances: ["reindented"] };
}

function inContractWords(error: unknown, edits: readonly ReplayEditParams[]): unknown {
  if (Fault.is(error, "no_match")) {
    const edit = edits[error.data.edit];
    return refusal(`${edit?.isRegex ? "pattern" : "oldText"} not found: ${edit?.oldText}`);
  }
  if (Fault.is(error, "ambiguous")) {
    const { count, tolerance, edit } = error.data;
    const what =
      tolerance === "exact"
        ? `${count} occurrences of "${edits[edit]?.oldText}"`
        : `${count} whitespace-normalized matches for the given block`;
    return refusal(
      `oldText is not unique: found ${what}. Add surrounding context so that it matches one place, ` +
        "or set limit to 0 (all) or to the number of places.",
    );
  }
  if (Fault.is(error, "invalid_pattern"))
    return refusal(`regex compile error: ${patternProblem(error.data.problem)}`);
  if (Fault.is(error, "missing_group")) {
    const { reference, groups } = error.data;
    return refusal(
      `newText refers to ${reference}, but oldText has no capture group ${reference.slice(1)}: ` +
        `it has ${groups} capture group${groups === 1 ? "" : "s"}`,
    );
  }
  return error;
}

function refusal(message: string): Fault {
  return new Fault("invalid_argument", { message });
}

function intended(at: string, edits: readonly ReplayEditParams[]): string {
  const lines = edits.map(({ oldText, newText, isRegex, limit }, i) => {
    const times = limit === 0 ? " (all)" : limit === 1 ? "" : ` (up to ${limit})`;
    const what = isRegex ? `/${oldText}/` : JSON.stringify(oldText);
    return `${i + 1}. replace ${what} with ${JSON.stringify(newText)}${times}`;
  });
  return [`${at} does not exist. Intended edits:`, ...lines].join("\n");
}
