// Advice that depends on which parameters the tool has: a refusal never recommends a parameter that the tool lacks,
// unless it names the tool that has it.
import type { Schema } from "../../contract/schema.ts";
import type { Tool } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault, type ParameterIssue } from "../../engine/fault.ts";

/** What to do instead of the general advice; undefined if that one fits. */
export function adviceFor({ input: { properties } }: Tool, fault: Fault): string | undefined {
  const has = (name: string) => Object.hasOwn(properties, name);
  if (Fault.is(fault, "unencodable") && fault.data.likely !== undefined && !has("encoding"))
    return "Use edit_file or write_file with encoding for this file, and leave it out here, or use ASCII only.";
  if (has("changes")) return adviceForUndo(fault);
  if (Fault.is(fault, "exists")) {
    if (fault.data.kind === "directory") return notReplaced(fault.data.path);
    if (has("overwrite")) return "Use another path, or set overwrite: true.";
    if (has("patch")) return "Change it with Update File or a diff of its lines, or use another path.";
    return has("mode") ? "Use another path, or set mode: overwrite." : undefined;
  }
  // A directory that is listed or searched, or one above the file that is named.
  if (Fault.is(fault, "not_a_directory") && !["hidden", "cwd"].some(has))
    return "One of its directories is a file: use another path.";
  if (Fault.is(fault, "not_empty") && has("recursive"))
    return "Set recursive: true to delete it with its contents.";
  if (Fault.is(fault, "binary") && fault.data.encoding === undefined && has("encoding"))
    return has("offset")
      ? "Read it with encoding: base64 or hex; name its text encoding if it is text."
      : "Only text can be edited: if it is text, name its encoding. read_file with encoding: base64 or hex shows its bytes.";
  if (Fault.is(fault, "not_a_file") && fault.data.kind === "directory" && has("overwrite"))
    return notReplaced(fault.data.path);
  if (Fault.is(fault, "invalid_pattern") && fault.data.kind === "regex") {
    if (has("literal")) return "Correct it, or set literal: true to search for exactly this text.";
    if (has("match")) return "Correct it, or set match: text to replace exactly this text.";
    if (has("edits")) return "Correct it, or leave regex out to replace exactly this text.";
  }
  return undefined;
}

/** What was done later is in the way: it can be undone in the same call, if it is recorded. */
function adviceForUndo(fault: Fault): string | undefined {
  const how = "Undo that too: changes takes several, and list_changes with path shows them";
  const isOutside = "outside of polyfs, so no change is listed for it";
  const rest = "undo with path undoes the other files of the change";
  if (Fault.is(fault, "stale") && (fault.data.version !== "" || fault.data.outside)) {
    const { current, outside } = fault.data;
    if (outside)
      return `It was changed ${isOutside}. ${rest}.${current.length === 0 ? "" : " Or edit the current lines:"}`;
    return current.length === 0
      ? `A later change is in the way. ${how}.`
      : `A later change touched the same lines, or adjoining ones. ${how}. Or edit the current lines:`;
  }
  if (Fault.is(fault, "not_found"))
    return fault.data.outside
      ? `It was moved or deleted ${isOutside}. ${rest}.`
      : `It was moved or deleted later. ${how}.`;
  if (!Fault.is(fault, "exists")) return undefined;
  return fault.data.outside
    ? `It was put there ${isOutside}. Move it away, or ${rest}.`
    : `Something was put there later. ${how}, or move it away.`;
}

function notReplaced(path: string): string {
  const directory = printable(path).replace(/\/*$/, "/");
  return `Directories are not replaced. Name a path inside it (${directory}NAME), or delete it first with delete_path.`;
}

/** The parameters of the tool; where an issue is inside one, the keys that it takes there. */
export function expectedKeys({ name, input, accepts }: Tool, issues: readonly ParameterIssue[]): string {
  const names = Object.keys(input.properties).join(", ");
  const own = `The parameters of ${name}: ${names || "none"}.`;
  const inner = issues.find(({ at, rule }) => /[.\]][^.[\]]+$/.test(at) && /^(unknown|required)$/.test(rule));
  if (inner === undefined) return own;
  const parent = inner.at.slice(0, inner.at.lastIndexOf("."));
  const keys = keysAt(accepts ?? input, parent);
  return keys.length === 0 ? own : `The keys of ${parent}: ${keys.join(", ")}.`;
}

/** The properties that a schema has at a path such as `edits[0]`. */
function keysAt(schema: Schema, path: string): string[] {
  let at: Schema | undefined = schema;
  for (const step of path.split(/\.|(?=\[)/)) {
    const options: readonly Schema[] = at?.oneOf ?? at?.anyOf ?? (at === undefined ? [] : [at]);
    at = options
      .map(one => (step.startsWith("[") ? one.items : one.properties?.[step]))
      .find(one => one !== undefined);
  }
  const options = at?.oneOf ?? at?.anyOf ?? (at === undefined ? [] : [at]);
  return [...new Set(options.flatMap(one => Object.keys(one.properties ?? {})))];
}
