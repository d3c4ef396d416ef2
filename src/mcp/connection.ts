// One client on a two-way channel (standard input and output, or any pair of streams): its era, its running requests,
// and our requests to it. Framing and the process belong to the transport.
import { Session } from "../contract/session.ts";
import { beginning } from "../host/masked-tokens.ts";
import { jsonParts } from "./json-parts.ts";
import {
  errorFrame,
  type Frame,
  type Id,
  InvalidParams,
  InvalidRequest,
  idText,
  isRecord,
  type JsonRpcMessage,
  type JsonRpcRequest,
  notificationFrame,
  RpcError,
  readLargeLine,
  readLine,
  resultFrame,
  wholeText,
} from "./jsonrpc.ts";
import type { Log } from "./log.ts";
import { type Caller, type Method, type MethodAnswer, type Params, unknownMethod } from "./method.ts";
import { Negotiation } from "./negotiation.ts";
import { Outgoing } from "./outgoing.ts";
import { ClientRoots, type RootsListener } from "./roots.ts";
import { rpcErrorOf } from "./rpc-failure.ts";
import { Running } from "./running.ts";
import type { Server } from "./server.ts";

const longestAnswerMs = 10 * 60_000;

export interface ConnectionOptions {
  readonly server: Server;
  readonly log: Log;
  send(frame: Frame): void;
  /** A line has been dealt with. */
  settled?(): void;
  /** Runs a request and records it. */
  readonly record?: (
    method: string,
    params: Params,
    caller: Caller,
    run: () => Promise<MethodAnswer>,
  ) => Promise<MethodAnswer>;
  /** Told of what cannot be taken for a request. */
  readonly refused?: (message: RefusedMessage) => void;
  /** Takes the client's roots, and each new list of them. Where absent the client is not asked. */
  readonly onRoots?: RootsListener;
}

interface RefusedMessage {
  readonly id: Id;
  readonly error: RpcError;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly session = new Session();
  readonly #negotiation: Negotiation;
  readonly #outgoing: Outgoing;
  readonly #roots: ClientRoots;
  readonly #running = new Set<Running>();
  /** Large lines that are being read. */
  readonly #reading = new Set<Promise<undefined>>();
  /** The client's capabilities. */
  #capabilities: Caller["capabilities"];
  /** Lines in progress, and callers that wait until there are none. */
  #load = 0;
  #bytes = 0;
  #idle: (() => void)[] = [];
  /** Called when a request has ended. */
  #ended: (() => void)[] = [];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#negotiation = new Negotiation(options.server.methods);
    this.#outgoing = new Outgoing(options.send);
    const { server, onRoots, log } = options;
    const taken: RootsListener | undefined =
      onRoots &&
      (async roots => {
        const before = server.offered();
        await onRoots(roots);
        if (server.offered() !== before) this.#notify("notifications/tools/list_changed", {});
      });
    this.#roots = new ClientRoots(this.#outgoing, taken, log);
  }

  /** How many lines are being dealt with. */
  get load(): number {
    return this.#load;
  }

  /** The size of these lines. */
  get bytesInProgress(): number {
    return this.#bytes;
  }

  /** Takes a line, without its end. */
  receive(line: Buffer): void {
    const large = readLargeLine(line);
    if (large === undefined) {
      this.#takeRead(readLine(line), line.length);
      return;
    }
    const taken = this.#takeLarge(large, line.length).finally(() => this.#reading.delete(taken));
    this.#reading.add(taken);
    this.#settle(taken, 0); // what is read from it counts its bytes
  }

  #takeRead(message: JsonRpcMessage | readonly JsonRpcMessage[], bytes: number): void {
    if (!("kind" in message)) this.#settle(this.#takeBatch(message, bytes), bytes);
    else if (message.kind === "request") this.#settle(this.#answer(message, bytes), bytes);
    // It may be about a request that is still being read.
    else if (this.#reading.size > 0) this.#settle(this.#takeAfter([...this.#reading], message), bytes);
    else this.#send(this.#takeAtOnce(message));
  }

  /** Requests that come after a large one do not wait for it. */
  async #takeLarge(
    large: Promise<JsonRpcMessage | readonly JsonRpcMessage[]>,
    bytes: number,
  ): Promise<undefined> {
    try {
      this.#takeRead(await large, bytes);
    } catch (error) {
      this.#options.log.error("a line could not be read", error);
    }
  }

  async #takeAfter(
    earlier: readonly Promise<unknown>[],
    message: Exclude<JsonRpcMessage, JsonRpcRequest>,
  ): Promise<Frame | undefined> {
    await Promise.allSettled(earlier);
    return this.#takeAtOnce(message);
  }

  async #settle(work: Promise<Frame | undefined>, bytes: number): Promise<void> {
    this.#load++;
    this.#bytes += bytes;
    try {
      this.#send(await work);
    } catch (error) {
      this.#options.log.error("an answer could not be sent", error);
    }
    this.#load--;
    this.#bytes -= bytes;
    if (this.#load === 0) for (const wake of this.#idle.splice(0)) wake();
    this.#options.settled?.();
  }

  /** Answers a line that cannot be taken at all. */
  refuse(reason: string): void {
    this.#send(this.#refusal(reason));
  }

  #refusal(reason: string): Frame {
    return this.#refuse({ id: "null", error: new RpcError(InvalidRequest, `Invalid request: ${reason}`) });
  }

  #refuse({ id, error }: RefusedMessage): Frame {
    this.#options.refused?.({ id, error });
    return errorFrame(id, error);
  }

  /** No more messages will come: what we asked of the client stays unanswered. */
  inputEnded(): void {
    this.#outgoing.close();
    for (const running of this.#running) if (running.listens) running.abort();
  }

  /** Cancels running requests; each is still answered as its tool ends. */
  abort(): void {
    for (const running of this.#running) running.abort();
  }

  /** Releases the client's session. No line is in progress any longer. */
  close(): void {
    this.session[Symbol.dispose]();
  }

  /** Settles when nothing is being dealt with. */
  async idle(): Promise<void> {
    if (this.#load > 0) await new Promise<void>(resolve => this.#idle.push(resolve));
  }

  /** Settles when no call is running that may change files. Others leave nothing to clean up. */
  async changesEnded(): Promise<void> {
    const changes = ({ effect }: Running) => effect === "writes" || effect === "runs";
    while ([...this.#running].some(changes)) await new Promise<void>(resolve => this.#ended.push(resolve));
  }

  readonly #notify: Caller["notify"] = (method, params) =>
    this.#options.send(notificationFrame(method, params));

  /** The transport waits as long as a person takes; the caller sets the limit. */
  readonly #ask: Caller["ask"] = (method, params) => this.#outgoing.request(method, params, longestAnswerMs);

  #send(frame: Frame | undefined): void {
    if (frame !== undefined) this.#options.send(frame);
  }

  /** Batches exist in one revision only. They are answered together, as JSON-RPC has it. */
  async #takeBatch(messages: readonly JsonRpcMessage[], bytes: number): Promise<Frame | undefined> {
    if (this.#negotiation.agreed !== "2025-03-26") return this.#refusal("batches are not supported");
    const frames = await Promise.all(messages.map(message => this.#take(message, bytes)));
    const answers = frames.filter(frame => frame !== undefined).map(wholeText);
    return answers.length === 0 ? undefined : [`[${answers.join(",")}]`];
  }

  async #take(message: JsonRpcMessage, bytes: number): Promise<Frame | undefined> {
    return message.kind === "request" ? this.#answer(message, bytes) : this.#takeAtOnce(message);
  }

  #takeAtOnce(message: Exclude<JsonRpcMessage, JsonRpcRequest>): Frame | undefined {
    if (message.kind === "invalid") return this.#refuse(message);
    if (message.kind === "notification") this.#notified(message.method, message.params);
    else this.#outgoing.answered(message.id, message.result, message.error);
    return undefined;
  }

  async #answer({ id, method: name, params }: JsonRpcRequest, bytes: number): Promise<Frame | undefined> {
    // A client that uses an id twice at a time is answered twice.
    const running = new Running(id, bytes, this.session, this.#notify, this.#ask);
    running.capabilities = this.#capabilities;
    running.listens = name === "subscriptions/listen";
    this.#running.add(running);
    try {
      const admitted = this.#admitted(name, params, running);
      const method = admitted instanceof Promise ? await admitted : admitted;
      // Where the client's roots decide what may be reached, a call waits until they are known.
      if (name === "tools/call" && this.#roots.known !== undefined) await this.#roots.known;
      if (running.cancelled) return undefined;
      const run = () => this.#options.server.answer(method, asParams(params), running);
      const { record } = this.#options;
      const { json, result } = await (record?.(name, recordOf(params), running, run) ?? run());
      this.#options.log.debug(`answered ${name}`, undefined, { request: id });
      return running.cancelled ? undefined : resultFrame(id, json ?? jsonParts(result));
    } catch (error) {
      return running.cancelled ? undefined : errorFrame(id, rpcErrorOf(error, this.#options.log, name, id));
    } finally {
      this.#running.delete(running);
      for (const wake of this.#ended.splice(0)) wake();
    }
  }

  /** A request that no method gets is recorded, too. */
  #admitted(name: string, params: unknown, running: Running): Method | Promise<Method> {
    try {
      return this.#admit(name, params, running);
    } catch (error) {
      const { record, server } = this.#options;
      if (record === undefined) throw error;
      const known = server.methods.has(name) ? name : unknownMethod;
      return record(known, recordOf(params), running, () => Promise.reject(error)).then(() => {
        throw error;
      });
    }
  }

  #admit(name: string, params: unknown, running: Running): Method {
    const { method, revision, client, capabilities: stated } = this.#negotiation.admit(name, params);
    running.revision = revision;
    if (stated !== undefined) running.capabilities = stated;
    if (client !== undefined) this.session.client = client;
    if (name === "initialize") {
      const { capabilities } = asParams(params);
      this.#capabilities = isRecord(capabilities) ? capabilities : undefined;
      this.#roots.supported = isRecord(capabilities) && isRecord(capabilities.roots);
    }
    return method;
  }

  #notified(method: string, params: unknown): void {
    if (method === "notifications/cancelled") this.#cancel(params);
    else if (method === "notifications/initialized") this.#roots.ask();
    else if (method === "notifications/roots/list_changed") this.#roots.ask();
    else this.#options.log.debug(`ignored ${beginning(method, 100)}`);
  }

  /** A cancelled request gets no answer. An answered request is not in the table. */
  #cancel(params: unknown): void {
    const id = isRecord(params) ? idText(params.requestId) : undefined;
    if (id === undefined) return;
    for (const running of this.#running) {
      if (running.id !== id) continue;
      running.cancelled = true;
      running.abort();
    }
  }
}

/** What is recorded of parameters, also where they are refused. */
function recordOf(params: unknown): Params {
  return isRecord(params) ? params : {};
}

function asParams(params: unknown): Params {
  if (params === undefined || params === null) return {};
  if (!isRecord(params)) throw new RpcError(InvalidParams, "Invalid params: params must be an object");
  return params;
}
