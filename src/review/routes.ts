// The routes of the API (api.ts): from a checked request to its answer. Nothing here knows HTTP but statuses.
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import { version } from "../version.ts";
import type {
  CallList,
  ChangeDetail,
  ChangeList,
  ChangeSummary,
  Facets,
  Kept,
  Note,
  NoteList,
  QuestionList,
  SearchResult,
  SessionInfo,
  SettledQuestion,
  TaskDetail,
  TaskList,
  UndoResult,
} from "./api.ts";
import { differenceToNow, netDifference } from "./details.ts";
import { withMarks } from "./hunk-marks.ts";
import { BodyFields, QueryFields, Refused } from "./input.ts";
import type { Review } from "./review.ts";
import { changeHolds, PastFinder, searchPast } from "./search.ts";
import { changeSummary, type Filter, isSeen, matching, taskSummary } from "./summaries.ts";
import { undoFor } from "./undoing.ts";
import { holdsPath, nameOf, type Viewer } from "./viewer.ts";

export interface RouteRequest {
  readonly method: "GET" | "POST";
  /** Below `api/`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly body?: unknown;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body: unknown;
}

type RouteHandler = (
  asked: { query: QueryFields; body: unknown; id: string },
  viewer: Viewer,
) => Promise<unknown>;

export class Routes {
  readonly #review: Review;
  readonly #table: readonly (readonly [method: RouteRequest["method"], route: RegExp, run: RouteHandler])[];

  constructor(review: Review) {
    this.#review = review;
    this.#table = [
      ["GET", /^session$/, (_, viewer) => this.#session(viewer)],
      ["GET", /^calls$/, ({ query }, viewer) => this.#calls(query, viewer)],
      ["GET", /^changes$/, ({ query }, viewer) => this.#changes(query, viewer)],
      ["GET", /^changes\/([0-9a-z]{1,40})$/, ({ id, query }, viewer) => this.#change(id, query, viewer)],
      ["GET", /^tasks$/, ({ query }, viewer) => this.#tasks(query, viewer)],
      ["GET", /^tasks\/([0-9a-z]{1,40})$/, ({ id, query }, viewer) => this.#task(id, query, viewer)],
      ["POST", /^undo$/, ({ body }, viewer) => this.#undo(body, viewer)],
      ["POST", /^keep$/, ({ body }, viewer) => this.#keep(body, viewer)],
      ["GET", /^questions$/, (_, viewer) => this.#questions(viewer)],
      ["POST", /^questions\/([\w-]{1,80})$/, ({ id, body }, viewer) => this.#answer(id, body, viewer)],
      ["GET", /^notes$/, ({ query }, viewer) => this.#notes(query, viewer)],
      ["POST", /^notes$/, ({ body }, viewer) => this.#note(body, viewer)],
      ["POST", /^notes\/([0-9a-z]{1,40})\/remove$/, ({ id }, viewer) => this.#unnote(id, viewer)],
      ["GET", /^search$/, ({ query }, viewer) => this.#search(query, viewer)],
      ["GET", /^facets$/, (_, viewer) => this.#facets(viewer)],
    ];
  }

  async answer({ method, route, query, body }: RouteRequest, viewer: Viewer): Promise<RouteAnswer> {
    try {
      for (const [accepted, pattern, run] of this.#table) {
        const match = pattern.exec(route);
        if (match === null || accepted !== method) continue;
        await this.#review.index.ready;
        this.#review.refreshMarks();
        const answer = await run({ query: new QueryFields(query), body, id: match[1] ?? "" }, viewer);
        const isRefused =
          isUndoResult(answer) && method === "POST" && !answer.done && answer.collisions.length > 0;
        return { status: isRefused && !isPreview(body) ? 409 : 200, body: answer };
      }
      throw new Refused(404, "not_found", "There is no such route.");
    } catch (error) {
      if (error instanceof Refused) return { status: error.status, body: error.problem };
      if (!(error instanceof Fault)) throw error;
      const status = statuses[error.code] ?? 409;
      return { status, body: { error: error.code, message: say(plainWording, error) } };
    }
  }

  async #session(viewer: Viewer): Promise<SessionInfo> {
    const { mode, who, workspace, mayUndo } = viewer;
    let changes = 0;
    for (const _ of matching(this.#review, viewer, {})) changes++;
    return {
      version,
      mode,
      ...(who !== undefined && { who }),
      roots: workspace.roots.map(({ path, access }) => ({ path, name: nameOf(viewer, path), access })),
      may: { undo: mayUndo, answer: mayUndo, writeRules: mode === "local" && mayUndo, note: true },
      servers: this.#review.runningServers(viewer),
      changes,
      now: Date.now(),
    };
  }

  async #calls(query: QueryFields, viewer: Viewer): Promise<CallList> {
    return { calls: this.#review.calls(viewer, query.number("limit", 1000) ?? 200) };
  }

  async #changes(query: QueryFields, viewer: Viewer): Promise<ChangeList> {
    const limit = query.number("limit", 500) ?? 50;
    const text = query.text("text");
    const finder = text === undefined ? undefined : new PastFinder(viewer, text);
    const changes: ChangeSummary[] = [];
    for (const { id } of matching(this.#review, viewer, filterOf(query))) {
      if (finder !== undefined && !(await changeHolds(this.#review, viewer, finder, id))) continue;
      const next = changes.at(-1)?.id;
      if (changes.length === limit && next !== undefined) return { changes, next };
      const record = this.#review.record(id);
      if (record !== undefined) changes.push(changeSummary(this.#review, viewer, record));
    }
    return { changes };
  }

  async #change(id: string, query: QueryFields, viewer: Viewer): Promise<ChangeDetail> {
    const record = this.#named(id, viewer);
    const { index, kept } = this.#review;
    const difference = await netDifference(viewer, [record], query.text("file", 4096));
    return {
      change: changeSummary(this.#review, viewer, record),
      difference: withMarks(difference, index.taskOf(id), [record], kept),
      notes: this.#review.notes(viewer).filter(({ change }) => change === id),
    };
  }

  async #tasks(query: QueryFields, viewer: Viewer): Promise<TaskList> {
    const limit = query.number("limit", 100) ?? 30;
    const { before, ...filter } = filterOf(query);
    const text = query.text("text");
    const finder = text === undefined ? undefined : new PastFinder(viewer, text);
    const { index } = this.#review;
    const start = before === undefined ? undefined : index.inTask(before).at(-1);
    const found = new Set<string>();
    for (const { id } of matching(this.#review, viewer, { ...filter, before: start, except: found })) {
      const task = index.taskOf(id);
      // A page goes by the last change of each task; those of earlier pages go on after it.
      if (found.has(task) || (start !== undefined && (index.inTask(task).at(-1) ?? "") >= start)) continue;
      if (finder !== undefined && !(await changeHolds(this.#review, viewer, finder, id))) continue;
      if (found.size === limit)
        return { tasks: this.#summaries(found, viewer), next: [...found].at(-1) ?? "" };
      found.add(task);
    }
    return { tasks: this.#summaries(found, viewer) };
  }

  #summaries(tasks: ReadonlySet<string>, viewer: Viewer) {
    return [...tasks].map(task => taskSummary(this.#review, viewer, task, this.#seenIn(task, viewer)));
  }

  /** The changes of a task that the viewer may see, oldest first. */
  #seenIn(task: string, viewer: Viewer): string[] {
    const { index } = this.#review;
    return index.inTask(task).filter(id => {
      const entry = index.get(id);
      return entry !== undefined && isSeen(viewer, entry);
    });
  }

  async #task(id: string, query: QueryFields, viewer: Viewer): Promise<TaskDetail> {
    const ids = this.#seenIn(id, viewer);
    if (ids.length === 0) throw new Refused(404, "unknown_task", "There is no such task.");
    const all = this.#records(ids);
    const file = query.text("file", 4096);
    const until = query.text("until");
    const difference =
      until === "now"
        ? await differenceToNow(viewer, all, file)
        : await netDifference(viewer, this.#standing(all), file);
    return {
      task: taskSummary(this.#review, viewer, id, ids),
      changes: all.slice(0, 500).map(record => changeSummary(this.#review, viewer, record)),
      difference: withMarks(difference, id, all, this.#review.kept),
      notes: this.#review.notes(viewer).filter(({ change }) => ids.includes(change)),
    };
  }

  /** Newest first. */
  #records(ids: readonly string[]): ChangeRecord[] {
    const sorted = ids.toSorted().reverse();
    return sorted.map(id => this.#review.record(id)).filter(record => record !== undefined);
  }

  #standing(records: readonly ChangeRecord[]): ChangeRecord[] {
    return records.filter(({ id }) => this.#review.index.stateOf(id) !== "undone");
  }

  #named(id: string, viewer: Viewer): ChangeRecord {
    const entry = this.#review.index.get(id);
    const record = entry !== undefined && isSeen(viewer, entry) ? this.#review.record(id) : undefined;
    if (record === undefined) throw new Fault("unknown_change", { id });
    return record;
  }

  async #undo(given: unknown, viewer: Viewer): Promise<UndoResult> {
    const body = new BodyFields(given, ["change", "changes", "task", "path", "hunks", "preview"]);
    body.exactlyOne(["change", "changes", "task"]);
    const preview = body.flag("preview") ?? false;
    if (!viewer.mayUndo) throw new Refused(403, "forbidden", "Undo needs write access to these files.");
    const [change, task] = [body.id("change"), body.id("task")];
    const records =
      task !== undefined
        ? this.#standing(this.#records(this.#seenIn(task, viewer)))
        : this.#records(
            (change === undefined ? (body.ids("changes") ?? []) : [change]).map(
              id => this.#named(id, viewer).id,
            ),
          );
    if (records.length === 0)
      throw new Refused(404, "unknown_task", "There is no such task, or nothing of it is left to undo.");
    const path = body.text("path", 4096);
    const ids = new Set(records.map(({ id }) => id));
    const oldest = records.at(-1)?.id ?? "";
    return await undoFor(viewer, {
      records,
      path,
      hunks: body.counts("hunks"),
      preview,
      later: at => {
        const found: ChangeSummary[] = [];
        for (const entry of matching(this.#review, viewer, {})) {
          if (entry.id <= oldest || found.length === 50) break;
          if (ids.has(entry.id) || !entry.paths.includes(at)) continue;
          const record =
            this.#review.index.stateOf(entry.id) === "undone" ? undefined : this.#review.record(entry.id);
          if (record !== undefined) found.push(changeSummary(this.#review, viewer, record));
        }
        return found;
      },
    });
  }

  async #keep(given: unknown, viewer: Viewer): Promise<Kept> {
    const body = new BodyFields(given, ["changes", "task", "path", "hunks", "kept"]);
    body.exactlyOne(["changes", "task"]);
    const kept = body.flag("kept");
    if (kept === undefined) throw new Refused(400, "invalid_input", "kept is required");
    const task = body.id("task");
    const [path, hunks] = [body.text("path", 4096), body.hunkIds("hunks")];
    if (hunks !== undefined && path === undefined) throw new Refused(400, "invalid_input", "hunks need path");
    const named = task === undefined ? (body.ids("changes") ?? []) : this.#seenIn(task, viewer);
    const records = named.map(id => this.#named(id, viewer));
    if (records.length === 0) throw new Refused(404, "unknown_task", "There is no such task.");
    const about = path === undefined ? records : records.filter(record => holdsPath(viewer, record, path));
    if (about.length === 0) throw new Refused(400, "invalid_input", "path is not a file of these changes");
    const changes = about.map(({ id }) => id);
    const mark = { changes, ...(path !== undefined && { path }), ...(hunks && { hunks }), kept };
    this.#review.mark(mark);
    return mark;
  }

  async #questions(viewer: Viewer): Promise<QuestionList> {
    return { questions: await this.#review.questions(viewer) };
  }

  async #answer(id: string, given: unknown, viewer: Viewer): Promise<SettledQuestion> {
    const body = new BodyFields(given, ["answer", "reason"]);
    const answer = body.one("answer", ["once", "task", "rule", "deny"]);
    if (answer === undefined) throw new Refused(400, "invalid_input", "answer is required");
    if (answer === "rule" && viewer.mode !== "local")
      throw new Refused(403, "forbidden", "Rules are written by the person at the machine: polyfs review.");
    const reason = body.text("reason", 1000)?.trim();
    const settled = await this.#review.answer(viewer, id, { answer, ...(reason && { reason }) });
    if (settled === undefined)
      throw new Refused(
        409,
        "settled",
        "The question was answered already, has expired, or its call has ended.",
      );
    return settled;
  }

  async #notes(query: QueryFields, viewer: Viewer): Promise<NoteList> {
    const [change, task] = [query.id("change"), query.id("task")];
    const notes = this.#review
      .notes(viewer)
      .filter(
        note =>
          (change === undefined || note.change === change) &&
          (task === undefined || this.#review.index.taskOf(note.change) === task),
      );
    return { notes };
  }

  async #note(given: unknown, viewer: Viewer): Promise<Note> {
    const body = new BodyFields(given, ["change", "path", "line", "side", "text"]);
    const record = this.#named(body.id("change") ?? "", viewer);
    const text = body.text("text", 4000)?.trim() ?? "";
    if (text === "") throw new Refused(400, "invalid_input", "text is required");
    const [path, line] = [body.text("path", 4096), body.count("line")];
    if (path !== undefined && !holdsPath(viewer, record, path))
      throw new Refused(400, "invalid_input", "path is not a file of this change");
    if (line !== undefined && path === undefined) throw new Refused(400, "invalid_input", "line needs path");
    return this.#review.addNote(viewer, {
      change: record.id,
      client: record.client,
      made: record.time,
      ...(record.connection !== undefined && { connection: record.connection }),
      ...(path !== undefined && { path }),
      ...(line !== undefined && { line, side: body.one("side", ["old", "new"]) ?? "new" }),
      text,
    });
  }

  async #unnote(id: string, viewer: Viewer): Promise<Record<string, never>> {
    if (!this.#review.removeNote(viewer, id))
      throw new Refused(404, "unknown_note", "There is no such note.");
    return {};
  }

  async #search(query: QueryFields, viewer: Viewer): Promise<SearchResult> {
    const text = query.text("text");
    if (text === undefined) throw new Refused(400, "invalid_input", "text is required");
    return await searchPast(this.#review, viewer, text, filterOf(query), query.number("limit", 500) ?? 100);
  }

  async #facets(viewer: Viewer): Promise<Facets> {
    const [agents, tools] = [new Map<string, number>(), new Map<string, number>()];
    for (const { client, tool } of matching(this.#review, viewer, {})) {
      agents.set(client, (agents.get(client) ?? 0) + 1);
      tools.set(tool, (tools.get(tool) ?? 0) + 1);
    }
    const listed = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
    return { agents: listed(agents).slice(0, 200), tools: listed(tools).slice(0, 200) };
  }
}

const statuses: { readonly [code: string]: number } = {
  unknown_change: 404,
  unknown_hunk: 400,
  invalid_path: 400,
  outside_roots: 404,
  read_only: 403,
  forbidden: 403,
  permission_denied: 403,
};

function filterOf(query: QueryFields): Filter {
  return {
    before: query.id("before"),
    agent: query.text("agent"),
    tool: query.text("tool"),
    path: query.text("path", 4096),
    since: query.number("since"),
    until: query.number("until"),
    task: query.id("task"),
  };
}

function isUndoResult(value: unknown): value is UndoResult {
  return typeof value === "object" && value !== null && "collisions" in value;
}

function isPreview(body: unknown): boolean {
  return typeof body === "object" && body !== null && (body as { preview?: unknown }).preview === true;
}
