// Clients of the 2025 revisions have a session: their own server and transport, and their state. A session belongs to
// the caller that opened it; for others it does not exist. Sessions are bounded in number, and end after some idle
// time.
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { Session } from "../../contract/session.ts";
import { clock } from "../../engine/clock.ts";
import type { Principal } from "../auth/principal.ts";
import { idText, isRecord } from "../jsonrpc.ts";
import type { Caller } from "../method.ts";
import { clientName, negotiate, type ProtocolRevision } from "../revision.ts";
import { mayAsk } from "./direct-call.ts";
import type { DirectCaller } from "./direct-caller.ts";
import { Refusal } from "./refusal.ts";
import type { RequestContext } from "./request-context.ts";
import { TableServer, type TableServerOptions } from "./table-server.ts";

export interface SessionLimits {
  /** Over all callers, and per caller if callers are identified. */
  readonly sessions: number;
  readonly sessionsPerCaller: number;
  readonly idleMs: number;
  /** How often a stream says that it lives. */
  readonly keepAliveMs: number;
  readonly sessionEnded?: (session: Session) => void;
}

/** What a call has from its session. */
interface DirectSession {
  readonly id: string;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly client: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  /** The session's calls that are answered without the SDK. */
  readonly running: Set<DirectCaller>;
  readonly tellLater: Caller["notify"];
}

interface OpenSession {
  readonly principal: Principal;
  readonly held: Disposable;
  readonly dialect: string;
  readonly kept: Session;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: TableServer;
  /** Calls that are answered without the SDK. */
  readonly direct: Set<DirectCaller>;
  /** Requests that are being answered, streams that are being listened to. */
  busy: number;
  usedAt: number;
  closed: boolean;
}

/** Clients start a new session upon 404. What the old one had read or changed is in the history. */
const noSession =
  "Session not found: it has ended, or another server opened it. Send initialize to start a new one";

/** At the limit, sessions that were idle for this long are closed. */
const spareMs = 60_000;

export class Sessions {
  readonly #options: TableServerOptions & SessionLimits;
  readonly #open = new Map<string, OpenSession>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: TableServerOptions & SessionLimits) {
    this.#options = options;
    this.#timer = setInterval(() => this.#endIdle(options.idleMs), Math.min(options.idleMs, 10_000)).unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Answers a request of a 2025 client. `opens`: it is an `initialize`. */
  async fetch(
    request: Request,
    requestContext: RequestContext,
    body: unknown,
    opens: boolean,
  ): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null && !opens) {
      throw new Refusal(400, "Bad request: no Mcp-Session-Id; send initialize first");
    }
    const open = id === null ? await this.#begin(requestContext) : this.#find(id, requestContext);
    enter(open, requestContext);
    cancelDirect(open, body);
    const { transport } = open;
    const response = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    // It was not a handshake after all.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  /** The session of a call, if it can be answered without the SDK: nothing is to be asked of its client. */
  directly(headers: IncomingHttpHeaders, requestContext: RequestContext): DirectSession | undefined {
    const id = headers["mcp-session-id"];
    if (typeof id !== "string") return undefined;
    const open = this.#find(id, requestContext);
    const { server, transport } = open;
    const revision = server.getNegotiatedProtocolVersion();
    const stated = headers["mcp-protocol-version"] ?? revision;
    const isReady = transport.sessionId !== undefined && revision !== undefined && stated === revision;
    if (!isReady || mayAsk(server.getClientCapabilities())) return undefined;
    enter(open, requestContext);
    return {
      id,
      session: open.kept,
      revision: negotiate(revision),
      client: clientName(server.getClientVersion()),
      capabilities: server.getClientCapabilities(),
      running: open.direct,
      // By the stream that the client listens to, if it does.
      tellLater: (method, params) => void server.notification({ method, params }).catch(() => {}),
    };
  }

  /** Ends all of them: closes their streams and releases their state. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open.values()].map(({ transport }) => transport.close()));
  }

  #find(id: string, { principal, table }: RequestContext): OpenSession {
    const open = this.#open.get(id);
    // Other rights mean another caller: the state may hold directories that are no longer granted.
    const own =
      open?.principal.is.owner === principal.is.owner &&
      open.principal.is.workspace === principal.is.workspace;
    if (open === undefined || !own || open.dialect !== table.dialect.name) {
      throw new Refusal(404, noSession, { code: -32001 });
    }
    return open;
  }

  async #begin({ principal, table }: RequestContext): Promise<OpenSession> {
    this.#makeRoom(principal);
    const id = randomUUID();
    const kept = new Session();
    const server = new TableServer("legacy", table.server, this.#options);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: this.#options.keepAliveMs,
    });
    const open: OpenSession = {
      principal,
      held: principal.use(),
      dialect: table.dialect.name,
      kept,
      transport,
      server,
      direct: new Set(),
      busy: 0,
      usedAt: clock(),
      closed: false,
    };
    this.#open.set(id, open);
    await server.connect(transport);
    const onclose = transport.onclose;
    // Its state, including background commands, ends with its grant.
    const unwatch = principal.onEnd(() => void transport.close());
    transport.onclose = () => {
      onclose?.();
      unwatch();
      this.#open.delete(id);
      for (const caller of open.direct) caller.cancel();
      open.closed = true;
      this.#options.sessionEnded?.(kept);
      letGo(open);
    };
    return open;
  }

  #makeRoom(principal: Principal): void {
    const { sessions, sessionsPerCaller } = this.#options;
    const { owner, name } = principal.is;
    const own = () => [...this.#open.values()].filter(open => open.principal.is.owner === owner).length;
    if (this.#open.size >= sessions || own() >= sessionsPerCaller) this.#endIdle(spareMs);
    if (name !== undefined && own() >= sessionsPerCaller) {
      throw new Refusal(429, `Too many sessions: up to ${sessionsPerCaller}; end some (DELETE)`, {
        headers: { "retry-after": "60" },
      });
    }
    if (this.#open.size >= sessions) {
      throw new Refusal(503, "Too many sessions; try again later", { headers: { "retry-after": "60" } });
    }
  }

  #endIdle(idleMs: number): void {
    const now = clock();
    for (const { busy, usedAt, transport } of this.#open.values()) {
      if (busy === 0 && now - usedAt > idleMs) void transport.close();
    }
  }
}

/** Makes the session that of a request, and keeps it until the request has ended. */
function enter(open: OpenSession, requestContext: RequestContext): void {
  requestContext.session = open.kept;
  requestContext.hold = () => use(open);
  const busy = use(open);
  requestContext.open.onEnd(() => busy[Symbol.dispose]());
}

/** Cancels calls that the SDK does not know. */
function cancelDirect({ direct }: OpenSession, message: unknown): void {
  for (const one of Array.isArray(message) ? message : [message]) {
    if (!isRecord(one) || one.method !== "notifications/cancelled" || !isRecord(one.params)) continue;
    const id = idText(one.params.requestId);
    for (const caller of direct) if (caller.id === id) caller.cancel();
  }
}

/** Marks the session as in use: it is not idle, and its state stays. */
function use(open: OpenSession): Disposable {
  open.busy++;
  let used = true;
  return {
    [Symbol.dispose]() {
      if (!used) return;
      used = false;
      open.busy--;
      open.usedAt = clock();
      letGo(open);
    },
  };
}

/** Calls of a session that has ended may still be running out. */
function letGo({ closed, busy, kept, held }: OpenSession): void {
  if (!closed || busy > 0) return;
  kept[Symbol.dispose]();
  held[Symbol.dispose]();
}
