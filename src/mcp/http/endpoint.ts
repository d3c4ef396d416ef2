// /mcp: answers an accepted request in its era. Requests of 2026-07-28 are stateless; those of 2025 belong to a
// session, or are stateless too if the server keeps none.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  classifyInboundRequest,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  PerRequestHTTPServerTransport,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { Session } from "../../contract/session.ts";
import { jsonParts } from "../json-parts.ts";
import { errorFrame, type Frame, isRecord, notificationFrame, resultFrame } from "../jsonrpc.ts";
import type { Log } from "../log.ts";
import type { MethodAnswer } from "../method.ts";
import { modernRevisions } from "../revision.ts";
import { rpcErrorOf } from "../rpc-failure.ts";
import { DirectAnswer } from "./direct-answer.ts";
import { type DirectCall, directCall } from "./direct-call.ts";
import { DirectCaller } from "./direct-caller.ts";
import { callerName, type RequestContext } from "./request-context.ts";
import { type SessionLimits, Sessions } from "./sessions.ts";
import { TableServer, type TableServerOptions } from "./table-server.ts";

interface EndpointOptions extends TableServerOptions, SessionLimits {
  readonly stateless: boolean;
}

export class Endpoint {
  readonly sessions: Sessions;
  readonly #options: EndpointOptions;
  readonly #alone: McpHttpHandler;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.sessions = new Sessions(options);
    this.#alone = createMcpHandler(
      ({ era, requestInfo }) => {
        const { table, method } = options.contexts.of(requestInfo);
        const server = new TableServer(era, table.server, options);
        // Unknown methods are left to the SDK, which has a status for them.
        if (method !== undefined && !table.server.methods.has(method))
          server.fallbackRequestHandler = undefined;
        return server;
      },
      {
        legacy: options.stateless ? "stateless" : "reject",
        keepAliveMs: options.keepAliveMs,
        onerror: error => options.log.debug("http", error),
      },
    );
  }

  /** Answers a call without the SDK; false if that is not possible. */
  async answerDirectly(
    request: IncomingMessage,
    response: ServerResponse,
    requestContext: RequestContext,
    message: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const { calls, log, keepAliveMs } = this.#options;
    const call = directCall(requestContext.table.server, request.headers, message);
    if (call === undefined) return false;
    const { envelope } = call;
    const opened =
      envelope === undefined && !this.#options.stateless
        ? this.sessions.directly(request.headers, requestContext)
        : undefined;
    const from = opened ?? envelope;
    if (from === undefined) return false;
    using answer = new DirectAnswer(response, { headers, session: opened?.id, keepAliveMs });
    const session = opened?.session ?? new Session({ lasting: false });
    session.client = callerName(requestContext.principal, from.client);
    const caller = new DirectCaller(call, requestContext, {
      session,
      revision: from.revision,
      capabilities: from.capabilities,
      notify: (method, params) => answer.notify(notificationFrame(method, params)),
      tellLater: opened?.tellLater ?? (() => {}),
    });
    opened?.running.add(caller);
    const run = () => calls.answer(requestContext, call.name, call.method, call.params, caller);
    const { frame, status } = await outcomeOf(call, caller, run, log);
    caller.answered = true;
    opened?.running.delete(caller);
    await answer.end(frame, status);
    return true;
  }

  /** `message` is the parsed body, if there is one. */
  async fetch(request: Request, requestContext: RequestContext, message: unknown): Promise<Response> {
    this.#options.contexts.set(request, requestContext);
    const listening = await this.#listen(request, requestContext, message);
    if (listening !== undefined) return listening;
    const parsed = message === undefined ? {} : { parsedBody: message };
    const alone = this.#options.stateless || !(await isLegacyRequest(request, message));
    if (alone) return await this.#alone.fetch(request, parsed);
    const opens = isRecord(message) && message.method === "initialize";
    return await this.sessions.fetch(request, requestContext, message, opens);
  }

  /**
   * The SDK answers `subscriptions/listen` itself, with the same events for all callers. Ours depend on what the
   * caller may reach, so a valid request goes to our table; the SDK refuses the others.
   */
  async #listen(
    request: Request,
    requestContext: RequestContext,
    message: unknown,
  ): Promise<Response | undefined> {
    const { method = "", table } = requestContext;
    if (method !== "subscriptions/listen" || !table.server.methods.has(method)) return undefined;
    const version = request.headers.get("mcp-protocol-version");
    const named = request.headers.get("mcp-method");
    if (version === null || named === null || !modernRevisions.some(known => known === version))
      return undefined;
    const outcome = classifyInboundRequest({
      httpMethod: request.method,
      protocolVersionHeader: version,
      mcpMethodHeader: named,
      body: message,
    });
    if (outcome.kind !== "modern" || outcome.messageKind !== "request") return undefined;
    const server = new TableServer("modern", table.server, this.#options);
    const { classification } = outcome;
    const { keepAliveMs } = this.#options;
    const transport = new PerRequestHTTPServerTransport({ classification, responseMode: "sse", keepAliveMs });
    await server.connect(transport);
    return await transport.handleMessage(outcome.message, { request });
  }

  async close(): Promise<void> {
    await Promise.all([this.sessions.close(), this.#alone.close()]);
  }
}

interface DirectOutcome {
  /** Absent if the client has cancelled the call or left. */
  readonly frame?: Frame;
  /** The HTTP status, if the response is not a stream. */
  readonly status: number;
}

async function outcomeOf(
  { id, name }: DirectCall,
  caller: DirectCaller,
  run: () => Promise<MethodAnswer>,
  log: Log,
): Promise<DirectOutcome> {
  try {
    const { json, result } = await run();
    if (caller.aborted) return { status: 200 };
    return { frame: resultFrame(id, json ?? jsonParts(result)), status: 200 };
  } catch (error) {
    if (caller.aborted) return { status: 200 };
    const known = rpcErrorOf(error, log, name, id);
    // The only error of a method with an HTTP status other than 200.
    const status = known.code === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200;
    return { frame: errorFrame(id, known), status };
  }
}
