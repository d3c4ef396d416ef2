// Failures in the contract's words and with its codes.

import type { Outcome, Site } from "../../contract/dialect.ts";
import { patternProblem } from "../../contract/problems.ts";
import { plainWording, say, type Wording } from "../../contract/wording.ts";
import { Fault, type FaultCode, type ParameterIssue } from "../../engine/fault.ts";

const InvalidParams = -32602;
const UnknownTool = -32601;
const NotAllowed = -32001;
const NotFound = -32002;
const Failed = -32603;

/** Everything that is not listed is a failure of the tool: an edit that does not fit, an error of the system. */
const codes: Partial<Record<FaultCode, number>> = {
  unknown_tool: UnknownTool,
  invalid_params: InvalidParams,
  invalid_command: InvalidParams,
  invalid_path: InvalidParams,
  outside_roots: NotAllowed,
  read_only: NotAllowed,
  not_found: NotFound,
  nothing_matches: NotFound,
};

const notAllowed = ({ path }: { readonly path: string }) =>
  `Path not allowed: ${path} is outside the allowed directories (use list_allowed_directories to see them)`;
const missing = ({ path }: { readonly path: string }) => `File not found: ${path}`;

export const wording: Wording = {
  ...plainWording,
  invalid_params: ({ issues }) => issues.map(issue => sayIssue(issue))[0] ?? "Invalid params",
  outside_roots: notAllowed,
  read_only: data => (data.fileSystem ? plainWording.read_only(data) : notAllowed(data)),
  not_found: missing,
  nothing_matches: ({ glob }) => `Glob matched no files: ${glob}`,
  too_large: ({ path, size, limit }) => `Too large: ${path} has ${size} bytes (limit ${limit})`,
  invalid_pattern: ({ kind, pattern, problem }) =>
    kind === "regex"
      ? `Invalid regex: ${patternProblem(problem)}`
      : `Invalid glob: ${pattern} (${patternProblem(problem)})`,
  timeout: ({ ms }) =>
    `Timed out after ${Math.round(ms / 1000)} s; simplify the regex, or narrow what it is applied to`,
};

/** A parameter of the wrong type counts as missing. If it is optional, the message says more. */
function sayIssue({ at, rule, expected, got }: ParameterIssue, required: readonly string[] = []): string {
  const missing = `Missing required param: ${at || "arguments"}`;
  if (at === "regex" && /^(true|false)$/.test(got)) {
    return `${missing} (the boolean flag is gone: regex is now the pattern itself)`;
  }
  const isPlain = rule === "required" || (rule === "type" && required.includes(at));
  return isPlain ? missing : `${missing} (must be ${expected}, got ${got})`;
}

/** A fault as the contract counts and says it. */
function told(fault: Fault): { readonly code: number; readonly message: string } {
  // A loop of links is the disk's affair: the parameter itself is in order.
  const isLoop = Fault.is(fault, "invalid_path") && fault.data.reason === "symlink_loop";
  const isDisk = isLoop || (Fault.is(fault, "read_only") && fault.data.fileSystem === true);
  return { code: isDisk ? Failed : (codes[fault.code] ?? Failed), message: say(wording, fault) };
}

/** A fault inside an answer about several files; anything else is rethrown. */
export function toldInline(error: unknown): { readonly code: number; readonly message: string } {
  if (!(error instanceof Fault) || Fault.is(error, "cancelled")) throw error;
  return told(error);
}

/** Failures are protocol errors. Revision 2026-07-28 reserves -32002: there such a failure is a result. */
export function failure(fault: Fault, { revision, tool }: Site): Outcome {
  const [issue] = Fault.is(fault, "invalid_params") ? fault.data.issues : [];
  if (issue !== undefined) {
    return { error: { code: InvalidParams, message: sayIssue(issue, tool?.input.required) } };
  }
  const error = told(fault);
  if (error.code !== NotFound || revision < "2026-07-28") return { error };
  return { content: [{ type: "text", text: `[error ${error.code}] ${error.message}` }], isError: true };
}

/** A parameter that must be there in this combination. */
export function missingParam(name: string): Fault {
  const issue = { at: name, rule: "required", expected: "a value", got: "nothing" };
  return new Fault("invalid_params", { issues: [issue] });
}
