// One client on a two-way channel (standard input and output, or any pair of streams): which era it speaks, which
// of its requests are running, and what we asked of it. Framing and the process are the transport's business.
//
// The era is the request's own: an envelope in `_meta` makes it modern, else it is legacy. Once a client that
// never sent `initialize` has spoken modern, a request without an envelope is a mistake and refused as one.
import { Session } from "../contract/session.ts";
import {
  errorFrame,
  type Frame,
  type Id,
  InternalError,
  InvalidParams,
  InvalidRequest,
  idText,
  isRecord,
  type Message,
  MethodNotFound,
  notificationFrame,
  RpcError,
  readLine,
  resultFrame,
} from "./jsonrpc.ts";
import type { Log } from "./log.ts";
import { Outgoing } from "./outgoing.ts";
import {
  clientName,
  defaultRevision,
  type Envelope,
  missingEnvelope,
  negotiate,
  type Revision,
  readEnvelope,
  unsupportedVersion,
} from "./revision.ts";
import { ClientRoots, type RootsListener } from "./roots.ts";
import type { Caller, Method, Params, Server } from "./server.ts";

export interface ConnectionOptions {
  readonly server: Server;
  readonly log: Log;
  send(frame: Frame): void;
  /** Takes the client's roots, and each new list of them. Where absent the client is not asked. */
  readonly onRoots?: RootsListener;
}

/** A request that is being answered. */
interface Running {
  readonly controller: AbortController;
  cancelled: boolean;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #session = new Session();
  readonly #outgoing: Outgoing;
  readonly #roots: ClientRoots;
  /** By id; a client that uses an id twice at a time is answered twice. */
  readonly #running = new Map<Id, Running[]>();
  readonly #work = new Set<Promise<void>>();
  #initialized: Revision | undefined;
  #modern = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#outgoing = new Outgoing(options.send);
    this.#roots = new ClientRoots(this.#outgoing, options.onRoots, options.log);
  }

  /** How many messages are being worked on. */
  get load(): number {
    return this.#work.size;
  }

  /** Takes a line, without its end. Settles when it has been answered; never rejects. */
  receive(line: Buffer): Promise<void> {
    const message = readLine(line);
    const work = Array.isArray(message)
      ? this.#takeBatch(message)
      : this.#take(message as Message).then(this.#send);
    this.#work.add(work);
    return work.finally(() => this.#work.delete(work));
  }

  /** Answers a line that cannot be taken at all. */
  refuse(reason: string): void {
    this.#options.send(errorFrame("null", new RpcError(InvalidRequest, `Invalid request: ${reason}`)));
  }

  /** No more messages will come: what we asked of the client stays unanswered. */
  inputEnded(): void {
    this.#outgoing.close();
  }

  /** Stops what is running; each request is still answered as its tool ends it. */
  abort(): void {
    for (const same of this.#running.values()) for (const { controller } of same) controller.abort();
  }

  /** Settles when nothing is being worked on. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  readonly #send = (frame: Frame | undefined): void => {
    if (frame !== undefined) this.#options.send(frame);
  };

  /** Batches exist in one revision only. They are answered together, as JSON-RPC has it. */
  async #takeBatch(messages: readonly Message[]): Promise<void> {
    if (this.#initialized !== "2025-03-26") return this.refuse("batches are not supported");
    const frames = await Promise.all(messages.map(message => this.#take(message)));
    const answers = frames.filter(frame => frame !== undefined).map(frame => frame.join(""));
    if (answers.length > 0) this.#options.send([`[${answers.join(",")}]`]);
  }

  async #take(message: Message): Promise<Frame | undefined> {
    switch (message.kind) {
      case "request":
        return this.#answer(message.id, message.method, message.params);
      case "notification":
        this.#notified(message.method, message.params);
        return undefined;
      case "response":
        this.#outgoing.answered(message.id, message.result, message.error);
        return undefined;
      case "invalid":
        return errorFrame(message.id, message.error);
    }
  }

  async #answer(id: Id, name: string, params: unknown): Promise<Frame | undefined> {
    const running: Running = { controller: new AbortController(), cancelled: false };
    this.#running.set(id, [...(this.#running.get(id) ?? []), running]);
    try {
      const { method, revision } = this.#admit(name, params);
      const caller = this.#caller(revision, running.controller.signal);
      // Where the client's roots decide what may be reached, a call waits until they are known.
      if (name === "tools/call") await this.#roots.known;
      const { json, result } = await this.#options.server.answer(method, asParams(params), caller);
      return running.cancelled ? undefined : resultFrame(id, json ?? JSON.stringify(result));
    } catch (error) {
      return running.cancelled ? undefined : errorFrame(id, this.#asRpcError(error, name));
    } finally {
      const others = this.#running.get(id)?.filter(other => other !== running) ?? [];
      if (others.length === 0) this.#running.delete(id);
      else this.#running.set(id, others);
    }
  }

  /** The method that is meant, and the revision that the request is in. Done before anything waits: the next
   *  line may already rely on it. */
  #admit(name: string, params: unknown): { method: Method; revision: Revision } {
    const envelope = name === "initialize" ? undefined : readEnvelope(params);
    const method = this.#options.server.methods.get(name);
    const era = envelope !== undefined || this.#modern ? "modern" : "legacy";
    if (this.#modern && name === "initialize") throw unsupportedVersion(requestedVersion(params));
    if (method === undefined || (method.era ?? era) !== era) {
      throw new RpcError(MethodNotFound, `Method not found: ${name.slice(0, 100)}`);
    }
    if (this.#modern && envelope === undefined) throw missingEnvelope();
    if (envelope !== undefined) this.#spokeModern(name, envelope);
    if (name === "initialize") this.#introduced(asParams(params));
    return { method, revision: envelope?.revision ?? this.#initialized ?? defaultRevision };
  }

  /** `server/discover` alone decides nothing: a client may look first and then fall back to `initialize`. */
  #spokeModern(name: string, envelope: Envelope): void {
    if (this.#initialized === undefined && name !== "server/discover") this.#modern = true;
    if (envelope.client !== undefined) this.#session.client = envelope.client;
  }

  #introduced({ protocolVersion, capabilities, clientInfo }: Params): void {
    if (typeof protocolVersion !== "string") return;
    this.#initialized = negotiate(protocolVersion);
    this.#session.client = clientName(clientInfo) ?? this.#session.client;
    this.#roots.supported = isRecord(capabilities) && isRecord(capabilities.roots);
  }

  #caller(revision: Revision, signal: AbortSignal): Caller {
    const { send } = this.#options;
    return {
      session: this.#session,
      revision,
      signal,
      notify: (method, params) => send(notificationFrame(method, params)),
    };
  }

  #notified(method: string, params: unknown): void {
    if (method === "notifications/cancelled") this.#cancel(params);
    else if (method === "notifications/initialized") this.#roots.ask();
    else if (method === "notifications/roots/list_changed") this.#roots.ask();
    else this.#options.log.debug(`ignored ${method.slice(0, 100)}`);
  }

  /** A cancelled request gets no answer. One that has been answered meanwhile is not there any more. */
  #cancel(params: unknown): void {
    const id = isRecord(params) ? idText(params.requestId) : undefined;
    if (id === undefined) return;
    for (const running of this.#running.get(id) ?? []) {
      running.cancelled = true;
      running.controller.abort();
    }
  }

  #asRpcError(error: unknown, name: string): RpcError {
    if (error instanceof RpcError) return error;
    this.#options.log.error(`${name.slice(0, 100)} failed`, error);
    return new RpcError(
      InternalError,
      `Internal error: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function asParams(params: unknown): Params {
  if (params === undefined || params === null) return {};
  if (!isRecord(params)) throw new RpcError(InvalidParams, "Invalid params: params must be an object");
  return params;
}

function requestedVersion(params: unknown): string | undefined {
  return isRecord(params) && typeof params.protocolVersion === "string" ? params.protocolVersion : undefined;
}
