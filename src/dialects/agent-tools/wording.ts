// The contract's sentences. Where the contract leaves it open, they say what to do next: the reader is an agent that
// can correct the call.
import { patternProblem } from "../../contract/problems.ts";
import { plainWording, sayIssue, type Wording } from "../../contract/wording.ts";
import type { Faults, NearMiss, NumberedLine } from "../../engine/fault.ts";
import { numbered } from "./output.ts";

export const wording: Wording = {
  ...plainWording,
  invalid_params: ({ issues }) => `Invalid input: ${issues.map(sayIssue).join("; ")}`,
  outside_roots: ({ path }) =>
    `Path escapes the workspace root: ${path} (use a path inside the workspace; links that lead out are not followed)`,
  not_found: ({ path }) => `No such file: ${path}`,
  parent_not_found: ({ path }) => `Parent directory does not exist: ${path} (create it first)`,
  is_a_link: ({ path }) => `Path is a symbolic link, and writing through links is not allowed: ${path}`,
  not_text: ({ path }) => `File appears to be binary: ${path} (UTF-16 can be read but not edited)`,
  past_end: ({ path, line, lines }) =>
    `offset ${line} is past the end of ${path}, which has ${linesOf(lines)}`,
  invalid_pattern: ({ pattern, kind, problem }) =>
    kind === "glob"
      ? `Invalid glob: ${pattern} (${patternProblem(problem)})`
      : `Invalid regex: ${pattern} (${complaint(patternProblem(problem))}; Rust syntax: escape special characters with \\ to match them as they are)`,
  no_change: ({ path }) => `old_string and new_string are identical, nothing to change in ${path}`,
  no_match: ({ path, near }) => `old_string was not found in ${path}. ${near ? hint(near) : advice}`,
  ambiguous,
  patch_conflict: ({ path, hunk, reason, why, endsWithBreak, current }) =>
    reason === "lines_left"
      ? `Hunk ${hunk} deletes ${path}, but leaves lines in it:\n${quoted(current)}`
      : `Hunk ${hunk} ${reason === "ambiguous" ? "fits more than one place in" : "does not apply to"} ${path}` +
        (why === "only_added" ? ": it only adds lines; add the line above or below as context" : "") +
        (endsWithBreak === undefined ? "" : lastLine(endsWithBreak)) +
        (current.length === 0 ? "" : `; the file has there:\n${quoted(current)}`),
  duplicate_path: ({ path }) => `Path is named twice in the patch: ${path}`,
  exists: ({ path }) => `Path already exists: ${path}`,
};

const lastLine = (hasBreak: boolean) =>
  hasBreak
    ? ': its last line has a line break in the file; leave out "\\ No newline at end of file"'
    : ': its last line has no line break in the file; add "\\ No newline at end of file"';

const advice = "Read the file again and copy the text exactly.";

function hint({ line, difference, current }: NearMiss): string {
  const there = current.length === 0 ? "" : `:\n${quoted(current)}`;
  switch (difference) {
    case "line_numbers":
      return `It has line numbers as read_file prints them; without them it is at line ${line}. Leave out the number and the tab before each line.`;
    case "whitespace":
      return `It is at line ${line} with different whitespace${there}`;
    case "line_endings":
      return `It has \\n written out as a backslash and a letter; with real line breaks it is at line ${line}.`;
    case "quotes":
      return `It is at line ${line} with different quotes, dashes or spaces${there}`;
    case "case":
      return `It is at line ${line} in different case${there}`;
    case "text":
      return `The most similar text is at line ${line}${there}`;
  }
}

function ambiguous({ path, count, tolerance, lines }: Faults["ambiguous"]): string {
  const where = `lines ${lines.join(", ")}${count > lines.length ? ", …" : ""}`;
  return tolerance === "exact"
    ? `old_string matches ${count} places in ${path} (${where}). Add surrounding lines to make it unique, or set replace_all.`
    : `old_string does not match exactly; ignoring whitespace, it matches ${count} places in ${path} (${where}). Copy the text exactly, with enough lines to make it unique.`;
}

/** The message in ripgrep's output about a pattern, without its drawings and option names. */
function complaint(reason: string): string {
  return /^error: (.*)$/m.exec(reason)?.[1] ?? reason;
}

/** Lines as `read_file` prints them. */
function quoted(places: readonly NumberedLine[]): string {
  return places.map(({ line, text }) => numbered(line) + text).join("\n");
}

function linesOf(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}
