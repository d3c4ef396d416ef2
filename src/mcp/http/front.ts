// The entry point: every request from its first byte to its last. Refuses as early as possible, and the status of a
// refusal says what was wrong: the origin, the caller, the size, or the request itself.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Session } from "../../contract/session.ts";
import { Fault } from "../../engine/fault.ts";
import { errorText } from "../../engine/replica/store-faults.ts";
import { beginning } from "../../host/masked-tokens.ts";
import type { PageWatch } from "../../review/http/page-watch.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import { InvalidRequest, idText, isRecord, RpcError } from "../jsonrpc.ts";
import type { Log } from "../log.ts";
import type { Recorder } from "../recorder.ts";
import { negotiate } from "../revision.ts";
import { type TraceContext, type TraceHeaders, traceContextOf } from "../trace-context.ts";
import type { RequestTracing } from "../tracing.ts";
import type { Bodies } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HostCheck } from "./host-check.ts";
import type { Metrics } from "./metrics.ts";
import { OpenRequests } from "./open-requests.ts";
import { Rates } from "./rates.ts";
import { Refusal } from "./refusal.ts";
import type { RequestContext } from "./request-context.ts";
import { respond } from "./respond.ts";
import type { ReviewDoor } from "./review-door.ts";
import type { MethodTable, Tables } from "./tables.ts";
import type { WorkspacePrincipals } from "./workspace-principals.ts";

interface FrontOptions {
  readonly hostCheck: HostCheck;
  /** For the separate address of the figures, where there is one. */
  readonly figuresHostCheck?: HostCheck | undefined;
  readonly access: Authenticator;
  readonly tables: Tables;
  readonly places: WorkspacePrincipals;
  readonly bodies: Bodies;
  readonly endpoint: Endpoint;
  readonly metrics: Metrics;
  readonly recorder: Recorder;
  readonly tracing?: RequestTracing | undefined;
  readonly log: Log;
  /** What is served at /review; absent where nothing is. */
  readonly review?: ReviewDoor | undefined;
  readonly keepAliveMs: number;
  /** Whether the figures are served elsewhere. */
  readonly separateFigures: boolean;
  printMetrics(): string;
  /** Why this server does not follow the store, where someone has to mend that. */
  notFollowing(): string | undefined;
}

/** An HTTP request that was not served, for the record. */
interface RefusedHttp {
  readonly status: number;
  readonly reason: string;
  readonly caller?: string | undefined;
  /** The method of its message, if that was read. */
  readonly rpc?: string | undefined;
  readonly trace?: TraceContext;
  /** Whether it has reached a method. */
  readonly reached?: boolean | undefined;
  /** Whether it has a line. */
  readonly recorded?: boolean | undefined;
}

interface RefusalRecord extends RefusedHttp {
  readonly trace: TraceContext;
  readonly address: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string;
  readonly origin?: string | undefined;
}

/** What the SDK answers without us. */
const ofSdk: ReadonlySet<string> = new Set(["initialize", "ping"]);

/** By the parser's code; as Node answers them. */
const brokenStatus: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
const figuresType = { "content-type": "text/plain; version=0.0.4" };
const json = { "content-type": "application/json", "cache-control": "no-store" };
const preflight = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, traceparent, tracestate",
  "access-control-max-age": "600",
};

export class Front {
  readonly openRequests = new OpenRequests();
  readonly #options: FrontOptions;
  readonly #rates = new Rates();
  /** Whose requests they are, as soon as that is known. */
  readonly #callers = new WeakMap<IncomingMessage, Principal>();
  /** The review page has its own way to identify people; limits and the audit are the same. */
  readonly #pageWatch: PageWatch = {
    waitOf: ({ rate }) => rate && this.#rates.waitOf(rate.owner, rate.perMinute),
    record: action => this.#options.recorder.reviewed(action),
  };
  /** Nothing new is taken any more. */
  ending = false;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    // A page from a foreign origin does not get to read the reason.
    let headers: Record<string, string> = {};
    try {
      const path = pathOf(request);
      if (this.#isAboutHealth(path, response)) return;
      this.#checkHost(request, this.#options.hostCheck);
      headers = this.#options.hostCheck.headersFor(origin);
      if (request.method === "OPTIONS") {
        return send(response, 204, origin === undefined ? {} : { ...preflight, ...headers });
      }
      await this.#serve(path, request, response, headers);
    } catch (error) {
      this.#fail(request, response, headers, error);
    }
  }

  /** A request that cannot be read, or that took too long to come. */
  handleBroken(error: Error & { readonly code?: string }, socket: Duplex): void {
    const [status, text] = brokenStatus[error.code ?? ""] ?? [400, "Bad Request"];
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const { remoteAddress: address } = socket as Partial<Socket>;
    this.#record({ status, reason: `${text}: ${error.code ?? error.message}`, address, trace: {} });
    // The answer to an earlier request may be on its way: two would be mixed up.
    const { _httpMessage: current } = socket as { _httpMessage?: { headersSent?: boolean } };
    if (current?.headersSent !== true)
      socket.write(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  }

  /** A request for a tunnel. */
  handleConnect(request: IncomingMessage, socket: Duplex): void {
    this.#refused(request, { status: 405, reason: "Method not allowed" });
    // Node leaves this socket to us. Without a listener, an error on it ends the process.
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, POST, DELETE\r\nConnection: close\r\n\r\n");
  }

  /** A request that expects what we cannot do. */
  handleExpectation(request: IncomingMessage, response: ServerResponse): void {
    this.#fail(request, response, {}, new Refusal(417, "Expectation failed"));
  }

  /** A request to the separate address of the figures. */
  handleFigures(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request);
    if (this.#isAboutHealth(path, response)) return;
    try {
      this.#checkHost(request, this.#options.figuresHostCheck ?? this.#options.hostCheck);
    } catch (error) {
      return void this.#fail(request, response, {}, error);
    }
    const found = path === "/metrics" && request.method === "GET";
    send(
      response,
      found ? 200 : 404,
      found ? figuresType : plain,
      found ? this.#options.printMetrics() : "not found\n",
    );
  }

  #checkHost(request: IncomingMessage, check: HostCheck): void {
    const { host, origin } = request.headers;
    if (host === undefined && request.httpVersion === "1.1")
      throw new Refusal(400, "Bad request: there is no Host");
    // Of several, Node takes the first; a proxy in front may have taken another.
    check.check(hasSeveralHosts(request) ? undefined : host, origin);
  }

  #isAboutHealth(path: string, response: ServerResponse): boolean {
    if (path === "/healthz") send(response, 200, plain, "ok\n");
    else if (path !== "/readyz") return false;
    else if (this.ending) send(response, 503, plain, "ending\n");
    else {
      const reason = this.#options.notFollowing();
      send(response, reason === undefined ? 200 : 503, plain, `${reason ?? "ready"}\n`);
    }
    return true;
  }

  async #serve(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { access, tables, endpoint, printMetrics, keepAliveMs, separateFigures, review } = this.#options;
    if (review !== undefined && (path === "/review" || path.startsWith("/review/"))) {
      const { who, recorded } = await review.handle(request, response, {
        watch: this.#pageWatch,
        places: this.#options.places,
      });
      if (response.statusCode >= 400 && !recorded)
        this.#refused(request, {
          status: response.statusCode,
          reason: `${request.method} ${beginning(path, 200)}`,
          caller: who,
        });
      return;
    }
    const document = access.documents.get(path);
    if (document !== undefined) return send(response, 200, { ...json, ...headers }, document);
    const identified = await access.identify(request.headers.authorization);
    this.#callers.set(request, identified);
    const { owner, perMinute } = identified.is;
    if (perMinute !== undefined) this.#rates.count(owner, perMinute);
    if (path === "/metrics" && request.method === "GET" && !separateFigures) {
      return send(response, 200, figuresType, printMetrics());
    }
    const [, place, named, found] = /^\/mcp(?:\/w\/([^/]+))?(?:\/([^/]+))?(\/?)$/.exec(path) ?? [];
    if (found === undefined) throw new Refusal(404, "Not found: the server is at /mcp");
    this.#options.hostCheck.checkSite(request.headers.origin, request.headers["sec-fetch-site"]);
    const principal = await this.#options.places.for(identified, place);
    const table = await tables.for(principal, named);
    if (this.ending) throw new Refusal(503, "The server is ending", { headers: { connection: "close" } });
    const open = this.openRequests.enter(response, principal, lineOf(request, principal));
    const { message, bytes } = await this.#message(request, response, table, principal);
    if (isEndless(request, message)) open.endless();
    const method = isRecord(message) && typeof message.method === "string" ? message.method : undefined;
    const address = addressOf(request);
    const traceHeaders = traceHeadersOf(request);
    const requestContext: RequestContext = {
      open,
      principal,
      table,
      method,
      bytes,
      address,
      traceHeaders,
    };
    if (await endpoint.answerDirectly(request, response, requestContext, message, headers)) return;
    const params = isRecord(message) && isRecord(message.params) ? message.params : {};
    const trace = traceContextOf(params, traceHeaders);
    const fetched = () => endpoint.fetch(webRequest(request, path, open.signal), requestContext, message);
    const answer = this.#traced(requestContext, trace, message, fetched).then(async given => {
      const { status } = given;
      if (status < 400) return given;
      const reason = await reasonOf(given);
      const { name: caller } = principal.is;
      const { reached, recorded } = requestContext;
      this.#refused(request, { status, reason, caller, rpc: method, trace, reached, recorded });
      return given;
    });
    const streams = request.method === "POST" && /text\/event-stream/i.test(request.headers.accept ?? "");
    await respond(response, answer, { headers, streams, keepAliveMs });
  }

  /** The message of a POST; nothing for the others. */
  async #message(
    request: IncomingMessage,
    response: ServerResponse,
    table: MethodTable,
    principal: Principal,
  ): Promise<{ message?: unknown; bytes: number }> {
    const { method = "", headers } = request;
    if (method === "GET" || method === "DELETE") return { bytes: 0 };
    if (method !== "POST")
      throw new Refusal(405, "Method not allowed", { headers: { allow: "GET, POST, DELETE" } });
    // Only what no page can send without being asked first.
    if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) {
      throw new Refusal(415, "Unsupported media type: send application/json");
    }
    const body = await this.#options.bodies.read(request, response, lineOf(request, principal));
    for (const message of Array.isArray(body.message) ? body.message : [body.message]) {
      if (!isRecord(message) || message.method !== "tools/call" || !isRecord(message.params)) continue;
      const tool = table.tool(message.params.name);
      if (tool !== undefined && !principal.is.permits(tool)) throw principal.is.refuse(tool);
    }
    return body;
  }

  /** The SDK answers the handshake itself: it reaches no method of ours, and is a span all the same. */
  async #traced(
    requestContext: RequestContext,
    trace: TraceContext,
    message: unknown,
    run: () => Promise<Response>,
  ): Promise<Response> {
    const { tracing } = this.#options;
    const { principal, table, method = "", address } = requestContext;
    const { id: given, params } = isRecord(message) ? message : {};
    const id = idText(given);
    if (tracing === undefined || id === undefined || !ofSdk.has(method)) return await run();
    requestContext.reached = true;
    const asked = isRecord(params) ? params.protocolVersion : undefined;
    const revision = negotiate(typeof asked === "string" ? asked : "");
    const { workspace } = principal.is;
    const traced = { transport: "http", method, call: undefined, workspace, address, trace } as const;
    const caller = { id, session: new Session({ lasting: false }), revision };
    const answer = run();
    await tracing
      .request({ ...traced, dialect: table.dialect.name }, caller, async () => {
        const { ok } = await answer;
        if (!ok) throw new RpcError(InvalidRequest, "refused");
        return { result: {} };
      })
      .catch(() => {}); // the promise that the answer waits for reports it
    return await answer;
  }

  #refused(request: IncomingMessage, { trace, ...refused }: RefusedHttp): void {
    const context = trace ?? traceContextOf({}, traceHeadersOf(request));
    this.#record({
      ...refused,
      trace: context,
      address: addressOf(request),
      method: request.method,
      path: beginning(pathOf(request), 200),
      origin: request.headers.origin && beginning(request.headers.origin, 200),
    });
  }

  #record({ reached, recorded, trace, ...entry }: RefusalRecord): void {
    const { metrics, tracing, recorder } = this.#options;
    const { status, address, method = "" } = entry;
    metrics.refused(status);
    // A request that reached a method is a span already.
    const span = reached === true ? undefined : tracing?.refused({ method, status, address, trace });
    if (recorded !== true)
      recorder.refused({ ...entry, trace: span ?? trace.parent?.traceId, decision: "denied" });
  }

  #fail(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    error: unknown,
  ): void {
    const refusal = refusalOf(error);
    const fields = { address: addressOf(request), caller: this.#callers.get(request)?.is.name };
    const { log } = this.#options;
    if (Fault.is(error, "store_unavailable"))
      log.warn(`a request was refused: the store cannot be used (${errorText(error)})`, undefined, fields);
    else if (!response.destroyed && refusal !== error) log.error("a request failed", error, fields);
    this.#refused(request, { status: refusal.status, reason: refusal.message, caller: fields.caller });
    log.debug(`${refusal.status} ${request.method}: ${refusal.message}`, undefined, fields);
    if (response.headersSent) return void response.destroy();
    // The rest of the request is discarded: closing at once would lose the answer, too.
    request.resume();
    send(response, refusal.status, { ...json, ...headers, ...refusal.headers }, refusal.body);
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // The log says why: the address of the store is not for every caller.
  if (Fault.is(error, "store_unavailable"))
    return new Refusal(503, "The shared store cannot be used now. Try again later", {
      headers: { "retry-after": "2" },
    });
  return new Refusal(500, "Internal error", { code: -32603 });
}

/** What a refusal of the SDK says. */
async function reasonOf(answer: Response): Promise<string> {
  try {
    const body: unknown = JSON.parse(await answer.clone().text());
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined;
    if (typeof error === "string") return beginning(error, 200);
  } catch {
    // It has no JSON.
  }
  return answer.statusText;
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body = "",
): void {
  response.writeHead(status, { "x-content-type-options": "nosniff", ...headers }).end(body);
}

/** A request whose client has gone has no socket, whatever the types say. */
function addressOf({ socket }: { socket: IncomingMessage["socket"] | null }): string | undefined {
  return socket?.remoteAddress;
}

function traceHeadersOf({ headers: { traceparent, tracestate } }: IncomingMessage): TraceHeaders {
  return { traceparent: traceparent?.toString(), tracestate: tracestate?.toString() };
}

function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? "")) hosts++;
  return hosts > 1;
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.replace(/[?#].*$/s, "");
}

/** Calls are scheduled by caller or, if callers are not identified, by session or connection. */
function lineOf({ headers, socket }: IncomingMessage, { is: { name, owner } }: Principal): string {
  if (name !== undefined) return `caller ${owner}`;
  const session = headers["mcp-session-id"];
  return session === undefined ? `${socket.remoteAddress} ${socket.remotePort}` : `session ${session}`;
}

/** A stream for listening: shutdown does not wait for it. */
function isEndless({ method }: IncomingMessage, message: unknown): boolean {
  return method === "GET" || (isRecord(message) && message.method === "subscriptions/listen");
}

/** The request for the SDK, without its body: that has been read. */
function webRequest(request: IncomingMessage, path: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && name !== "authorization") headers.set(name, String(value));
  }
  return new Request(`http://localhost${path}`, { method: request.method ?? "GET", headers, signal });
}
