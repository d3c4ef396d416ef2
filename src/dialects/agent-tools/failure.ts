// Every failure is a result: one text item with a JSON envelope that has the contract's code, a sentence, and for
// some codes further fields.
import type { Reply } from "../../contract/tool.ts";
import { say } from "../../contract/wording.ts";
import { Fault, type FaultCode } from "../../engine/fault.ts";
import { wording } from "./wording.ts";

export type AgentErrorCode =
  | "invalid_input"
  | "not_found"
  | "not_a_file"
  | "is_binary"
  | "no_match"
  | "ambiguous_match"
  | "patch_failed"
  | "timeout"
  | "output_limit"
  | "too_large"
  | "path_escape"
  | "io_error"
  | "aborted"
  | "internal";

type Fields = Readonly<Record<string, unknown>>;

export function refusal(error: AgentErrorCode, message: string, fields: Fields = {}): Reply {
  return { content: [{ type: "text", text: JSON.stringify({ error, message, ...fields }) }], isError: true };
}

/** A fault in the contract's form; `edit` is the index of the failed edit in a batch. */
export function failed(fault: Fault, edit?: number): Reply {
  const message = say(wording, fault);
  const code = codes[fault.code] ?? otherwise;
  if (edit === undefined) return refusal(code, message, fieldsOf(fault));
  return refusal(code, `edit[${edit}]: ${message}`, { index: edit, ...fieldsOf(fault) });
}

function fieldsOf(fault: Fault): Fields {
  if (Fault.is(fault, "too_large")) return fault.data;
  if (Fault.is(fault, "patch_conflict")) return { file: fault.data.path, hunk: fault.data.hunk };
  if (Fault.is(fault, "timeout")) return { timeout_ms: fault.data.ms };
  return {};
}

/** Codes that are not listed are system errors. */
const otherwise: AgentErrorCode = "io_error";

const codes: { readonly [C in FaultCode]?: AgentErrorCode } = {
  unknown_tool: "not_found",
  invalid_params: "invalid_input",
  invalid_argument: "invalid_input",
  cancelled: "aborted",
  timeout: "timeout",
  internal: "internal",

  invalid_path: "invalid_input",
  outside_roots: "path_escape",
  not_found: "not_found",
  parent_not_found: "not_found",
  exists: "invalid_input",
  not_a_file: "not_a_file",
  not_a_directory: "not_a_file",
  is_a_link: "invalid_input",
  protected_root: "invalid_input",
  state_in_root: "invalid_input",
  into_itself: "invalid_input",
  irrevocable: "invalid_input",

  binary: "is_binary",
  not_text: "is_binary",
  unencodable: "invalid_input",
  too_large: "too_large",
  too_many_files: "too_large",
  past_end: "invalid_input",
  invalid_pattern: "invalid_input",

  no_match: "no_match",
  ambiguous: "ambiguous_match",
  no_change: "invalid_input",
  malformed_patch: "invalid_input",
  patch_conflict: "patch_failed",
  duplicate_path: "invalid_input",

  invalid_command: "invalid_input",
  output_limit: "output_limit",
};
