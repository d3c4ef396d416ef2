// The servers that run now, as a page sees them: each has a file in the state directory that says how to reach it. A
// page connects to all of them, whichever client started them, and hears of calls, changes and questions.
import { connectLocally, type LocalChannel } from "../engine/workspace/system/local-channel.ts";
import { StateFolder } from "../host/state-folder.ts";
import type { AnswerRequest, ServerInfo } from "./api.ts";
import { type FromServer, folders, type ServerFile } from "./wire.ts";

export interface ConnectedServer {
  readonly info: ServerInfo;
  send(answer: AnswerRequest & { readonly id: string }): void;
  /** Whether a person may answer a question: if none can at any page, it does not wait for one. */
  tellAnswerable(id: string, answerable: boolean): void;
}

interface Connected {
  readonly file: ServerFile;
  readonly channel: LocalChannel;
  greeted: boolean;
}

const lookAgainMs = 1000;

export class Servers implements Disposable {
  readonly #folder: StateFolder | undefined;
  readonly #connected = new Map<string, Connected>();
  readonly #watch: Disposable | undefined;
  readonly #timer: NodeJS.Timeout;
  #attended = false;
  /** Called with each message. */
  onMessage: (server: ConnectedServer, message: FromServer) => void = () => {};
  /** Called when servers come and go, with the one that went. */
  onChange: (gone?: string) => void = () => {};

  constructor(state: string | undefined) {
    this.#folder = StateFolder.make(state, ...folders.servers);
    this.#watch = this.#folder?.watch(() => this.#look());
    this.#timer = setInterval(() => this.#look(), lookAgainMs).unref();
  }

  /** Connects to those that run. Called once, at the first listener. */
  start(): void {
    this.#look();
  }

  get running(): readonly ServerInfo[] {
    return [...this.#connected.values()].filter(({ greeted }) => greeted).map(({ file }) => infoOf(file));
  }

  /** Whether a page of this process is open, so that a person can be asked. */
  set attended(attended: boolean) {
    if (attended === this.#attended) return;
    this.#attended = attended;
    for (const { channel } of this.#connected.values()) channel.send({ is: "attended", attended });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#watch?.[Symbol.dispose]();
    for (const { channel } of this.#connected.values()) channel.close();
    this.#connected.clear();
  }

  #look(): void {
    for (const name of this.#folder?.names() ?? []) {
      const [, id] = /^([\w-]+)\.json$/.exec(name) ?? [];
      if (id !== undefined && !this.#connected.has(id)) this.#connect(id);
    }
  }

  #connect(id: string): void {
    const file = this.#folder?.readJson(`${id}.json`);
    if (!isServerFile(file) || file.id !== id || this.#folder === undefined) return;
    const channel = connectLocally(this.#folder.path, `${id}.sock`);
    if (channel === undefined) return;
    const connected = { file, channel, greeted: false };
    this.#connected.set(id, connected);
    const server = {
      info: infoOf(file),
      send: (answer: AnswerRequest & { id: string }) => channel.send({ is: "answer", ...answer }),
      tellAnswerable: (id: string, answerable: boolean) => channel.send({ is: "answerable", id, answerable }),
    };
    channel.onMessage = message => {
      const told = message as FromServer;
      this.onMessage(server, told);
      if (told.is !== "hello") return;
      connected.greeted = true;
      this.onChange();
    };
    channel.onClose = error => {
      this.#connected.delete(id);
      if (connected.greeted) this.onChange(id);
      // No process listens there: the server was killed.
      if (error?.code === "ECONNREFUSED" || error?.code === "ENOENT") this.#forget(id, file.started);
    };
    channel.unref().send({ is: "hello", secret: file.secret, attended: this.#attended });
  }

  /** A server that has just started may not listen yet. */
  #forget(id: string, started: number): void {
    if (Date.now() - started < 2000) return;
    this.#folder?.clear(`${id}.json`);
    this.#folder?.clear(`${id}.sock`);
  }
}

function infoOf({ secret: _, ...info }: ServerFile): ServerInfo {
  return info;
}

function isServerFile(value: unknown): value is ServerFile {
  if (typeof value !== "object" || value === null) return false;
  const { id, secret, pid, roots, started } = value as Partial<ServerFile>;
  return (
    typeof id === "string" &&
    typeof secret === "string" &&
    typeof pid === "number" &&
    typeof started === "number" &&
    Array.isArray(roots)
  );
}
