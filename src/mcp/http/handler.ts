// The HTTP endpoint for a program with a server of its own: a function of Node's request and response, which is what
// node:http, Express and Fastify can call, and one of the fetch standard, for Hono. Routing is the program's; every
// request is for /mcp.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dialect } from "../../contract/dialect.ts";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import type { Engine } from "../../engine/engine.ts";
import { version } from "../../version.ts";
import { createLog, type Log } from "../log.ts";
import type { ServerIdentity } from "../method.ts";

/** What the endpoint serves, and to whom. */
export interface HandlerOptions {
  readonly engine: Engine;
  readonly dialect: Dialect;
  /** Settings that differ from the defaults. Commands are offered only where `commands` says so. */
  readonly settings?: Partial<Settings>;
  /**
   * A file of tokens, as `polyfs token add` writes it. Without one every request that reaches the handler may use the
   * whole engine: authenticate before you call it, or listen on the loopback interface only.
   */
  readonly tokens?: string;
  /** The names that clients use for this server, `name` or `name:port`. Default: those of the loopback interface. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may call. Default: none but the server's own. */
  readonly origins?: readonly string[];
  /** Keep nothing between requests, for use behind a load balancer. */
  readonly stateless?: boolean;
  readonly info?: ServerIdentity;
  readonly log?: Log;
}

/** The endpoint. Await `close` before disposing of the engine. */
export interface Handler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The same by the fetch standard, for Hono and other frameworks that speak it: `app.all("/mcp", c => handler.fetch(c.req.raw))`. */
  fetch(request: Request): Promise<Response>;
  /** Takes nothing new, lets calls finish for `graceMs`, and stops the rest. The engine stays open. */
  close(graceMs?: number): Promise<void>;
}

/**
 * The MCP endpoint as a function of Node's request and response, for a server of your own. Throws if the token file
 * cannot be used.
 */
export async function createHandler(options: HandlerOptions): Promise<Handler> {
  const { engine, dialect, log = createLog("warn"), tokens } = options;
  const { openAccess } = await import("../auth/authenticator.ts");
  const settings = {
    ...defaultSettings,
    commands: "none" as const,
    ...options.settings,
    anyDirectory: undefined,
  };
  // The protocol library costs more than the rest of the package: only here, where it is asked for.
  const { createService } = await import("./service.ts");
  const service = createService({
    engine,
    dialects: { [dialect.name]: async () => dialect },
    dialect: dialect.name,
    settings: () => settings,
    info: options.info ?? { name: "polyfs", version },
    address: { host: "127.0.0.1", port: 0 },
    hosts: options.hosts,
    origins: options.origins,
    stateless: options.stateless,
    access: tokens === undefined ? openAccess(engine.workspace) : await byFile(tokens, engine, log),
    log,
  });
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    request.url = "/mcp";
    await service.front.handle(request, response);
  };
  return Object.assign(handle, {
    async fetch(request: Request) {
      const { webExchange } = await import("./web-exchange.ts");
      return await webExchange(request, handle);
    },
    async close(graceMs = 30_000) {
      await service.drain(graceMs, new Promise<void>(() => {}));
      service[Symbol.dispose]();
    },
  });
}

async function byFile(file: string, { workspace }: Engine, log: Log) {
  const { Tokens } = await import("../auth/tokens.ts");
  return new Tokens({ file, workspace, log });
}
