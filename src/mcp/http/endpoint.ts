// /mcp: a request that has been let in, answered in the era that it is in. Requests of 2026-07-28 stand alone;
// those of 2025 belong to a session, or where the server is to keep nothing, stand alone too.
import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import { isRecord } from "../jsonrpc.ts";
import { type SessionLimits, Sessions } from "./sessions.ts";
import { TableServer, type TableServerOptions } from "./table-server.ts";
import type { Visit } from "./visit.ts";

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
        const { table, method } = options.visits.of(requestInfo);
        const server = new TableServer(era, table.server, options);
        // What nobody answers is left to the SDK, which has a status for that.
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

  /** `message` is the parsed body, where there is one. */
  async fetch(request: Request, visit: Visit, message: unknown): Promise<Response> {
    this.#options.visits.set(request, visit);
    const parsed = message === undefined ? {} : { parsedBody: message };
    const alone = this.#options.stateless || !(await isLegacyRequest(request, message));
    if (alone) return await this.#alone.fetch(request, parsed);
    const opens = isRecord(message) && message.method === "initialize";
    return await this.sessions.fetch(request, visit, message, opens);
  }

  async close(): Promise<void> {
    await Promise.all([this.sessions.close(), this.#alone.close()]);
  }
}
