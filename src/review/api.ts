// The JSON API of the review page, as types: every route, what it takes and what it answers. The page imports this
// file, so both sides compile against the same shapes. Types only: it adds nothing to either bundle.
//
// The page is served at /review/, by `polyfs review` and by `polyfs --http` alike. Routes are relative to the page:
// fetch("api/changes"), new EventSource("api/events"). Times are milliseconds since 1970. A `path` is opaque: show
// `name`, send `path` back unchanged (a name that is not UTF-8 has a form of its own in it). Strings are plain text
// and may hold anything, markup included: never put them into the document as HTML.
//
// Authentication is a cookie. Every POST carries `Content-Type: application/json` and `X-Polyfs-Review: 1`.
// A failed request answers with a Problem and a status: 400 wrong input, 401 not signed in, 403 not allowed to,
// 404 not there, 409 in conflict with the files as they are, 413 too large, 429 too many requests of this token, 500 a
// defect.

/** The body of every answer that is not 2xx. */
export interface Problem {
  /** A short code, such as `stale`, `unknown_change`, `invalid_input`. */
  readonly error: string;
  /** One or two sentences for people. */
  readonly message: string;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/session: the viewer, what it sees, and what it may do. Ask once, at the start.

export interface SessionInfo {
  readonly version: string;
  /** `local`: `polyfs review`. `http`: a token of an HTTP server. `app`: inside an MCP client. */
  readonly mode: "local" | "http" | "app";
  /** The name of the token; absent with `local`. */
  readonly who?: string;
  readonly roots: readonly RootInfo[];
  readonly may: {
    readonly undo: boolean;
    readonly answer: boolean;
    /** Whether an answer can be written into the policy file as a rule. */
    readonly writeRules: boolean;
    readonly note: boolean;
  };
  /** Servers that run now. */
  readonly servers: readonly ServerInfo[];
  /** How many changes there are to look at. */
  readonly changes: number;
  readonly now: number;
}

export interface RootInfo {
  readonly path: string;
  readonly name: string;
  readonly access: "read-only" | "read-write";
}

export interface ServerInfo {
  /** Unique while it runs. */
  readonly id: string;
  readonly pid: number;
  readonly transport: "stdio" | "http";
  readonly dialect: string;
  readonly roots: readonly string[];
  readonly started: number;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/events: server-sent events. Each has an `id:`; a browser that reconnects sends Last-Event-ID and gets what
// it missed. Where that is no longer known, `resync` comes first: fetch everything again. A comment line keeps the
// connection alive every 15 s. The name of the event (`event:`) is the key here; `data:` is the JSON of its type.

export interface Events {
  /** A call has ended. */
  readonly call: Call;
  /** A change was recorded. */
  readonly change: ChangeSummary;
  /** The policy asks something. */
  readonly question: Question;
  /** A question no longer needs an answer. */
  readonly settled: SettledQuestion;
  readonly note: Note;
  /** A note was removed. */
  readonly unnote: { readonly id: string };
  /** Something was marked as kept, or no longer kept. */
  readonly kept: Kept;
  /** A server started or ended. */
  readonly servers: readonly ServerInfo[];
  /** Events were missed: fetch everything again. */
  readonly resync: Readonly<Record<string, never>>;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/calls?limit=200: the latest calls, newest first. They are kept in memory by each server, so calls of
// servers that have ended are gone. Never contents.

export interface CallList {
  readonly calls: readonly Call[];
}

export interface Call {
  readonly id: string;
  /** When it began. */
  readonly time: number;
  readonly agent: Agent;
  readonly tool: string;
  readonly effect: "reads" | "writes" | "runs";
  /** Paths that it names, as the agent wrote them; at most 20, each at most 300 characters. */
  readonly paths: readonly string[];
  readonly ms: number;
  /** `refused`: by the policy or a person. `failed`: an error that the agent got. */
  readonly outcome: "ok" | "failed" | "refused" | "cancelled";
  /** The code of what went wrong. */
  readonly fault?: string;
  /** Changes that it made. */
  readonly changes: readonly string[];
  /** The server that ran it; see ServerInfo. */
  readonly server: string;
}

export interface Agent {
  /** What the client calls itself, `claude-code 2.1`; `review` for this page. */
  readonly client: string;
  /** Tells connections of one client apart. */
  readonly connection?: string;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/changes: changes, newest first.
//   limit=50 (at most 500)   before=ID: those before this change, for the next page
//   agent=, tool=: exactly this one   path=: a part of the path, or a glob where it has * or ?
//   since=, until=: times   task=ID: only those of this task
//   text=: only those whose old or new contents hold this text (see api/search for the places)

export interface ChangeList {
  readonly changes: readonly ChangeSummary[];
  /** Pass it as `before` for the next page; absent at the end. */
  readonly next?: string;
}

export interface ChangeSummary {
  readonly id: string;
  readonly time: number;
  readonly tool: string;
  readonly agent: Agent;
  /** The task that it belongs to. */
  readonly task: string;
  /** At most 20 of them; `fileCount` is how many there are. */
  readonly files: readonly FileSummary[];
  readonly fileCount: number;
  /** `undone`: undone whole. `partly`: in part. `standing`: neither. */
  readonly state: "standing" | "undone" | "partly";
  /** The change that this one reverts: it is an undo (or a redo, if that is an undo too). */
  readonly undoes?: string;
  /** False if contents were too large to be kept: it can be seen, but not undone. */
  readonly undoable: boolean;
  /** Marked as kept by a person: whole, or these paths of it. */
  readonly kept: boolean;
  readonly keptPaths?: readonly string[];
  readonly notes: number;
}

export interface FileSummary {
  readonly path: string;
  /** For people: relative to its root. */
  readonly name: string;
  readonly effect: "created" | "changed" | "removed" | "moved" | "copied" | "mode";
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Where it was moved or copied from, for people. */
  readonly from?: string;
  /** Lines; absent where they were not counted (large, binary, masked). */
  readonly added?: number;
  readonly removed?: number;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/tasks: what belongs together, newest first. A task is the work of one connection of one client (or one
// trace) without a pause of more than 30 minutes. Same filters and paging as api/changes; `before` is a task's id.

export interface TaskList {
  readonly tasks: readonly TaskSummary[];
  readonly next?: string;
}

export interface TaskSummary {
  /** The id of its first change. */
  readonly id: string;
  readonly agent: Agent;
  readonly from: number;
  readonly to: number;
  /** Newest first, at most 500; `changeCount` is how many there are. */
  readonly changes: readonly string[];
  readonly changeCount: number;
  /** Files that differ over the whole of it, at most 20 of them. */
  readonly files: readonly FileSummary[];
  readonly fileCount: number;
  /** How many of its changes are not undone. */
  readonly standing: number;
  readonly kept: boolean;
  readonly notes: number;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/changes/ID: one change with its differences.
// GET api/tasks/ID: the net result of the standing changes of a task, file by file.
// GET api/tasks/ID?until=now: from the start of the task to what is on the disk now, including changes by others.
//   file=PATH: only this file, in full (up to 20,000 lines instead of 2,000)

export interface ChangeDetail {
  readonly change: ChangeSummary;
  readonly difference: Difference;
  readonly notes: readonly Note[];
}

export interface TaskDetail {
  readonly task: TaskSummary;
  readonly changes: readonly ChangeSummary[];
  readonly difference: Difference;
  readonly notes: readonly Note[];
}

export interface Difference {
  readonly files: readonly FileDifference[];
  /** Files that are left out because the answer is full. Ask for them with `file=`. */
  readonly omitted: readonly FileSummary[];
  readonly added: number;
  readonly removed: number;
}

export interface FileDifference extends FileSummary {
  /**
   * What `hunks` hold. `text`: the difference. `masked`: the difference of what the policy shows; its hunks have no
   * numbers. Without hunks: `binary`, `large` (over 2 MB), `unkept` (contents were not
   * kept), `moved` (as it was), `entry` (directory, symlink, or mode).
   */
  readonly shows: "text" | "masked" | "binary" | "large" | "unkept" | "moved" | "entry";
  /** For people where there are no hunks: `binary, 12.3 KB to 14.0 KB`, `mode 644 to 755`, `link to a/b`. */
  readonly about?: string;
  readonly language?: string;
  readonly hunks: readonly Hunk[];
  /** Marked as kept by a person, in every change that touched it. */
  readonly kept?: boolean;
  /** There are more hunks than are shown. */
  readonly more?: boolean;
}

export interface Hunk {
  /** Pass it to api/undo; unique within the answer. Absent where the hunk cannot be undone on its own. */
  readonly number?: number;
  /** Pass it to api/keep. Absent in questions and previews. */
  readonly id?: string;
  /** Marked as kept by a person. */
  readonly kept?: boolean;
  /**
   * Unified diff: a line `@@ -a,b +c,d @@`, then lines that begin with " ", "-", "+" or "\", separated by \n. Lines
   * over 2,000 characters are cut and end with `… (+N characters)`.
   */
  readonly text: string;
  /** For each line of `text` after the first: its spans, in UTF-16 units after the sign. Empty: no colours. */
  readonly spans: readonly (readonly HighlightSpan[])[];
}

/** Start, end, class. They do not overlap and come in order. */
export type HighlightSpan = readonly [start: number, end: number, kind: SpanKind];

export type SpanKind =
  | "comment"
  | "string"
  | "number"
  | "keyword"
  | "constant"
  | "type"
  | "function"
  | "property"
  | "operator";

// ---------------------------------------------------------------------------------------------------------------
// POST api/undo, body UndoRequest: undoes a change, a task or several changes; of these one file, or single hunks.
// With `preview` nothing is written. It is recorded as a change of the client `review`, and can be undone itself.
// Where later edits are in the way the status is 409 for an undo, and 200 for a preview; both answer UndoResult with
// `collisions`.

export interface UndoRequest {
  /** Exactly one of these three. */
  readonly change?: string;
  readonly changes?: readonly string[];
  readonly task?: string;
  /** Only this file. */
  readonly path?: string;
  /** Only these hunks, by the numbers of the same change's or task's Difference. */
  readonly hunks?: readonly number[];
  readonly preview?: boolean;
}

export interface UndoResult {
  readonly done: boolean;
  /** The ids of the changes that it made. */
  readonly changes: readonly string[];
  /** What it does (or would do), from what is there now. */
  readonly files: readonly RestoredFile[];
  readonly collisions: readonly Collision[];
}

export interface RestoredFile {
  readonly path: string;
  readonly name: string;
  readonly did: "restored" | "changed back" | "removed" | "moved back";
  readonly hunks: readonly Hunk[];
  readonly about?: string;
}

export interface Collision {
  readonly path: string;
  readonly name: string;
  /** For people: why it cannot be undone. */
  readonly why: string;
  /** The current lines, where lines are in conflict. */
  readonly current?: readonly { readonly line: number; readonly text: string }[];
  /** Later changes of this file: undo these as well, by `changes`, to take all of it back. */
  readonly later: readonly ChangeSummary[];
}

// ---------------------------------------------------------------------------------------------------------------
// POST api/keep, body KeepRequest, answer Kept: marks as reviewed, or removes the mark. It changes no file. Marks are
// stored beside the history: every page of this user, today's and tomorrow's, shows them.

export interface KeepRequest {
  /** Exactly one of these two. */
  readonly changes?: readonly string[];
  readonly task?: string;
  /** Only this file; of the changes, those that touched it are marked. */
  readonly path?: string;
  /** Only these hunks of that file, by their ids; at most 1,000. */
  readonly hunks?: readonly string[];
  readonly kept: boolean;
}

export interface Kept {
  readonly changes: readonly string[];
  readonly path?: string;
  readonly hunks?: readonly string[];
  readonly kept: boolean;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/questions: what waits for an answer, oldest first.
// POST api/questions/ID, body AnswerRequest, answer SettledQuestion. 409: it was answered or has expired.
// Questions come here while a page is connected to api/events. One that is not answered by `expires` is a no.

export interface QuestionList {
  readonly questions: readonly Question[];
}

export interface Question {
  readonly id: string;
  readonly time: number;
  readonly expires: number;
  readonly agent: Agent;
  readonly tool: string;
  readonly server: string;
  readonly needs: readonly QuestionNeed[];
  /** What the call would change, where that is known before it runs (not for commands). */
  readonly difference?: Difference;
  /** The command line, for commands; at most 4,000 characters. */
  readonly command?: string;
}

export interface QuestionNeed {
  readonly path: string;
  readonly name: string;
  readonly action: "write" | "delete" | "run";
  /** The rule that asks. */
  readonly rule?: string;
}

export interface AnswerRequest {
  /**
   * `once`: this call. `task`: this connection, for these paths, as long as it lasts (at most 8 hours). `rule`:
   * from now on, written into the policy file as `Question`'s paths without `ask`. `deny`: the call fails.
   */
  readonly answer: "once" | "task" | "rule" | "deny";
  /** With `deny`: the agent gets it as its error. At most 1,000 characters. */
  readonly reason?: string;
}

export interface SettledQuestion {
  readonly id: string;
  readonly outcome: "allowed" | "denied" | "expired" | "gone";
  /** With `rule`: the file that it was written to, and the rule as JSON. */
  readonly rule?: { readonly file: string; readonly text: string };
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/notes?change=ID or ?task=ID or neither: notes, newest first.
// POST api/notes, body NoteRequest, answer Note. POST api/notes/ID/remove: removes it.
// The agent's next answer says that there is a note; its next list_changes has it.

export interface NoteList {
  readonly notes: readonly Note[];
}

export interface Note {
  readonly id: string;
  readonly time: number;
  readonly change: string;
  /** Absent: about the change as a whole. */
  readonly path?: string;
  readonly name?: string;
  /** From 1, in the old or the new text. */
  readonly line?: number;
  readonly side?: "old" | "new";
  readonly text: string;
  /** The agent has got it. */
  readonly read: boolean;
}

export interface NoteRequest {
  readonly change: string;
  readonly path?: string;
  readonly line?: number;
  readonly side?: "old" | "new";
  /** At most 4,000 characters. */
  readonly text: string;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/search?text=&limit=100&before=ID: places in everything that was ever changed, old and new contents, newest
// change first. Plain text; case is ignored where `text` has no upper case. Same filters as api/changes.

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Pass it as `before` to go on; absent at the end. */
  readonly next?: string;
  /** The search stopped after its share of time; go on with `next`. */
  readonly partial: boolean;
}

export interface Hit {
  readonly change: string;
  readonly time: number;
  readonly path: string;
  readonly name: string;
  readonly side: "old" | "new";
  readonly line: number;
  /** The line, at most 300 characters around the place; `start` and `end` are where the place is in it. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

// ---------------------------------------------------------------------------------------------------------------
// GET api/facets: what the filters can be set to, most frequent first, over the latest 10,000 changes.

export interface Facets {
  readonly agents: readonly Facet[];
  readonly tools: readonly Facet[];
}

export interface Facet {
  readonly value: string;
  readonly count: number;
}
