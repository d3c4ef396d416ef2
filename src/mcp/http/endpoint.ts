// /mcp: answers an accepted request in its era. Requests of 2026-07-28 are stateless; those of 2025 belong to a
// session, or are stateless too if the server keeps none.
import {
  classifyInboundRequest,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  PerRequestHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isRecord } from "../jsonrpc.ts";
import { modernRevisions } from "../revision.ts";
import type { RequestContext } from "./request-context.ts";
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
