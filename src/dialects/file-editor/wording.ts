// The contract's sentences. Paths appear as the caller wrote them.
import { patternProblem } from "../../contract/problems.ts";
import { plainWording, type Wording } from "../../contract/wording.ts";
import type { Faults } from "../../engine/fault.ts";

const missingFile = ({ path }: { path: string }) => `File not found: ${path}`;

export const wording: Wording = {
  ...plainWording,
  outside_roots: () => "Access denied: Path is outside the workspace boundary",
  not_found: missingFile,
  parent_not_found: missingFile,
  past_end: ({ line, lines }) => `Line number ${line} exceeds file length (${lines} lines)`,
  invalid_pattern: ({ pattern, problem }) =>
    `Invalid regular expression: /${pattern}/: ${patternProblem(problem)}`,
  too_large: ({ path, size, limit }) =>
    `File too large: ${path} has ${size} bytes (limit ${limit}). read_files with line_range reads parts of it.`,
  no_match: mismatch,
  edits_overlap: ({ edits, line }) => `Diff ${edits[1] + 1} overlaps diff ${edits[0] + 1} at line ${line}`,
};

/** For tools whose path is a directory. */
export const directoryWording: Wording = {
  ...wording,
  not_found: ({ path }) => `Directory not found: ${path}`,
};

/** How many lines of a block are shown. */
const mostLines = 40;

function mismatch({ old, near }: Faults["no_match"]): string {
  if (near === undefined) return "Content not found";
  const expected = old.split(/\r?\n/).map((text, i) => ({ line: near.line + i, text }));
  const differs = expected.findIndex(({ text }, i) => text !== near.current[i]?.text);
  // A long block is shown around the first difference.
  const from = differs < mostLines ? 0 : differs - 2;
  const numbered = (lines: readonly { line: number; text: string }[]) => {
    const part = lines.slice(from, from + mostLines).map(({ line, text }) => `${line} | ${text}`);
    if (part.length === 0) return "(the file ends before)";
    return [...part, ...(lines.length > from + mostLines ? ["..."] : [])].join("\n");
  };
  const hint =
    near.difference === "whitespace"
      ? "\nOnly whitespace differs: copy it exactly, or set trim to true."
      : "";
  return `Content mismatch at line ${near.line}.\nExpected:\n${numbered(expected)}\nFound:\n${numbered(near.current)}${hint}`;
}
