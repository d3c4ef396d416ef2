// Failures: the first line says what happened, the second what to do about it, and where it helps the lines of the
// file follow. The reader is an agent that can correct the call.

import { sayConflicts } from "../../contract/conflict-wording.ts";
import { patchProblems, patternProblem, sandboxAdvice, sandboxProblem } from "../../contract/problems.ts";
import {
  allowIrrevocable,
  grantCommands,
  plainWording,
  printable,
  sayIssue,
  sayPrivacy,
  type Wording,
  whyIrrevocable,
} from "../../contract/wording.ts";
import type { Faults, NearMiss, NumberedLine } from "../../engine/fault.ts";
import { humanSize } from "../../engine/text/size.ts";
import { counted, number } from "./answer.ts";
import { wholeName } from "./queried-name.ts";
import { whitespaceOf } from "./whitespace.ts";

type AboutPath = { readonly path: string };

const again = "Try again.";
const readAgain = ({ path }: AboutPath) =>
  `Read ${printable(path)} again and repeat the edit on its current content.`;

/** Two lines: what happened, and what to do. */
function say<D>(what: (data: D) => string, todo: string | ((data: D) => string)): (data: D) => string {
  return data => `${what(data)}\n${typeof todo === "string" ? todo : todo(data)}`;
}

const at =
  (words: string) =>
  <D extends AboutPath>(data: D) =>
    `${printable(data.path)} ${words}`;

const patchNotations =
  "Send a unified diff, or *** Begin Patch … *** End Patch with *** Add|Update|Delete File: path.";
const leaveOut =
  "Nothing was changed. Leave this file out of the patch (from its diff --git line to the next), and the rest applies.";
const countAgain =
  "Correct the counts in the @@ line of the hunk, or send *** Begin Patch … *** End Patch, where an @@ line has none.";

/** What to do about a patch that cannot be read, where it is not to write it in one of the notations. */
const patchAdvice: Partial<Record<Faults["malformed_patch"]["problem"], string>> = {
  binary: leaveOut,
  symlink: leaveOut,
  submodule: leaveOut,
  hunk_too_long: countAgain,
  hunk_too_short: countAgain,
  hunk_counts: countAgain,
  cut_off: countAgain,
};

/** What to do about a hunk without a place. */
const conflictAdvice = {
  no_match: "Make the hunk from the current lines:",
  ambiguous: "Add lines of context that make it unique.",
  no_anchor:
    "No line matches its @@ anchor: copy a line of the file there, or leave the anchor out. The current lines:",
  not_at_end:
    "It ends with a change, which means the end of the file: add the line below the change as context. The current lines:",
  only_added:
    "It only adds lines, and a line number alone is no safe place: add the line above or below as context. The current lines:",
} as const;
const endAdvice = (hasBreak: boolean) =>
  hasBreak
    ? 'In the file, the last line of this hunk has a line break: leave out "\\ No newline at end of file" behind it. The current lines:'
    : 'In the file, the last line of this hunk has no line break: add "\\ No newline at end of file" behind it. The current lines:';
const sandboxHints = {
  rules: "Remove or rename such files, or ask the user for a rule that denies a directory above them.",
  repeat: again,
  room: "Free space among the temporary files, or ask the user to.",
  grant: "Ask the user to serve a directory instead of the whole disk.",
  install: "Ask the user to install one (bubblewrap on Linux).",
} as const;
const forbidden = {
  open: "reading is denied",
  change: "changes are denied",
  mask: "a masked value can be kept in its place or replaced, not copied or moved, and this is refused",
} as const;

export const wording: Wording = {
  ...plainWording,
  invalid_params: say(
    ({ issues }) => issues.map(sayIssue).join("; "),
    "Correct the parameters and call again.",
  ),
  invalid_argument: ({ message }) =>
    message.includes("\n") ? message : `${message}\nCorrect it and call again.`,
  cancelled: say(() => "the call was cancelled", "Nothing was changed by it."),
  timeout: say(
    ({ ms, what }) => `stopped after ${number(ms)} ms: ${printable(what.slice(0, 200))}`,
    "Narrow it (a path, a glob, a simpler pattern), or allow more time where there is a parameter for it.",
  ),
  denied: say(({ what }) => printable(what), "Ask the user: only they can allow it."),
  internal: say(({ message }) => `internal error: ${printable(message)}`, again),

  invalid_path: say(
    data => plainWording.invalid_path(data).replace(/^P/, "p"),
    ({ reason }) =>
      reason === "not_utf8"
        ? "It can be listed, moved and renamed: give it another name first."
        : "Paths are absolute inside a root, relative to the first root, ~/… or file://….",
  ),
  outside_roots: say(
    at("is outside the roots"),
    "list_roots shows the served directories; links that lead outside are not followed.",
  ),
  approval_needed: ({ path, needs }) =>
    `${printable(path)}: the policy needs a person's approval, and this client cannot ask for it\nThe person who runs the server can allow it: ${grantCommands(needs)}`,
  forbidden: say(
    ({ path, rule, to }) => `${printable(path)}: ${forbidden[to]} by the policy (${printable(rule)})`,
    "Only the person who runs the server can allow it, by changing the rule in the policy; a grant does not lift it.",
  ),
  read_only: say(
    data => at(data.fileSystem ? "is on a read-only file system" : "is in a read-only root")(data),
    ({ fileSystem }) =>
      fileSystem
        ? "Nothing was changed. It is mounted read-only, or became so after a disk error: tell the user."
        : "It can be read but not changed; list_roots shows which roots are writable.",
  ),
  not_found: say(at("does not exist"), ({ nearest = [] }) =>
    nearest.length === 0
      ? "list_directory and find_files show what is there."
      : `Did you mean ${nearest.map(printable).join(", ")}?`,
  ),
  parent_not_found: say(
    at("has no parent directory"),
    "create_directory creates it; if a link above is dangling, remove the link first.",
  ),
  exists: say(at("already exists"), "Use another path, or delete it first with delete_path."),
  not_a_file: say(
    ({ path, kind }) => `${printable(path)} is a ${kind}, not a file`,
    ({ kind }) =>
      kind === "directory"
        ? "list_directory shows what is in it."
        : "Only regular files are read and written.",
  ),
  not_a_directory: say(
    at("is not a directory, or runs through a file"),
    "Name a directory; file_info shows what a path is.",
  ),
  not_empty: say(
    at("is a directory that is not empty"),
    "delete_path with recursive: true deletes it with its contents.",
  ),
  is_a_link: say(at("is a symbolic link"), "Name the path that it leads to; file_info shows it."),
  state_in_root: say(
    ({ path, root }) => `The state directory ${printable(path)} is inside ${printable(root)}.`,
    "Choose one outside, or use the default.",
  ),
  protected_root: say(
    at("is a root, or belongs to the server"),
    "It cannot be deleted, moved or replaced itself.",
  ),
  into_itself: say(at("is inside the directory to move or copy"), "Choose a destination outside it."),
  irrevocable: say(
    data => `${whyIrrevocable(data)}: undo could not restore it (${allowIrrevocable})`,
    "Ask the user: only they can allow it.",
  ),
  permission_denied: say(at("cannot be accessed: permission denied"), ({ privacy }) =>
    ["Ask the user to change its permissions.", ...(privacy ? [sayPrivacy] : [])].join(" "),
  ),
  no_space: say(at("cannot be written: the disk is full"), "Nothing was changed. Free some space first."),
  too_many_open_files: say(at("cannot be opened: too many files are open"), again),
  busy: say(at("cannot be moved or removed: something is mounted there"), "Ask the user to unmount it."),
  io: say(({ path, errno, call }) => `${printable(path)}: ${call} failed with ${errno}`, again),

  binary: say(
    ({ path, encoding }) =>
      `${printable(path)} is ${encoding === undefined ? "binary" : `${printable(encoding)} text, which is not supported`}`,
    ({ encoding }) =>
      encoding === undefined
        ? "read_file with encoding: base64 or hex shows its bytes; if it is text, edit_file takes its encoding."
        : "Convert it to UTF-8 first, or read it with read_file and encoding: base64 or hex.",
  ),
  not_text: say(
    ({ path, encoding }) => `${printable(path)} is not ${printable(encoding)} text`,
    "Name its encoding, or read it with read_file and encoding: base64 or hex.",
  ),
  unencodable: say(
    ({ path, encoding, character, line, likely }) =>
      likely === undefined
        ? `${printable(JSON.stringify(character))} (line ${line}) cannot be written in ${printable(encoding)}, the encoding of ${printable(path)}`
        : `${printable(JSON.stringify(character))} (line ${line}) would put a second encoding into ${printable(path)}: ${inDoubt(likely)}`,
    ({ likely }) =>
      likely === undefined
        ? "Use another character, or write the whole file with write_file and encoding: utf-8."
        : "Name the file's encoding with encoding, use ASCII only, or overwrite the whole file with encoding: utf-8.",
  ),
  too_large: say(
    ({ path, size, limit }) => `${printable(path)} has ${humanSize(size)}; the limit is ${humanSize(limit)}`,
    "Read a part with offset and limit; larger files cannot be edited here.",
  ),
  too_many_files: say(
    ({ limit, count }) =>
      count === undefined
        ? `paths match more than ${counted(limit, "file")}; nothing was changed`
        : `it is in ${counted(count, "file")}, more than max_files (${limit}); nothing was changed`,
    ({ count }) => (count === undefined ? "Narrow paths." : "Narrow paths, or raise max_files."),
  ),
  past_end: say(
    ({ path, line, lines }) => `${printable(path)} has ${counted(lines, "line")}; there is no line ${line}`,
    "Lines count from 1; read_file shows them with their numbers.",
  ),

  nothing_matches: say(
    ({ glob }) => `no file matches ${printable(glob)}`,
    "find_files shows what a glob matches; ignored files are left out.",
  ),
  search_incomplete: say(
    ({ reason }) =>
      reason === "memory" ? "a line in a large file is too long to search" : "the search process was killed",
    ({ reason }) => (reason === "memory" ? "leave large files out" : "try again"),
  ),
  invalid_pattern: say(
    ({ kind, pattern, problem }) =>
      `${printable(JSON.stringify(pattern))} is not a valid ${kind}: ${printable(essence(patternProblem(problem)))}`,
    ({ kind }) =>
      kind === "regex" ? "Correct it, or search for plain text instead." : "Correct it: * ** ? [abc] {a,b}.",
  ),

  no_match: noMatch,
  ambiguous: say(
    ({ path, edit, count, tolerance, lines }) =>
      `${oldOf(edit)} fits ${counted(count, "place")} in ${printable(path)}${tolerance === "exact" ? "" : ", none of them exactly"} ` +
      `(lines ${lines.join(", ")}${count > lines.length ? ", …" : ""})`,
    ({ tolerance }) =>
      tolerance === "exact"
        ? "Add a neighbouring line to make it unique, set all: true for every place, or edit by start_line and end_line."
        : "Copy the text exactly, with a neighbouring line that makes it unique, or edit by start_line and end_line.",
  ),
  unknown_symbol: say(
    ({ path, symbol }) => `${printable(path)} declares no ${printable(symbol)}`,
    ({ nearest, compared, unparsed }) => {
      if (compared !== undefined)
        return `Only its first ${number(compared)} sections are known; find others with search_text.`;
      const hint =
        nearest.length === 0
          ? "read_file with outline: true shows what it declares."
          : `Did you mean ${nearest.map(printable).join(", ")}?`;
      return unparsed ? `${hint} The file is too large to parse: only blocks are known.` : hint;
    },
  ),
  ambiguous_symbol: say(
    ({ path, symbol, candidates, count = candidates.length }) =>
      `${printable(symbol)} fits ${counted(count, "declaration")} in ${printable(path)}`,
    ({ path, symbol, candidates, count = candidates.length }) => {
      const some = candidates.slice(0, 20);
      const more = count > some.length ? ", …" : "";
      const notations = some.flatMap(({ notation }) => (notation === undefined ? [] : [printable(notation)]));
      const places = some
        .filter(({ notation }) => notation === undefined)
        .map(
          ({ name, path: own = path, from, to }) => `${printable(name)} (${printable(own)}:${from}-${to})`,
        );
      if (notations.length > 0) {
        const others =
          places.length === 0 ? [] : [`Uses of these cannot be distinguished: ${places.join(", ")}`];
        const all = `For all of them: match: regex, old: ${printable(wholeName(symbol))}`;
        return [`Set old to one of: ${notations.join(", ")}${more}`, ...others, all].join("\n");
      }
      const how = candidates.some(one => one.path !== undefined)
        ? "Their uses cannot be distinguished. Edit each place with edit_file"
        : "Name one in full, or by its lines";
      if (candidates.every(one => one.path === undefined && one.name === candidates[0]?.name))
        return `All have that name. Use the lines of one: ${some.map(({ from, to }) => `${from}-${to}`).join(", ")}${more}`;
      return `${how}: ${places.join(", ")}${more}`;
    },
  ),
  no_change: say(
    ({ path, edit }) => `${oldOf(edit)} and its new text are the same (${printable(path)})`,
    "Leave this edit out, or correct new.",
  ),
  missing_group: say(
    ({ reference, groups }) =>
      `new refers to ${printable(reference)}, but the pattern has ${counted(groups, "group")}`,
    "Use $1, $2, … or the name in braces; $$ is a dollar sign.",
  ),
  edits_overlap: say(
    ({ path, edits, line }) =>
      `edits[${edits[0]}] and edits[${edits[1]}] overlap at line ${line} of ${printable(path)}`,
    "Combine them into one edit. All edits refer to the file as it was read.",
  ),
  stale: data => {
    const { path, current, around = current, version, edits = [] } = data;
    const name = printable(path);
    if (version === "") return `${name} has changed since then\nlist_changes shows the later changes.`;
    // That version may be an older one that is not kept any more, or one of another file.
    if (current.length === 0)
      return `${name} is not that version, but ${version}\nRead ${name} again and repeat the call for its current content.`;
    const what = `${name} has changed since then; it is now ${version}`;
    const who = edits.length === 0 ? "" : ` (${edits.map(edit => `edits[${edit}]`).join(", ")})`;
    return `${what}\nThe same lines were changed, or adjoining ones${who}. Repeat the edit on the current lines:\n${numbered(around)}`;
  },
  malformed_patch: say(
    ({ line, problem }) => `line ${line} of the patch: ${patchProblems[problem]}`,
    ({ problem }) => patchAdvice[problem] ?? patchNotations,
  ),
  patch_conflict: data => {
    const { path, hunk, reason, why, endsWithBreak, current } = data;
    if (reason === "lines_left")
      return (
        `the patch deletes ${printable(path)}, but does not remove all of its lines; nothing was changed\n` +
        `Remove these lines in the hunk, too, or use delete_path:\n${numbered(current)}`
      );
    if (reason === "already_applied")
      return (
        `hunk ${hunk} is already applied to ${printable(path)}: its new lines are there; nothing was changed\n` +
        `Leave the hunk out. The current lines:\n${numbered(current)}`
      );
    const how = reason === "ambiguous" ? "fits more than one place in" : "does not apply to";
    const what = `hunk ${hunk} ${how} ${printable(path)}; nothing was changed`;
    const todo = endsWithBreak === undefined ? conflictAdvice[why ?? reason] : endAdvice(endsWithBreak);
    return [what, todo, ...(current.length > 0 ? [numbered(current)] : [])].join("\n");
  },
  duplicate_path: say(
    ({ path }) => `${printable(path)} is named twice`,
    "Put all hunks of a file together; rename and edit in one.",
  ),
  changed_meanwhile: say(at("keeps changing while it is edited"), readAgain),
  locked: say(
    ({ path, by }) =>
      by === "command"
        ? `${printable(path)} cannot be changed now: a command is running that must not see it`
        : `${printable(path)} is locked by another process`,
    ({ by }) => (by === "command" ? "Wait for the command, or end it with stop_command." : again),
  ),

  invalid_command: say(plainWording.invalid_command, "Send a command for sh."),
  spawn_failed: say(({ errno }) => `the command could not be started (${errno})`, again),
  output_limit: say(
    ({ limit }) => `the command wrote more than ${humanSize(limit)} and was stopped`,
    "Redirect its output to a file.",
  ),
  no_sandbox: say(
    ({ problem }) =>
      sandboxAdvice(problem) === "install"
        ? `no sandbox for commands: ${printable(sandboxProblem(problem))}`
        : `the command cannot run: ${printable(sandboxProblem(problem))}`,
    ({ problem }) => sandboxHints[sandboxAdvice(problem)],
  ),
  unknown_job: say(
    ({ job, on, here }) =>
      on === undefined
        ? `there is no job ${printable(job)}`
        : `job ${printable(job)} runs on the replica ${printable(on)}, and this is ${printable(here ?? "")}`,
    ({ on }) =>
      on === undefined
        ? "Jobs end with the connection; run_command with background: true starts one."
        : "A job can only be reached on the replica and in the connection that started it. Start it again, or without background.",
  ),
  too_many_jobs: say(
    ({ limit }) => `${limit} commands already run in the background`,
    "stop_command ends one of them.",
  ),

  unknown_change: say(
    ({ id, path }) => {
      if (path !== undefined) return `${printable(id)} has no separate change of ${printable(path)}`;
      return id === "" ? "there is no change to undo" : `there is no change ${printable(id)} here`;
    },
    ({ path }) =>
      path === undefined
        ? "list_changes shows what can be undone."
        : "list_changes shows its paths: one of them can be undone alone, and so can a path in a directory that it created. A directory that it deleted or moved is undone as a whole.",
  ),
  unknown_hunk: say(
    ({ hunk, hunks, within }) =>
      within === undefined
        ? `there is no hunk ${hunk}: the change has ${counted(hunks, "hunk")}`
        : `hunk ${hunk} is not in ${printable(within.path)}: ${hunkRange(within.numbers)}; nothing was undone`,
    "list_changes with diff: true shows hunks with their numbers; with path, those of one file.",
  ),
  not_kept: say(
    ({ path, change }) =>
      `the content of ${printable(path)} before ${printable(change)} is not kept: it was too large or is too old, or the disk had no room for it or failed`,
    "It cannot be undone here; a backup or version control may have it.",
  ),
  others_work: say(
    ({ change, paths }) =>
      `commands of others ran at the same time as that of ${printable(change)}, and may have made some of its changes; nothing was undone: ${someOf(paths)}`,
    ({ change }) =>
      `Undo what is yours by its path: undo with change ${printable(change)} and path, a file or a directory.`,
  ),
  invalid_workspace_name: say(plainWording.invalid_workspace_name, "Choose another name."),
  workspace_dropped: say(
    ({ name }) => `the workspace ${printable(name)} was dropped and accepts no more changes`,
    "The user can restore it: polyfs workspace restore NAME.",
  ),
  unknown_workspace: say(
    ({ name, nearest = [] }) =>
      `there is no workspace ${printable(JSON.stringify(name))}${nearest.length > 0 ? `; there ${nearest.length === 1 ? "is" : "are"} ${nearest.map(printable).join(", ")}` : ""}`,
    "workspace with action list shows them.",
  ),
  workspace_exists: say(({ name }) => `the name ${printable(name)} is taken`, "Choose another name."),
  not_a_fork: say(
    plainWording.not_a_fork,
    "Only forks can be compared and merged: name one. workspace with action list shows them.",
  ),
  has_forks: say(plainWording.has_forks, "Merge or drop those first."),
  nested_workspace: say(plainWording.nested_workspace, "Choose another directory."),
  base_changing: say(plainWording.base_changing, "Try again when nothing writes there."),
  base_gone: say(
    ({ name, base }) => `what ${printable(name)} needs no longer exists: ${printable(base)}`,
    "The fork's own files are intact. Ask the user to restore it.",
  ),
  not_mounted: say(({ reason }) => `the workspace cannot be mounted: ${printable(reason)}`, "Ask the user."),
  merge_conflict: ({ name, base, conflicts }) =>
    `nothing was merged: ${printable(name)} and its base ${printable(base)} changed the same lines or files\n${conflicts.every(({ masked }) => masked) ? "" : `Rewrite these files in ${printable(name)} so that they hold what both sides want, then merge again.\n`}${sayConflicts(conflicts, printable)}`,
  over_quota: say(
    data => plainWording.over_quota(data).replace(/^T/, "t"),
    "Delete something first, or ask the user to raise the limit.",
  ),
  history_full: say(
    data => plainWording.history_full(data).replace(/^T/, "t"),
    "Deleting files frees nothing, because their history is kept. Ask the user to raise --store-max-bytes, or the limit of the token.",
  ),
  partly_undone: say(
    data => plainWording.partly_undone(data).replace(/^T/, "t"),
    "list_changes shows them as undone. Undo the rest, or undo their undo, when the cause is gone.",
  ),
  // Waiting helps only if the store may recover on its own.
  store_unavailable: say(
    ({ reason, detail }) => plainWording.store_unavailable({ reason, detail }),
    ({ reason, change }) =>
      change === "unknown"
        ? "The store did not confirm the change. When it is back, read the file again to see whether the change was made."
        : `Nothing was changed. ${reason === "unreachable" ? "Try again later" : "Ask the user; trying again does not help"}. Reads continue from this server's copy.`,
  ),
  not_applied: say(
    ({ paths: [first = "", ...more] }) =>
      `the change is in the shared store, but could not be applied to this server's copy yet: ${printable(first)}${more.length > 0 ? ` and ${more.length} more` : ""}`,
    "Do not repeat the change. Read the files again.",
  ),
};

function inDoubt(likely: readonly string[]): string {
  if (likely.length === 0) return "its encoding is not known";
  if (likely.length === 1) return `it is in ${likely[0]}`;
  return `its encoding is not certain (likely: ${likely.join(", ")})`;
}

/** The line in a program's output about a pattern that says what is wrong. */
function essence(reason: string): string {
  const lines = reason.split("\n").filter(line => line.trim() !== "");
  return (lines.find(line => line.startsWith("error: ")) ?? lines[0] ?? "").replace(/^error: /, "");
}

/** `edits[0].old`; with only one edit, `old`. */
function oldOf(edit: number): string {
  return edit < 0 ? "old" : `edits[${edit}].old`;
}

function noMatch({ path, old, edit, near }: Faults["no_match"]): string {
  const what = `${oldOf(edit)} is not in ${printable(path)}`;
  if (edit < 0) return `${what}\nsearch_text with ignore_case, or with a part of it, shows what is there.`;
  if (near === undefined) return `${what}\nRead the file again and copy the text exactly.`;
  const lines = near.current.map(({ text }) => text).join("\n");
  const cut = old.split("\n").length > near.current.length && near.current.length === 12;
  const isLossy = lines.includes("\ufffd");
  return [
    `${what}\n${nearly(old, near)}:\n${lines}`,
    ...(cut ? ["[the first 12 lines; read_file shows the rest]"] : []),
    ...(isLossy ? ["[some bytes are not text: name the file's encoding with encoding]"] : []),
  ].join("\n");
}

/** The nearest region and the difference; the lines that follow are what to send. */
function nearly(old: string, { line, difference, current }: NearMiss): string {
  const send = "Send the current text";
  switch (difference) {
    case "line_numbers":
      return `Without the line numbers it is at line ${line}. ${send}`;
    case "whitespace":
      return `At line ${line} it occurs with ${whitespaceOf(old, current)}. ${send}`;
    case "line_endings":
      return `It has \\n written out as two characters; with line breaks it is at line ${line}. ${send}`;
    case "quotes":
      return `At line ${line} it occurs with other quotes, dashes or spaces. ${send}`;
    case "case":
      return `At line ${line} it occurs with different case. ${send}`;
    case "text":
      return `The most similar place is line ${line}; if you mean that, send the current text`;
  }
}

/** Lines as read_file prints them. */
function numbered(places: readonly NumberedLine[]): string {
  return places.map(({ line, text }) => `${line}: ${text}`).join("\n");
}

function someOf(paths: readonly string[]): string {
  const more = paths.length > 10 ? `, and ${paths.length - 10} more` : "";
  return paths.slice(0, 10).map(printable).join(", ") + more;
}

function hunkRange(numbers: readonly [number, number] | undefined): string {
  if (numbers === undefined) return "the change has no hunks there";
  const [first, last] = numbers;
  return first === last ? `its only one is ${first}` : `its hunks are ${first} to ${last}`;
}
