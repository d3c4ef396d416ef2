// Where review pages reach a server: a socket in the state directory, and a file that says where it is and proves to
// the server that a page can read it. Loaded after the first call.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Approval } from "../contract/context.ts";
import { atExit, cancelAtExit } from "../engine/at-exit.ts";
import { type LocalChannel, listenLocally } from "../engine/workspace/system/local-channel.ts";
import { StateFolder } from "../host/state-folder.ts";
import type { ActivityOptions, AskedQuestion } from "./activity-options.ts";
import { OpenQuestions } from "./open-questions.ts";
import { hasOpenPage } from "./presence.ts";
import { noteRoots } from "./served-roots.ts";
import { type FromPage, type FromServer, folders, type ServerFile, type WireCall } from "./wire.ts";

interface StationOptions extends ActivityOptions {
  calls(): readonly WireCall[];
}

/** How long an open page has to connect. */
const connectMs = 1500;

/** Whether a page of this user is open. */
export function isPageOpen(state: string | undefined): boolean {
  const folder = StateFolder.existing(state, ...folders.pages);
  return folder !== undefined && hasOpenPage(folder);
}

/** Undefined if there is no state directory, or it has no sockets. */
export function openStation(options: StationOptions): Station | undefined {
  // A server that may change nothing makes no state directory.
  const mayWrite =
    options.servesWorkspaces || options.workspace.roots.some(({ access }) => access === "read-write");
  const open = mayWrite ? StateFolder.make : StateFolder.existing;
  const folder = open(options.state, ...folders.servers);
  const roots = open(options.state, ...folders.roots);
  if (folder === undefined || roots === undefined) return undefined;
  noteRoots(roots, options.roots());
  const station = new Station(options, folder);
  return station.isOpen ? station : undefined;
}

export class Station implements Disposable {
  readonly #options: StationOptions;
  readonly #folder: StateFolder;
  readonly #file: ServerFile;
  readonly #listener: Disposable | undefined;
  readonly #questions: OpenQuestions;
  /** Authenticated pages, and whether they are visible. */
  readonly #pages = new Map<LocalChannel, boolean>();
  /** The questions that no person at a page may answer. */
  readonly #unanswerable = new Map<LocalChannel, Set<string>>();
  #attended: (() => void)[] = [];
  readonly #leave = () => this[Symbol.dispose]();

  constructor(options: StationOptions, folder: StateFolder) {
    this.#options = options;
    this.#folder = folder;
    const { transport, dialect } = options;
    this.#file = {
      id: `${process.pid}-${randomBytes(6).toString("hex")}`,
      pid: process.pid,
      transport,
      dialect,
      roots: options.roots(),
      started: Date.now(),
      secret: randomBytes(24).toString("base64url"),
    };
    this.#questions = new OpenQuestions(options, message => this.tell(message));
    this.#listener = listenLocally(folder.path, `${this.#file.id}.sock`, channel => this.#accept(channel));
    if (this.#listener === undefined) return;
    folder.write(`${this.#file.id}.json`, JSON.stringify(this.#file));
    atExit(this.#leave);
  }

  get isOpen(): boolean {
    return this.#listener !== undefined;
  }

  /** Costs nothing where no page is open. */
  tell(message: FromServer): void {
    for (const page of this.#pages.keys()) page.send(message);
  }

  async ask(question: AskedQuestion): Promise<Approval | undefined> {
    if (!this.#isAttended) await this.#untilAttended();
    return this.#isAttended ? await this.#questions.ask(question) : undefined;
  }

  [Symbol.dispose](): void {
    cancelAtExit(this.#leave);
    if (this.#listener === undefined) return;
    this.#folder.clear(`${this.#file.id}.json`);
    this.#listener[Symbol.dispose]();
    for (const page of this.#pages.keys()) page.close();
  }

  get #isAttended(): boolean {
    return [...this.#pages.values()].includes(true);
  }

  async #untilAttended(): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, connectMs);
      this.#attended.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #accept(channel: LocalChannel): void {
    channel.onMessage = message => this.#heard(channel, message as FromPage);
    channel.onClose = () => {
      this.#pages.delete(channel);
      this.#unanswerable.delete(channel);
      this.#abandonUnanswerable();
    };
  }

  #heard(channel: LocalChannel, message: FromPage): void {
    if (message.is === "hello") {
      if (!isSame(message.secret, this.#file.secret)) return void channel.close();
      this.#pages.set(channel, message.attended === true);
      channel.send({ is: "hello", calls: this.#options.calls(), questions: this.#questions.open });
    } else if (!this.#pages.has(channel)) return void channel.close();
    else if (message.is === "attended") this.#pages.set(channel, message.attended === true);
    else if (message.is === "answerable") this.#noteAnswerable(channel, message.id, message.answerable);
    else if (message.is === "answer") this.#questions.answer(message.id, message);
    if (this.#isAttended) for (const wake of this.#attended.splice(0)) wake();
    this.#abandonUnanswerable();
  }

  #noteAnswerable(channel: LocalChannel, id: unknown, answerable: unknown): void {
    const ids = this.#unanswerable.get(channel) ?? new Set<string>();
    this.#unanswerable.set(channel, ids);
    if (answerable === false && this.#questions.isOpen(String(id))) ids.add(String(id));
    else ids.delete(String(id));
  }

  /** Questions that no one at a visible page may answer go to the other ways of asking. */
  #abandonUnanswerable(): void {
    const visible = [...this.#pages].filter(([, attended]) => attended).map(([channel]) => channel);
    this.#questions.abandon(id => visible.every(channel => this.#unanswerable.get(channel)?.has(id)));
    for (const ids of this.#unanswerable.values())
      for (const id of ids) if (!this.#questions.isOpen(id)) ids.delete(id);
  }
}

function isSame(given: unknown, secret: string): boolean {
  const presented = Buffer.from(String(given));
  return presented.length === secret.length && timingSafeEqual(presented, Buffer.from(secret));
}
