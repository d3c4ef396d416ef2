// Words for faults. `Wording` is total: a new fault code does not compile until it can be said. `plainWording`
// says each of them in plain English; a dialect spreads it and puts its contract's literal sentences on top.

import type { Fault, FaultCode, Faults, ParameterIssue } from "../engine/fault.ts";
import { humanSize } from "../engine/text/size.ts";
import type { TemporaryState } from "../engine/workspace/commit/state-path.ts";
import { printedName } from "../engine/workspace/name.ts";
import { sayConflicts } from "./conflict-wording.ts";
import { patchProblems, patternProblem, sandboxAdvice, sandboxProblem } from "./problems.ts";

/** A sentence for each failure. */
export type Wording = { readonly [C in FaultCode]: (data: Faults[C]) => string };

/** The sentence for a fault. */
export function say<C extends FaultCode>(wording: Wording, fault: Fault<C>): string {
  return wording[fault.code](fault.data);
}

export function sayIssue(issue: ParameterIssue): string {
  const at = issue.at === "" ? "the arguments" : `'${printable(issue.at)}'`;
  if (issue.rule === "required") return `${at} is required (${issue.expected})`;
  if (issue.rule === "unknown") return `${at} is not a parameter of this tool`;
  const must = /^(min|max)(Items|Length)$/.test(issue.rule) ? "have" : "be";
  return `${at} must ${must} ${issue.expected}, got ${printable(issue.got)}`;
}

const invalidPath: Record<Faults["invalid_path"]["reason"], string> = {
  empty: "Path is empty",
  nul: "Path contains a NUL character",
  too_long: "Path or a name in it is too long",
  not_unicode: "Path is not valid Unicode",
  not_utf8: "This system cannot work with a directory whose name is not UTF-8",
  symlink_loop: "Path runs through too many symbolic links",
  reserved: "Path is not valid on this system",
};

const forbidden: Record<Faults["forbidden"]["to"], string> = {
  open: "Access is denied",
  change: "Changes are denied",
  mask: "Copying or moving a masked value is denied",
};

/** What is wrong with the store, and what would help. */
const storeFailure: Record<Faults["store_unavailable"]["reason"], string> = {
  unreachable: "The shared store cannot be reached",
  credentials: "The shared store does not accept the user or the password; check --store",
  rights: "The shared store denied access: the user lacks rights",
  read_only: "The shared store is read-only (a standby?); name the primary in --store",
  full: "The shared store is full",
  schema: "The shared store is not set up for this version; run `polyfs store migrate`",
  conditions:
    "The bucket ignores conditional writes, so edits could be lost; use a service that supports If-None-Match",
  damaged: "The shared store is damaged; run `polyfs store check`",
  invalid: "The shared store cannot be used this way",
};

export const allowIrrevocable = "the server can be started with --allow-irrevocable";

/** Why undo could not restore something. */
export function whyIrrevocable({ path, inside, reason, kind, bytes, limits }: Faults["irrevocable"]): string {
  const what = printable(inside === undefined ? path : `${path}/${inside}`);
  switch (reason) {
    case "special":
      return `${what} is a ${kind}`;
    case "unreadable":
      return `${what} cannot be read`;
    case "too_long":
      return `in ${printable(path)}, a path is too long`;
    case "no_room":
      return `the state directory's disk is full, so there is no room to keep ${what}; free some space on that disk`;
    case "too_large": {
      const most = limits && [limits.maxFileBytes, limits.maxChangeBytes].map(humanSize);
      return `${what} has ${humanSize(bytes ?? 0)}, more than undo keeps (${most?.[0]} in a file, ${most?.[1]} in all)`;
    }
  }
}

/** The command that grants what a rule asks about. */
export function grantCommands(needs: Faults["approval_needed"]["needs"]): string {
  const lines = needs
    .slice(0, 5)
    .map(({ at, question }) => `polyfs grant ${shellWord(at)} --${question} --for 1h`);
  return (
    lines.join(" && ") + (needs.length > lines.length ? ` (and ${needs.length - lines.length} more)` : "")
  );
}

/** A name as a shell reads it. A name with control characters is quoted so that none of them is printed. */
function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (printable(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${printable(text.replace(/[\\']/g, "\\$&"))}'`;
}

/** What it means that history is among the temporary files. */
export function sayTemporaryHistory({ path, instead }: TemporaryState): string {
  const why =
    instead === undefined ? "the user has no home directory" : `${printable(instead)} cannot be written`;
  return `Note: ${why}, so history is kept in the temporary directory, in ${printable(path)}: undo works until that is cleared. To keep it, start the server with --state-dir DIR.`;
}

/** What the person can do where macOS refuses a folder. */
export const sayPrivacy =
  "If macOS refuses it: in System Settings, Privacy & Security, give the app that starts polyfs access under Files & Folders or Full Disk Access, and start that app again.";

export const plainWording: Wording = {
  unknown_tool: ({ name }) => `Unknown tool: ${printable(name)}`,
  invalid_params: ({ issues }) => `Invalid parameters: ${issues.map(sayIssue).join("; ")}`,
  invalid_argument: ({ message }) => message,
  cancelled: () => "The call was cancelled",
  timeout: ({ ms, what }) => `Timed out after ${ms} ms: ${printable(what)}`,
  denied: ({ what }) => `Not allowed: ${printable(what)}`,
  internal: ({ message }) => `Internal error: ${printable(message)}`,

  invalid_path: ({ path, reason }) =>
    path === "" ? invalidPath[reason] : `${invalidPath[reason]}: ${printable(path)}`,
  outside_roots: ({ path }) => `Path is outside the allowed directories: ${printable(path)}`,
  read_only: ({ path, fileSystem }) =>
    fileSystem ? `The file system is read-only: ${printable(path)}` : `Path is read-only: ${printable(path)}`,
  not_found: ({ path }) => `No such file or directory: ${printable(path)}`,
  parent_not_found: ({ path }) => `Parent directory does not exist: ${printable(path)}`,
  exists: ({ path }) => `Already exists: ${printable(path)}`,
  not_a_file: ({ path, kind }) =>
    kind === "directory"
      ? `Path is a directory: ${printable(path)}`
      : `Not a regular file (${kind}): ${printable(path)}`,
  not_a_directory: ({ path }) => `Not a directory: ${printable(path)}`,
  not_empty: ({ path }) => `Directory is not empty: ${printable(path)}`,
  is_a_link: ({ path }) => `Path is a symbolic link: ${printable(path)}`,
  state_in_root: ({ path, root }) =>
    `The state directory ${printable(path)} is inside ${printable(root)}, where it could be changed: choose one outside, or use the default`,
  protected_root: ({ path }) =>
    `An allowed directory itself cannot be deleted, moved or replaced: ${printable(path)}`,
  into_itself: ({ path }) => `A directory cannot be moved or copied into itself: ${printable(path)}`,
  irrevocable: data => `Undo could not restore it: ${whyIrrevocable(data)} (${allowIrrevocable})`,
  permission_denied: ({ path, privacy }) =>
    `Permission denied: ${printable(path)}${privacy ? `. ${sayPrivacy}` : ""}`,
  forbidden: ({ path, rule, to }) =>
    `${forbidden[to]} by the policy (${printable(rule)}): ${printable(path)}`,
  approval_needed: ({ needs }) =>
    `The policy requires a person's approval. To allow it: ${grantCommands(needs)}`,
  no_space: ({ path }) => `No space left on the device: ${printable(path)}`,
  too_many_open_files: ({ path }) => `Too many open files; try again: ${printable(path)}`,
  busy: ({ path }) => `Something is mounted there, or the system uses it: ${printable(path)}`,
  io: ({ path, errno, call }) =>
    `Input/output error (${[call, errno].filter(Boolean).join(" ")}): ${printable(path)}`,

  binary: ({ path }) => `File appears to be binary: ${printable(path)}`,
  not_text: ({ path, encoding }) => `File is not valid ${printable(encoding)}: ${printable(path)}`,
  unencodable: ({ path, encoding, character, line }) =>
    `Line ${line} has ${printable(JSON.stringify(character))}, which ${printable(encoding)} cannot hold: ${printable(path)}`,
  too_large: ({ path, size, limit }) =>
    `File too large: ${printable(path)} has ${size} bytes (limit ${limit})`,
  too_many_files: ({ limit, count }) =>
    count === undefined ? `More than ${limit} files` : `${count} files; the limit is ${limit}`,
  past_end: ({ path, line, lines }) => `Line ${line} is past the end of ${printable(path)} (${lines} lines)`,

  nothing_matches: ({ glob }) => `No file matches: ${printable(glob)}`,
  search_incomplete: ({ reason }) =>
    reason === "memory"
      ? "The search is incomplete: a line in a large file is too long; leave such files out"
      : "The search is incomplete: its process was killed; try again",
  invalid_pattern: ({ pattern, kind, problem }) =>
    `Invalid ${kind}: ${printable(pattern)} (${patternProblem(problem)})`,

  unknown_symbol: ({ path, symbol }) => `No declaration of ${printable(symbol)} in ${printable(path)}`,
  ambiguous_symbol: ({ path, symbol, candidates, count = candidates.length }) =>
    `${printable(symbol)} has ${count} declarations in ${printable(path)}`,

  no_match: ({ path, old }) => `Text not found in ${printable(path)}: ${excerpt(old)}`,
  ambiguous: ({ path, count, lines }) =>
    `Text occurs in ${count} places in ${printable(path)} (lines ${lines.join(", ")}); add surrounding lines to make it unique`,
  no_change: ({ path }) => `Old and new text are the same: ${printable(path)}`,
  missing_group: ({ reference, groups }) =>
    `Replacement refers to ${printable(reference)}, but the pattern has ${groups} groups`,
  edits_overlap: ({ path, edits, line }) =>
    `Edits ${edits[0] + 1} and ${edits[1] + 1} overlap at line ${line} of ${printable(path)}`,
  stale: ({ path, version }) =>
    `${printable(path)} has changed since it was read${version === "" ? "" : `; it is now ${printable(version)}`}`,
  malformed_patch: ({ line, problem }) => `Malformed patch at line ${line}: ${patchProblems[problem]}`,
  patch_conflict: ({ path, hunk, reason }) =>
    reason === "ambiguous"
      ? `Hunk ${hunk} fits in several places of ${printable(path)}`
      : reason === "lines_left"
        ? `Hunk ${hunk} deletes ${printable(path)}, but leaves lines in it`
        : `Hunk ${hunk} does not apply to ${printable(path)}`,
  duplicate_path: ({ path }) => `Path is named twice: ${printable(path)}`,
  changed_meanwhile: ({ path }) => `File changed while it was being used; read it again: ${printable(path)}`,
  locked: ({ path, by }) =>
    by === "command"
      ? `A command is running that must not see this file; wait for it or stop it: ${printable(path)}`
      : `File is locked by another process; try again: ${printable(path)}`,

  invalid_command: ({ reason }) =>
    ({
      nul: "The command contains a NUL character, which no shell accepts; remove it",
      empty: "The command is empty",
      too_long: "The command is longer than 128 KB; put it into a file and run the file",
    })[reason],
  unknown_change: ({ id, path }) => {
    if (path !== undefined) return `${printable(id)} has no separate change of this path: ${printable(path)}`;
    return id === "" ? "There is no change to undo" : `No such change: ${printable(id)}`;
  },
  unknown_hunk: ({ hunk, hunks }) => `There is no hunk ${hunk}: there are ${hunks}`,
  not_kept: ({ path, change }) =>
    `The content that change ${printable(change)} replaced is no longer kept: ${printable(path)}`,
  others_work: ({ change, paths }) =>
    `Commands of others ran at the same time and may have made some of change ${printable(change)}; name the path to undo: ${excerpt(paths.map(printable).join(", "))}`,
  partly_undone: ({ changes, reason }) =>
    `The undo failed, and these changes stay undone: ${changes.map(printable).join(", ")}. Redoing them failed: ${say(plainWording, reason)}`,

  store_unavailable: ({ reason, detail, change }) =>
    `${storeFailure[reason]} (${printable(detail)})${change === "unknown" ? "; it may have stored the change, so read again before you repeat it" : ""}`,
  not_applied: ({ paths }) =>
    `The change is in the shared store, but could not be applied to this server's copy yet. Do not repeat it; read again: ${excerpt(paths.map(printable).join(", "))}`,

  spawn_failed: ({ command, errno }) => `Could not start the command (${errno}): ${printable(command)}`,
  output_limit: ({ limit }) => `The command wrote more than ${limit} bytes and was stopped`,
  no_sandbox: ({ problem }) =>
    sandboxAdvice(problem) === "rules"
      ? `Commands cannot run: ${printable(sandboxProblem(problem))}; remove or rename such files, or deny the directory above them`
      : `No sandbox for commands: ${printable(sandboxProblem(problem))}`,
  unknown_job: ({ job, on, here }) =>
    on === undefined
      ? `No such job: ${printable(job)}`
      : `The job ${printable(job)} runs on the replica ${printable(on)}, and this is ${printable(here ?? "")}: a job can only be reached where it was started`,
  invalid_workspace_name: ({ name, most }) =>
    `${printable(JSON.stringify(name))} cannot be the name of a workspace: letters, digits, . _ and -, at most ${most}, beginning with a letter or digit`,
  unknown_workspace: ({ name, nearest = [] }) =>
    `There is no workspace ${printable(JSON.stringify(name))}${nearest.length > 0 ? `; there ${nearest.length === 1 ? "is" : "are"} ${nearest.map(printable).join(", ")}` : ""}`,
  workspace_dropped: ({ name }) => `The workspace ${printable(name)} was dropped and accepts no more changes`,
  workspace_exists: ({ name }) => `The workspace ${printable(name)} already exists`,
  not_a_fork: ({ name }) => `${printable(name)} is not a fork: it has no base`,
  has_forks: ({ name, forks }) => `${printable(name)} has forks: ${forks.map(printable).join(", ")}`,
  nested_workspace: ({ path, other }) => `${printable(path)} and ${printable(other)} are nested`,
  base_changing: ({ name }) => `${printable(name)} changed faster than it could be read`,
  base_gone: ({ name, base }) => `What ${printable(name)} needs no longer exists: ${printable(base)}`,
  not_mounted: ({ reason }) => `The workspace cannot be mounted: ${printable(reason)}`,
  merge_conflict: ({ name, base, conflicts }) =>
    `Nothing was merged: ${printable(name)} and ${printable(base)} changed the same lines or files\n${sayConflicts(conflicts, printable)}`,
  over_quota: ({ what, limit, used }) =>
    what === "bytes"
      ? `The workspace is full: ${humanSize(used)} of ${humanSize(limit)}`
      : `The workspace is full: ${used} of ${limit} files`,
  history_full: ({ limit, used }) =>
    `The change does not fit: the history of the workspace has ${humanSize(used)} of ${humanSize(limit)} in the shared store`,
  too_many_jobs: ({ limit }) => `${limit} commands already run in the background; stop one of them first`,
};

function excerpt(body: string): string {
  return body.length > 200 ? `${body.slice(0, 200)}…` : body;
}

/** A path with its control characters made visible. */
export function printable(path: string): string {
  return printedName(path);
}

/** The same in quotes that the path cannot end: what follows a name in a question is ours. */
export function quoted(path: string): string {
  return `"${printable(path).replaceAll('"', "\\x22")}"`;
}
