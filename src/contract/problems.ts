// The sentences for what is wrong with a pattern or a patch. Dialects put them into their own sentence.
import type { PatchProblem, PatternProblem } from "../engine/fault.ts";

export function patternProblem(problem: PatternProblem): string {
  switch (problem.is) {
    case "empty":
      return "empty pattern";
    case "unclosed":
      return "unclosed '[' or '{'";
    case "line_break":
      return "a match never spans lines, so a line break cannot match";
    case "too_long":
      return `longer than ${problem.limit} ${problem.unit}`;
    case "too_many_alternatives":
      return `more than ${problem.limit} alternatives`;
    case "backwards_range":
      return `the range ${problem.found} in [] runs backwards`;
    case "brace_range":
      return `${problem.found} is not expanded; write {a,b,c} or [a-c]`;
    case "group":
      return `${problem.found} is not supported; write {a,b}, or \\( for a parenthesis`;
    case "message":
      return problem.message;
  }
}

export const patchProblems: Readonly<Record<PatchProblem, string>> = {
  not_unicode: "not valid Unicode",
  no_file: "the patch names no file",
  no_name: "the patch does not name its file",
  other_names: "the names are not those of the header above",
  ambiguous_names: "the names in the header are ambiguous",
  half_rename: "a rename or copy names both files",
  binary: "binary files cannot be patched",
  symlink: "symbolic links cannot be patched",
  submodule: "submodules cannot be patched",
  hunk_without_names: 'a hunk without "---" and "+++" lines before it',
  hunk_header: 'a hunk header is "@@ -line,count +line,count @@"',
  hunk_too_long: "the hunk has more lines than its header says",
  hunk_too_short: "the hunk has fewer lines than its header says",
  hunk_counts: "the hunk does not have as many lines as its header says",
  cut_off: "the patch ends before the hunk has as many lines as its header says",
  hunk_without_change: "the hunk changes nothing",
  file_without_change: "the patch changes nothing in its file",
  misplaced_no_newline: 'no line before "\\ No newline at end of file"',
  old_lines_in_new_file: "a new file has no old lines",
  new_lines_in_deleted_file: "a deleted file has no new lines",
  several_hunks: "a new or deleted file has one hunk",
  envelope_begin: '"*** Begin Patch" must be on its own line',
  envelope_end: '"*** End Patch" is missing',
  after_envelope: 'text after "*** End Patch"',
  envelope_file: 'expected "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  added_line: 'lines of an added file begin with "+"',
  hunk_line: 'a line of a hunk begins with " ", "-" or "+"',
};
