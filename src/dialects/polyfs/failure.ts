// Every failure is a result with `isError`: a code, what happened, and on the next line what to do about it.
import type { Outcome, Site } from "../../contract/dialect.ts";
import { say } from "../../contract/wording.ts";
import { Fault, type FaultCode } from "../../engine/fault.ts";
import { adviceFor, expectedKeys } from "./tool-advice.ts";
import { wording } from "./wording.ts";

type PolyfsErrorCode =
  | "invalid_input"
  | "not_found"
  | "exists"
  | "not_a_file"
  | "not_a_directory"
  | "outside_roots"
  | "read_only"
  | "binary"
  | "too_large"
  | "no_match"
  | "ambiguous"
  | "stale"
  | "conflict"
  | "unencodable"
  | "timeout"
  | "cancelled"
  | "denied"
  | "io";

export function failure(fault: Fault, { tool }: Site): Outcome {
  if (tool === undefined) return { error: { code: -32602, message: say(wording, fault) } };
  if (Fault.is(fault, "invalid_params")) {
    const [what] = told(fault).split("\n");
    return refusal(`${what}\n${expectedKeys(tool, fault.data.issues)}`);
  }
  const [what, ...todo] = told(fault).split("\n");
  const advice = adviceFor(tool, fault);
  return refusal([what, ...(advice === undefined ? todo : [advice, ...todo.slice(1)])].join("\n"));
}

/** A fault in two lines or more, inside an answer. */
export function told(fault: Fault): string {
  return `${codes[fault.code] ?? "io"}: ${say(wording, fault)}`;
}

/** A fault inside an answer about several files; anything else is rethrown. */
export function toldInline(error: unknown): string {
  if (!(error instanceof Fault) || Fault.is(error, "cancelled")) throw error;
  return told(error);
}

/** Parameters that are each fine, but not together. `todo` is the line that says what to send instead. */
export function refused(message: string, todo: string): Fault {
  return new Fault("invalid_argument", { message: `${message}\n${todo}` });
}

function refusal(text: string): Outcome {
  return { content: [{ type: "text", text }], isError: true };
}

/** A fault that is not listed is "io". */
const codes: { readonly [C in FaultCode]?: PolyfsErrorCode } = {
  unknown_tool: "invalid_input",
  invalid_params: "invalid_input",
  invalid_argument: "invalid_input",
  cancelled: "cancelled",
  timeout: "timeout",
  denied: "denied",
  internal: "io",

  invalid_path: "invalid_input",
  outside_roots: "outside_roots",
  read_only: "read_only",
  not_found: "not_found",
  parent_not_found: "not_found",
  exists: "exists",
  not_a_file: "not_a_file",
  not_a_directory: "not_a_directory",
  not_empty: "invalid_input",
  is_a_link: "not_a_file",
  protected_root: "denied",
  state_in_root: "denied",
  into_itself: "invalid_input",
  permission_denied: "denied",
  irrevocable: "denied",
  forbidden: "denied",
  approval_needed: "denied",
  no_space: "io",
  too_many_open_files: "io",
  io: "io",

  binary: "binary",
  not_text: "binary",
  unencodable: "unencodable",
  too_large: "too_large",
  too_many_files: "too_large",
  past_end: "invalid_input",

  nothing_matches: "not_found",
  search_incomplete: "io",
  invalid_pattern: "invalid_input",

  unknown_symbol: "not_found",
  ambiguous_symbol: "ambiguous",

  no_match: "no_match",
  ambiguous: "ambiguous",
  no_change: "invalid_input",
  missing_group: "invalid_input",
  edits_overlap: "invalid_input",
  stale: "stale",
  malformed_patch: "invalid_input",
  patch_conflict: "conflict",
  duplicate_path: "invalid_input",
  changed_meanwhile: "stale",
  locked: "io",

  invalid_command: "invalid_input",
  spawn_failed: "io",
  output_limit: "too_large",
  no_sandbox: "denied",
  unknown_job: "not_found",
  too_many_jobs: "denied",

  unknown_change: "not_found",
  unknown_hunk: "invalid_input",
  not_kept: "not_found",
  others_work: "ambiguous",
  partly_undone: "io",
  store_unavailable: "io",
  not_applied: "io",

  invalid_workspace_name: "invalid_input",
  workspace_dropped: "denied",
  unknown_workspace: "not_found",
  workspace_exists: "exists",
  not_a_fork: "invalid_input",
  has_forks: "denied",
  nested_workspace: "denied",
  base_changing: "stale",
  base_gone: "not_found",
  not_mounted: "io",
  merge_conflict: "conflict",
  over_quota: "denied",
  history_full: "denied",
};
