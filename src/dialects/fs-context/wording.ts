// Failures in the contract's words: a sentence, one of its codes, and a suggestion.
import { patternProblem } from "../../contract/problems.ts";
import { plainWording, printable, say, type Wording } from "../../contract/wording.ts";
import { Fault, type FaultCode } from "../../engine/fault.ts";

const binary = ({ path }: { path: string }) =>
  `Binary file detected: ${path}. Set skipBinary=false to read as text.`;

export const wording: Wording = {
  ...plainWording,
  outside_roots: ({ path }) => `Access denied: Path '${printable(path)}' is outside allowed directories`,
  not_found: ({ path }) => `Path does not exist: ${path}`,
  not_a_file: ({ path }) => `Not a file: ${path}`,
  not_a_directory: ({ path }) => `Not a directory: ${path}`,
  too_large: ({ size, limit }) =>
    `File too large: ${size} bytes (max: ${limit} bytes). Use head, tail, or lineRange for partial reads.`,
  binary,
  timeout: ({ ms, what }) => `Timed out after ${ms} ms: ${what}`,
  invalid_pattern: ({ pattern, kind, problem }) =>
    kind === "glob"
      ? `Invalid glob pattern: ${pattern} (${patternProblem(problem)})`
      : `Invalid regular expression: ${pattern} (${patternProblem(problem)})`,
};

type ContextErrorCode = keyof typeof suggestions;

/** The document's solutions, and ours for the codes that it leaves out. */
const suggestions = {
  E_ACCESS_DENIED: "Check `list_allowed_directories`",
  E_NOT_FOUND: "Verify path with `list_directory`",
  E_NOT_FILE: "Use `list_directory` instead",
  E_NOT_DIRECTORY: "Use `read_file` instead",
  E_TOO_LARGE: "Use `head/tail` or increase `maxSize`",
  E_TIMEOUT: "Reduce scope or increase limits",
  E_INVALID_PATTERN: "Check pattern syntax",
  E_PERMISSION_DENIED: "Check file permissions",
  E_INVALID_INPUT: "Check the parameters against the tool's input schema",
  E_SYMLINK_NOT_ALLOWED: "Name the target of the link directly",
  E_UNKNOWN: "Try again; if it stays, check the file with `get_file_info`",
} as const;

/** Codes that are not listed are `E_UNKNOWN`. */
const codes: { readonly [C in FaultCode]?: ContextErrorCode } = {
  outside_roots: "E_ACCESS_DENIED",
  denied: "E_ACCESS_DENIED",
  irrevocable: "E_ACCESS_DENIED",
  not_found: "E_NOT_FOUND",
  not_a_file: "E_NOT_FILE",
  not_a_directory: "E_NOT_DIRECTORY",
  too_large: "E_TOO_LARGE",
  timeout: "E_TIMEOUT",
  invalid_pattern: "E_INVALID_PATTERN",
  permission_denied: "E_PERMISSION_DENIED",
  invalid_params: "E_INVALID_INPUT",
  invalid_argument: "E_INVALID_INPUT",
  invalid_path: "E_INVALID_INPUT",
  binary: "E_INVALID_INPUT",
  is_a_link: "E_SYMLINK_NOT_ALLOWED",
};

export interface Failure {
  readonly code: ContextErrorCode;
  readonly message: string;
  readonly path?: string;
  readonly suggestion: string;
}

/** `given` is the path of the call, for faults that name none. */
export function failureOf(fault: Fault, given?: string): Failure {
  const code = codeOf(fault);
  const path = ("path" in fault.data && fault.data.path) || given;
  return {
    code,
    message: say(wording, fault),
    ...(path && { path: printable(path) }),
    suggestion: fault.code === "binary" ? binarySuggestion : suggestions[code],
  };
}

const binarySuggestion = "Use `read_file` with skipBinary=false; encoding=base64 gives the exact bytes";

function codeOf(fault: Fault): ContextErrorCode {
  if (Fault.is(fault, "invalid_path") && fault.data.reason === "symlink_loop") return "E_SYMLINK_NOT_ALLOWED";
  return codes[fault.code] ?? "E_UNKNOWN";
}
