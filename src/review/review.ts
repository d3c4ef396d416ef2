// What the pages of one process share: the changes, the servers that run, their calls and questions, notes and marks.
// Each viewer sees the part that its workspace reaches.
import { resolve } from "node:path";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { withoutTokens } from "../host/masked-tokens.ts";
import { StateFolder } from "../host/state-folder.ts";
import type { AnswerRequest, Call, Kept, Note, Question, ServerInfo, SettledQuestion } from "./api.ts";
import { ChangeIndex } from "./change-index.ts";
import { differenceOf, overview } from "./difference.ts";
import { type Event, EventStream, type Listener } from "./events.ts";
import { KeptMarks, keptFile } from "./kept-marks.ts";
import { NoteFiles, type StoredNote } from "./notes.ts";
import { Presence } from "./presence.ts";
import { type ConnectedServer, Servers } from "./servers.ts";
import { changeSummary, isSeen, type ReviewedPast } from "./summaries.ts";
import { nameOf, reaches, type Viewer } from "./viewer.ts";
import { type FromServer, folders, type WireCall, type WireQuestion } from "./wire.ts";

const mostCalls = 1000;
const mostUnseen = 200;
const forgetMs = 120_000;
/** Longer than a server takes to answer. */
const answerMs = 5000;

interface OpenQuestion {
  readonly server: ConnectedServer;
  readonly question: WireQuestion;
  /** What the server was told. */
  answerable: boolean;
}

interface Waiting {
  readonly done: (settled: SettledQuestion) => void;
}

/** An event before it is rendered for a viewer: what it shows depends on the viewer's access. */
type Happening = Event | ((viewer: Viewer) => Event | undefined | Promise<Event | undefined>);

export class Review implements ReviewedPast, Disposable {
  readonly index: ChangeIndex;
  readonly kept: KeptMarks;
  readonly servers: Servers;
  readonly #archive: Workspace["archive"];
  readonly #notes: NoteFiles | undefined;
  readonly #noteWatch: Disposable | undefined;
  readonly #markWatch: Disposable | undefined;
  readonly #presence: Presence;
  readonly #streams = new Map<Viewer, EventStream>();
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #began = Date.now();
  /** The number of listeners that can answer a question, by viewer. */
  readonly #answering = new Map<Viewer, number>();
  /** The latest changes that a viewer could not see when they came. */
  #unseen: { readonly viewer: Viewer; readonly id: string }[] = [];
  #calls: { readonly call: Call; readonly roots: readonly string[] }[] = [];
  #noteCounts = new Map<string, number>();
  #knownNotes: readonly (StoredNote & { read: boolean })[] = [];
  /** Called when a server announces the directories that it serves. */
  onRoots: (roots: readonly string[]) => void = () => {};

  constructor(workspace: Workspace, state: string | undefined) {
    this.#archive = workspace.archive;
    this.index = new ChangeIndex(workspace.archive, {
      changes: StateFolder.make(state, "changes"),
      earlier: StateFolder.make(state, "earlier"),
      cache: StateFolder.make(state, ...folders.marks),
    });
    this.index.onChange = (_, record) => this.#changed(record);
    const marks = StateFolder.make(state, ...folders.marks);
    this.kept = new KeptMarks(marks);
    this.#markWatch = marks?.watch(name => {
      if (name === undefined || name === keptFile) this.refreshMarks();
    });
    this.refreshMarks();
    const notes = StateFolder.make(state, ...folders.notes);
    this.#notes = notes && new NoteFiles(notes);
    this.#noteWatch = notes?.watch(() => this.#readNotes());
    this.#presence = new Presence(state);
    this.servers = new Servers(state);
    this.servers.onMessage = (server, message) => this.#told(server, message);
    this.servers.onChange = gone => this.#serversChanged(gone);
    this.#readNotes();
    this.servers.start();
  }

  [Symbol.dispose](): void {
    this.#presence[Symbol.dispose]();
    this.#noteWatch?.[Symbol.dispose]();
    this.#markWatch?.[Symbol.dispose]();
    this.servers[Symbol.dispose]();
    this.index[Symbol.dispose]();
  }

  record(id: string): ChangeRecord | undefined {
    return this.index.get(id) === undefined ? undefined : this.#archive.changes.recorded(id);
  }

  notesOn(change: string): number {
    return this.#noteCounts.get(change) ?? 0;
  }

  /** Tells `listener` what happens from now on, as the viewer may see it. Returns how to stop it. */
  listen(
    viewer: Viewer,
    listener: Listener,
    since: string | undefined,
    { answers = true }: { readonly answers?: boolean } = {},
  ): () => void {
    const stream = this.#streams.get(viewer) ?? new EventStream();
    this.#streams.set(viewer, stream);
    const stop = stream.listen(listener, since);
    if (answers) this.#count(viewer, 1);
    this.#attend();
    return () => {
      stop();
      if (answers) this.#count(viewer, -1);
      this.#attend();
      // Events are made for a browser that may come back; not for ever.
      setTimeout(() => {
        if (this.#streams.get(viewer) === stream && stream.listeners === 0) this.forget(viewer);
      }, forgetMs).unref();
    };
  }

  /** Forgets a viewer that does not come again. */
  forget(viewer: Viewer): void {
    this.#streams.delete(viewer);
    this.#attend();
  }

  calls(viewer: Viewer, limit: number): Call[] {
    const seen = this.#calls.filter(({ roots }) => isWithinReach(viewer, roots)).slice(-limit);
    return seen.map(({ call, roots }) => shownCall(viewer, call, roots)).reverse();
  }

  async questions(viewer: Viewer): Promise<Question[]> {
    const asked = [...this.#questions.values()].filter(one => maySettle(viewer, one.question));
    return await Promise.all(asked.map(one => shownQuestion(viewer, one)));
  }

  /** Undefined if the question does not exist (any longer), or is not the viewer's to answer. */
  async answer(viewer: Viewer, id: string, answer: AnswerRequest): Promise<SettledQuestion | undefined> {
    const asked = this.#questions.get(id);
    if (asked === undefined || this.#waiting.has(id) || !maySettle(viewer, asked.question)) return undefined;
    return await new Promise<SettledQuestion | undefined>(resolve => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        resolve(undefined);
      }, answerMs);
      this.#waiting.set(id, {
        done: settled => {
          clearTimeout(timer);
          this.#waiting.delete(id);
          resolve(settled);
        },
      });
      asked.server.send({ ...answer, id });
    });
  }

  notes(viewer: Viewer): Note[] {
    return this.#knownNotes
      .filter(note => this.#isNoteSeen(viewer, note))
      .map(note => shownNote(viewer, note));
  }

  addNote(viewer: Viewer, note: Omit<StoredNote, "id" | "time">): Note {
    const stored = this.#notes?.add(note);
    if (stored === undefined) throw new Error("notes cannot be kept: the state directory cannot be written");
    this.#readNotes();
    return shownNote(viewer, { ...stored, read: false });
  }

  removeNote(viewer: Viewer, id: string): boolean {
    const note = this.#knownNotes.find(one => one.id === id);
    if (note === undefined || !this.#isNoteSeen(viewer, note)) return false;
    const removed = this.#notes?.remove(id) ?? false;
    this.#readNotes();
    return removed;
  }

  mark(mark: Kept): void {
    this.refreshMarks();
    this.kept.mark(mark);
    this.#tellMark(mark);
  }

  /** Reads the marks of other processes, and notifies open pages. */
  refreshMarks(): void {
    for (const mark of this.kept.refresh(id => this.index.get(id) !== undefined)) this.#tellMark(mark);
  }

  #tellMark(mark: Kept): void {
    const { changes, path } = mark;
    this.#send(viewer => {
      const seen = changes.filter(change => this.#isSeen(viewer, change));
      const isHidden = path !== undefined && !isPathSeen(viewer, path);
      return seen.length === 0 || isHidden ? undefined : { name: "kept", data: { ...mark, changes: seen } };
    });
  }

  runningServers(viewer: Viewer): ServerInfo[] {
    return this.servers.running.filter(({ roots }) => isWithinReach(viewer, roots));
  }

  #isSeen(viewer: Viewer, change: string): boolean {
    const entry = this.index.get(change);
    return entry !== undefined && isSeen(viewer, entry);
  }

  /** A note on a file that a rule hides from the viewer would reveal that file. */
  #isNoteSeen(viewer: Viewer, { change, path }: StoredNote): boolean {
    return this.#isSeen(viewer, change) && (path === undefined || isPathSeen(viewer, path));
  }

  #send(happening: Happening): void {
    for (const [viewer, stream] of this.#streams) {
      if (typeof happening !== "function") stream.send(happening);
      else
        void Promise.resolve(happening(viewer)).then(
          event => {
            if (event !== undefined) stream.send(event);
          },
          () => {},
        );
    }
  }

  #count(viewer: Viewer, more: number): void {
    const count = (this.#answering.get(viewer) ?? 0) + more;
    if (count > 0) this.#answering.set(viewer, count);
    else this.#answering.delete(viewer);
  }

  #attend(): void {
    const attended = this.#answering.size > 0;
    this.#presence.attended = attended;
    this.servers.attended = attended;
    for (const asked of this.#questions.values()) this.#tellAnswerable(asked);
  }

  /** A page that is open for one workspace does not make the calls of another wait for it. */
  #tellAnswerable(asked: OpenQuestion): void {
    const answerable = [...this.#answering.keys()].some(viewer => maySettle(viewer, asked.question));
    if (answerable === asked.answerable) return;
    asked.answerable = answerable;
    asked.server.tellAnswerable(asked.question.id, answerable);
  }

  /** Tells a viewer what came before its workspace reached it: a server's change may be seen before its roots are. */
  widened(viewer: Viewer): void {
    const stream = this.#streams.get(viewer);
    const seen = this.#unseen.filter(one => one.viewer === viewer && this.#isSeen(viewer, one.id));
    this.#unseen = this.#unseen.filter(one => !seen.includes(one));
    for (const { id } of seen) {
      const record = this.record(id);
      if (record !== undefined) stream?.send({ name: "change", data: changeSummary(this, viewer, record) });
    }
  }

  #changed(record: ChangeRecord): void {
    this.#send(viewer => {
      if (this.#isSeen(viewer, record.id))
        return { name: "change", data: changeSummary(this, viewer, record) };
      this.#unseen = [...this.#unseen.slice(-mostUnseen), { viewer, id: record.id }];
      return undefined;
    });
  }

  #serversChanged(gone?: string): void {
    for (const [id, { server }] of gone === undefined ? [] : this.#questions)
      if (server.info.id === gone) this.#settle({ id, outcome: "gone" });
    this.#send(viewer => ({ name: "servers", data: this.runningServers(viewer) }));
  }

  #told(server: ConnectedServer, message: FromServer): void {
    switch (message.is) {
      case "hello":
        this.onRoots(server.info.roots);
        for (const call of message.calls) this.#addCall(server, call, call.time >= this.#began);
        this.#calls.sort((a, b) => a.call.time - b.call.time);
        for (const question of message.questions) this.#ask(server, question);
        break;
      case "call":
        this.onRoots(message.call.roots);
        this.#addCall(server, message.call, true);
        break;
      case "change":
        void this.#takeSoon(message.id);
        break;
      case "question":
        this.#ask(server, message.question);
        break;
      case "settled":
        this.#settle(message.settled);
        break;
    }
  }

  /** A change is recorded a moment after it was made; the directory's watch may see it first. */
  async #takeSoon(id: string): Promise<void> {
    for (let attempt = 0; attempt < 40; attempt++) {
      if (this.index.take(id)) return;
      await new Promise(resolve => setTimeout(resolve, 25).unref());
    }
  }

  #addCall(server: ConnectedServer, { roots, ...rest }: WireCall, isNew: boolean): void {
    const call: Call = { ...rest, server: server.info.id };
    if (this.#calls.some(known => known.call.id === call.id)) return;
    this.#calls.push({ call, roots });
    if (this.#calls.length > mostCalls * 1.5) this.#calls = this.#calls.slice(-mostCalls);
    if (isNew)
      this.#send(viewer =>
        isWithinReach(viewer, roots) ? { name: "call", data: shownCall(viewer, call, roots) } : undefined,
      );
  }

  #ask(server: ConnectedServer, question: WireQuestion): void {
    this.onRoots(question.roots);
    const asked = { server, question, answerable: true };
    this.#questions.set(question.id, asked);
    this.#tellAnswerable(asked);
    this.#send(async viewer =>
      maySettle(viewer, question)
        ? { name: "question", data: await shownQuestion(viewer, asked) }
        : undefined,
    );
  }

  #settle(settled: SettledQuestion): void {
    const asked = this.#questions.get(settled.id);
    if (asked === undefined) return;
    this.#questions.delete(settled.id);
    this.#waiting.get(settled.id)?.done(settled);
    this.#send(viewer =>
      maySettle(viewer, asked.question) ? { name: "settled", data: settled } : undefined,
    );
  }

  #readNotes(): void {
    const before = new Map(this.#knownNotes.map(note => [note.id, note]));
    this.#knownNotes = this.#notes?.all() ?? [];
    this.#noteCounts = new Map();
    for (const note of this.#knownNotes) {
      this.#noteCounts.set(note.change, this.notesOn(note.change) + 1);
      const known = before.get(note.id);
      before.delete(note.id);
      if (known !== undefined && known.read === note.read) continue;
      this.#send(viewer =>
        this.#isNoteSeen(viewer, note) ? { name: "note", data: shownNote(viewer, note) } : undefined,
      );
    }
    for (const note of before.values())
      this.#send(viewer =>
        this.#isNoteSeen(viewer, note) ? { name: "unnote", data: { id: note.id } } : undefined,
      );
  }
}

/** A server or a caller is seen by those who may reach all that it reaches. One that reaches nothing is not shown. */
function isWithinReach(viewer: Viewer, roots: readonly string[]): boolean {
  return viewer.mode === "local" && roots.length === 0 ? true : reaches(viewer, roots);
}

function isPathSeen(viewer: Viewer, path: string): boolean {
  return reaches(viewer, [path]) && !viewer.workspace.isHidden(path);
}

/**
 * Only a person who may see what a question is about can answer it. A token must also reach everything that the call
 * would change, and for a command everything that its caller reaches: the question shows both.
 */
function maySettle(viewer: Viewer, { needs, files, command, roots }: WireQuestion): boolean {
  const asked = needs.map(({ at }) => at);
  if (!viewer.mayUndo || asked.length === 0 || !asked.every(path => isPathSeen(viewer, path))) return false;
  if (viewer.mode === "local") return true;
  const changed = files.flatMap(({ at, from }) => (from === undefined ? [at] : [at, from]));
  return changed.every(path => isPathSeen(viewer, path)) && (command === undefined || reaches(viewer, roots));
}

/** Calls name paths as the agent wrote them; secrets are masked. Those that a rule hides from the viewer are left out. */
function shownCall(viewer: Viewer, call: Call, roots: readonly string[]): Call {
  const isHidden = (path: string) => roots.some(root => viewer.workspace.isHidden(resolve(root, path)));
  return { ...call, paths: call.paths.map(path => (isHidden(path) ? "(hidden)" : withoutTokens(path))) };
}

async function shownQuestion(viewer: Viewer, { server, question }: OpenQuestion): Promise<Question> {
  const { id, time, expires, client, connection, tool, command, needs, files } = question;
  const side = (text: string | undefined, cut: number | undefined) => {
    if (cut !== undefined) return { kind: "file", size: cut, without: "large" } as const;
    const bytes = text === undefined ? undefined : Buffer.from(text, "base64");
    return bytes && ({ kind: "file", size: bytes.length, bytes } as const);
  };
  const shown = files.map(({ at, from, before, after, cut }) => ({
    at,
    from,
    before: side(before, before === undefined ? undefined : cut),
    after: side(after, cut),
  }));
  return {
    id,
    time,
    expires,
    agent: { client, connection },
    tool,
    server: server.info.id,
    needs: needs.map(({ at, question: action, rule }) => ({
      path: at,
      name: nameOf(viewer, at),
      action,
      ...(rule !== undefined && { rule }),
    })),
    ...(shown.length > 0 && { difference: await differenceOf(viewer, shown, overview) }),
    ...(command !== undefined && { command }),
  };
}

function shownNote(viewer: Viewer, note: StoredNote & { readonly read: boolean }): Note {
  const { id, time, change, path, line, side, text, read } = note;
  return {
    id,
    time,
    change,
    ...(path !== undefined && { path, name: nameOf(viewer, path) }),
    ...(line !== undefined && { line }),
    ...(side !== undefined && { side }),
    text,
    read,
  };
}
