// Failures, as data. The engine throws a Fault with a code and the facts; each dialect words it
// (contract/wording.ts), so a new code here needs a sentence there.

/** The kind of a directory entry or an open object. */
export type Kind = "file" | "directory" | "symlink" | "fifo" | "socket" | "device" | "other";

/** One problem with the parameters of a call. `at` is a path such as `edits[2].old`, "" for the whole. */
export interface ParameterIssue {
  readonly at: string;
  readonly rule: string;
  readonly expected: string;
  readonly got: string;
}

/** A place in a text, for refusals that show where to look. Lines count from 1. */
export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/** What is wrong with a pattern. */
export type PatternProblem =
  | { readonly is: "empty" | "unclosed" | "line_break" }
  | { readonly is: "too_long"; readonly limit: number; readonly unit: "bytes" | "characters" }
  | { readonly is: "too_many_alternatives"; readonly limit: number }
  /** A class such as `[z-a]`, and notations of other tools: `{1..3}`, `@(a|b)`. */
  | { readonly is: "backwards_range" | "brace_range" | "group"; readonly found: string }
  /** The message of a regular expression engine, or of a contract. */
  | { readonly is: "message"; readonly message: string };

/** Why a command cannot run in a sandbox. */
export type SandboxProblem =
  /** `absent`: none was opened. `whole_disk`: it would hide nothing. `no_room`: for its temporary files. */
  | { readonly is: "absent" | "whole_disk" | "no_room" }
  /** Rules concern more paths than a sandbox can cover, or one whose name cannot be passed on. */
  | { readonly is: "too_many_paths"; readonly paths: number }
  | { readonly is: "no_unicode"; readonly path: string }
  /** It was moved while the command was started. */
  | { readonly is: "moved"; readonly path: string }
  /** What the sandbox itself printed. */
  | { readonly is: "message"; readonly message: string };

/** What is wrong with a patch. */
export type PatchProblem =
  | "not_unicode"
  | "no_file"
  | "no_name"
  | "other_names"
  | "ambiguous_names"
  | "half_rename"
  | "binary"
  | "symlink"
  | "submodule"
  | "hunk_without_names"
  | "hunk_header"
  | "hunk_too_long"
  | "hunk_too_short"
  | "hunk_counts"
  | "cut_off"
  | "hunk_without_change"
  | "file_without_change"
  | "misplaced_no_newline"
  | "old_lines_in_new_file"
  | "new_lines_in_deleted_file"
  | "several_hunks"
  | "envelope_begin"
  | "envelope_end"
  | "after_envelope"
  | "envelope_file"
  | "added_line"
  | "hunk_line";

/** The data of each failure, by its code. */
export interface Faults {
  // the call
  unknown_tool: { readonly name: string };
  invalid_params: { readonly issues: readonly ParameterIssue[] };
  /**
   * Parameters that are valid alone, but not together, or not for this file. The message is in the contract's words.
   */
  invalid_argument: { readonly message: string; readonly path?: string };
  cancelled: Record<never, never>;
  timeout: { readonly ms: number; readonly what: string };
  denied: { readonly what: string };
  internal: { readonly message: string };

  // paths
  invalid_path: {
    readonly path: string;
    readonly reason: "empty" | "nul" | "too_long" | "not_unicode" | "not_utf8" | "symlink_loop" | "reserved";
  };
  outside_roots: { readonly path: string };
  /** `fileSystem`: it is mounted read-only, or became so after an error. Otherwise the root was granted for reading. */
  read_only: { readonly path: string; readonly fileSystem?: boolean };
  /** `outside`: an undo found it so, and no recorded change did it. The same for `exists` and `stale`. */
  not_found: { readonly path: string; readonly nearest?: readonly string[]; readonly outside?: true };
  parent_not_found: { readonly path: string };
  exists: { readonly path: string; readonly kind?: Kind; readonly outside?: true };
  not_a_file: { readonly path: string; readonly kind: Kind };
  not_a_directory: { readonly path: string };
  not_empty: { readonly path: string };
  is_a_link: { readonly path: string };
  protected_root: { readonly path: string };
  /** The state directory that was named is in a root. */
  state_in_root: { readonly path: string; readonly root: string };
  into_itself: { readonly path: string };
  /** `privacy`: macOS may have refused because the person has not let the program in. */
  permission_denied: { readonly path: string; readonly privacy?: true };
  /** Removing or replacing it would lose something that undo cannot restore. `inside`: its path in a tree. */
  irrevocable: {
    readonly path: string;
    readonly inside?: string;
    readonly reason: "special" | "unreadable" | "too_long" | "too_large" | "no_room";
    /** Of something special. */
    readonly kind?: Kind;
    /** Its size, and the limits of what is kept. */
    readonly bytes?: number;
    readonly limits?: { readonly maxFileBytes: number; readonly maxChangeBytes: number };
  };
  /** A policy rule forbids it. `mask`: the new content would copy or reveal a hidden value. */
  forbidden: { readonly path: string; readonly rule: string; readonly to: "open" | "change" | "mask" };
  /** A rule wants a person to be asked first. `path` is the first of them. */
  approval_needed: {
    readonly path: string;
    readonly needs: readonly {
      readonly at: string;
      readonly question: "write" | "delete" | "run";
      readonly rule?: string | undefined;
    }[];
    /** What would be changed, as far as it is known: `bytes` are those that would be on the disk. */
    readonly proposed?: readonly {
      readonly at: string;
      readonly from?: string;
      readonly bytes?: Uint8Array;
      readonly removes?: boolean;
    }[];
  };
  no_space: { readonly path: string };
  too_many_open_files: { readonly path: string };
  /** Something is mounted there, or the system uses it. */
  busy: { readonly path: string };
  io: { readonly path: string; readonly errno: string; readonly call: string };

  // contents
  /** `encoding` is set where the bytes are text in an encoding that is not supported. */
  binary: { readonly path: string; readonly encoding?: string };
  not_text: { readonly path: string; readonly encoding: string };
  unencodable: {
    readonly path: string;
    readonly encoding: string;
    readonly character: string;
    readonly line: number;
    /** The candidate encodings, if the file's encoding is uncertain, or not the one that was named. */
    readonly likely?: readonly string[];
  };
  too_large: { readonly path: string; readonly size: number; readonly limit: number };
  too_many_files: {
    readonly limit: number;
    /** How many there are, if all were counted. */
    readonly count?: number;
  };
  past_end: { readonly path: string; readonly line: number; readonly lines: number };

  // patterns
  nothing_matches: { readonly glob: string };
  /** ripgrep was killed, or ran out of memory on a line of a large file: the results are incomplete. */
  search_incomplete: { readonly reason: "killed" | "memory" };
  invalid_pattern: {
    readonly pattern: string;
    readonly kind: "glob" | "regex";
    readonly problem: PatternProblem;
  };

  // symbols
  unknown_symbol: {
    readonly path: string;
    readonly symbol: string;
    readonly nearest: readonly string[];
    /** How many declarations were compared, if the file has more. */
    readonly compared?: number;
    /** The file has a grammar, but is too large to parse, or takes too long. */
    readonly unparsed?: boolean;
  };
  ambiguous_symbol: {
    readonly path: string;
    readonly symbol: string;
    /** Of all, where the candidates are only some. */
    readonly count?: number;
    readonly candidates: readonly {
      readonly name: string;
      /** Set if it is not the requested file. */
      readonly path?: string;
      /** How the caller can name this one. */
      readonly notation?: string;
      readonly from: number;
      readonly to: number;
    }[];
  };

  // edits
  no_match: { readonly path: string; readonly old: string; readonly edit: number; readonly near?: NearMiss };
  ambiguous: {
    readonly path: string;
    readonly old: string;
    readonly edit: number;
    readonly count: number;
    readonly tolerance: string;
    readonly lines: readonly number[];
  };
  no_change: { readonly path: string; readonly edit: number };
  missing_group: {
    readonly path: string;
    readonly edit: number;
    readonly reference: string;
    readonly groups: number;
  };
  edits_overlap: { readonly path: string; readonly edits: readonly [number, number]; readonly line: number };
  /** `edits` are those that conflict with the lines in `current`; `around` shows these with their neighbours. */
  stale: {
    readonly path: string;
    readonly current: readonly NumberedLine[];
    readonly version: string;
    readonly around?: readonly NumberedLine[];
    readonly edits?: readonly number[];
    readonly outside?: true;
  };
  malformed_patch: { readonly line: number; readonly problem: PatchProblem };
  patch_conflict: {
    readonly path: string;
    readonly hunk: number;
    /**
     * `lines_left`: the hunks of a deleted file do not remove all of its lines. `already_applied`: the new lines are
     * there, and the old ones are not.
     */
    readonly reason: "no_match" | "ambiguous" | "lines_left" | "already_applied";
    /**
     * Why nothing matches, if it is not the old lines. `no_anchor`: no line is what the hunk's `@@` names. `not_at_end`:
     * a hunk without context after its changes belongs to the end of the file, and its lines are elsewhere. `only_added`:
     * the hunk has no line that shows its place.
     */
    readonly why?: "no_anchor" | "not_at_end" | "only_added";
    /** It fits but for this: whether the last line that it removes or keeps has a line break in the file. */
    readonly endsWithBreak?: boolean;
    readonly current: readonly NumberedLine[];
  };
  duplicate_path: { readonly path: string };
  changed_meanwhile: { readonly path: string };
  /** `by` "command": a command in a sandbox sees the path, and a rule covers it there. */
  locked: { readonly path: string; readonly by?: "command" };

  // the past
  /** `id` is "" if there is no change at all. `path`: the change exists, and has no file there to undo alone. */
  unknown_change: { readonly id: string; readonly path?: string };
  /** `within`: the hunks of the path that was named, by the numbers of the first and the last; none without them. */
  unknown_hunk: {
    readonly hunk: number;
    readonly hunks: number;
    readonly within?: { readonly path: string; readonly numbers?: readonly [number, number] };
  };
  /** Replaced content was too large to keep, or is no longer kept. */
  not_kept: { readonly path: string; readonly change: string };
  /** Commands of other connections ran at the same time, and may have made some of it: what to undo must be named. */
  others_work: { readonly change: string; readonly paths: readonly string[] };
  /** An undo of several changes failed, and these could not be redone: they stay undone. */
  partly_undone: { readonly changes: readonly string[]; readonly reason: Fault };

  // the shared store
  /** `detail` is English, from the store's software or ours. `change` "unknown": it was sent, and no answer came. */
  store_unavailable: { readonly reason: StoreFailure; readonly detail: string; readonly change?: "unknown" };
  /** The change is in the store, but could not be applied to this copy: its disk is full, or a program wrote there. */
  not_applied: { readonly paths: readonly string[] };

  // workspaces
  invalid_workspace_name: { readonly name: string; readonly most: number };
  /** It was dropped while it was in use. */
  workspace_dropped: { readonly name: string };
  unknown_workspace: { readonly name: string; readonly nearest?: readonly string[] };
  workspace_exists: { readonly name: string };
  not_a_fork: { readonly name: string };
  has_forks: { readonly name: string; readonly forks: readonly string[] };
  /** A directory of workspaces and an adopted directory, or two adopted ones, are in each other. */
  nested_workspace: { readonly path: string; readonly other: string };
  /** It changed faster than it could be copied or compared. */
  base_changing: { readonly name: string };
  /** The workspace that a fork was made from, or its directory, no longer exists. */
  base_gone: { readonly name: string; readonly base: string };
  not_mounted: { readonly reason: string };
  /** Nothing was merged. `fork` and `base` in a conflict are the lines of each side, where it is about lines. */
  merge_conflict: {
    readonly name: string;
    readonly base: string;
    readonly conflicts: readonly MergeConflict[];
  };
  over_quota: { readonly what: "bytes" | "files"; readonly limit: number; readonly used: number };
  /** Bytes of the history in the shared store, which deleting does not free. */
  history_full: { readonly limit: number; readonly used: number };

  // commands
  invalid_command: { readonly reason: "nul" | "empty" | "too_long" };
  spawn_failed: { readonly command: string; readonly errno: string };
  output_limit: { readonly limit: number; readonly stdout: string; readonly stderr: string };
  no_sandbox: { readonly problem: SandboxProblem };
  /** `on` is the replica that runs it, where that is another one than this. */
  unknown_job: { readonly job: string; readonly on?: string; readonly here?: string };
  too_many_jobs: { readonly limit: number };
}

/**
 * - `full`: no room, or a limit of the service.
 * - `read_only`: a standby, or a store that was mounted or opened for reading.
 * - `schema`: it was never set up, or by a newer version.
 * - `conditions`: a bucket that ignores conditional writes.
 */
export type StoreFailure =
  | "unreachable"
  | "credentials"
  | "rights"
  | "read_only"
  | "full"
  | "schema"
  | "conditions"
  | "damaged"
  | "invalid";

export interface MergeConflict {
  readonly path: string;
  readonly reason:
    | "both_changed"
    | "both_added"
    | "deleted_in_fork"
    | "deleted_in_base"
    | "both_renamed"
    | "kinds"
    | "modes"
    /** What is there in the base cannot hold, or make room for, what the fork has. */
    | "in_the_way";
  readonly fork?: readonly NumberedLine[];
  readonly base?: readonly NumberedLine[];
  /** The contents conflict as well, where that is not the reason. */
  readonly contents?: true;
  /** Of texts whose lines cannot be merged because of it. */
  readonly encodings?: { readonly fork: string; readonly base: string };
  /** A rule masks it, so the caller cannot settle it: someone who sees it has to merge. */
  readonly masked?: true;
  /** Where each side moved it. */
  readonly moved?: { readonly fork?: string; readonly base?: string };
}

/** Where a text nearly matched, and in what it differs. */
export interface NearMiss {
  readonly line: number;
  readonly difference: "whitespace" | "line_endings" | "line_numbers" | "quotes" | "case" | "text";
  readonly current: readonly NumberedLine[];
}

/** The code of a failure. */
export type FaultCode = keyof Faults;

/** A failure as data: `code` says what happened, `data` has the details. The message is for logs. */
export class Fault<C extends FaultCode = FaultCode> extends Error {
  override readonly name = "Fault";
  readonly code: C;
  readonly data: Faults[C];

  constructor(code: C, data: Faults[C], options?: { cause?: unknown }) {
    super(summary(code, data), options);
    this.code = code;
    this.data = data;
  }

  /** Narrows a caught value to one code, with its data typed. */
  static is<C extends FaultCode>(value: unknown, code: C): value is Fault<C> {
    return value instanceof Fault && value.code === code;
  }
}

/** For stack traces and logs: the code, and the path where the data names one. */
function summary(code: FaultCode, data: object): string {
  return "path" in data && typeof data.path === "string" ? `${code}: ${data.path}` : code;
}
