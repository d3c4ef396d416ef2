// The sentences for what is wrong with a pattern, a patch or a sandbox. Dialects put them into their own sentence.
import type { PatchProblem, PatternProblem, SandboxProblem } from "../engine/fault.ts";

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
  misplaced_no_newline: '"\\ No newline at end of file" is not behind a last line',
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

export function sandboxProblem(problem: SandboxProblem): string {
  switch (problem.is) {
    case "absent":
      return "none was opened";
    case "whole_disk":
      return "the whole disk is granted, so a sandbox has nothing to hide";
    case "no_room":
      return "there is no room for temporary files";
    case "too_many_paths":
      return `the rules concern ${problem.paths} paths or more, and a sandbox can cover about 1000`;
    case "no_unicode":
      return `a rule concerns ${problem.path}, whose name is not UTF-8`;
    case "moved":
      return `${problem.path} was moved while the command was started`;
    case "message":
      return problem.message;
  }
}

/** What can be done about it. `install`: no sandbox works here. */
export function sandboxAdvice({ is }: SandboxProblem): "rules" | "repeat" | "room" | "grant" | "install" {
  switch (is) {
    case "too_many_paths":
    case "no_unicode":
      return "rules";
    case "moved":
      return "repeat";
    case "no_room":
      return "room";
    case "whole_disk":
      return "grant";
    default:
      return "install";
  }
}
