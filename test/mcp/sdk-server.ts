// The same fixture on the SDK's server: the oracle that our own core is held against.
import { PassThrough } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { call } from "../../src/contract/call.ts";
import { Session } from "../../src/contract/session.ts";
import { fixture, fixtureOptions } from "./fixture.ts";
import { Wire } from "./wire.ts";

/** The oracle on a pair of streams. */
export function serveBySdk(): Wire {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(({ era }) => oracle(era), { transport });
  input.once("end", () => void handle.close().then(() => output.end()));
  return new Wire(input, output);
}

function oracle(era: "legacy" | "modern"): Server {
  const { info, engine, settings } = fixtureOptions;
  const server = new Server(info, {
    capabilities: { tools: {} },
    instructions: fixture.instructions,
    cacheHints: { "tools/list": { ttlMs: 300_000, cacheScope: "private" } },
  });
  const session = new Session();
  server.setRequestHandler("tools/list", () => ({
    tools: fixture.tools.map(({ name, title, description, input, output, ...tool }) => ({
      name: `fx.${name}`,
      title,
      description,
      inputSchema: structuredClone(input) as { type: "object" },
      ...(output === undefined ? {} : { outputSchema: structuredClone(output) as { type: "object" } }),
      annotations: {
        readOnlyHint: tool.effect === "reads",
        destructiveHint: tool.effect !== "reads" && tool.destructive !== false,
        idempotentHint: tool.effect === "reads" || tool.idempotent === true,
        openWorldHint: tool.effect === "runs",
      },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const clientInfo = era === "modern" ? { name: "wire", version: "2" } : server.getClientVersion();
    if (clientInfo !== undefined) session.client = `${clientInfo.name}/${clientInfo.version}`;
    const token = params._meta?.progressToken;
    const outcome = await call(fixture, params.name, params.arguments, {
      engine,
      workspace: engine.workspace,
      settings,
      session,
      revision: server.getNegotiatedProtocolVersion() ?? "2025-11-25",
      signal: context.mcpReq.signal,
      progress(progress, total, message) {
        // Only the last one: when the others are told is a matter of time.
        if (token === undefined || progress !== total) return;
        const told = { progressToken: token, progress, total, message };
        void context.mcpReq.notify({ method: "notifications/progress", params: told });
      },
    });
    if ("error" in outcome) throw Object.assign(new Error(outcome.error.message), outcome.error);
    const { content, structured, isError, meta } = outcome;
    return {
      content: structuredClone(content) as { type: "text"; text: string }[],
      ...(structured === undefined ? {} : { structuredContent: structuredClone(structured) }),
      ...(isError === undefined ? {} : { isError }),
      ...(meta === undefined ? {} : { _meta: meta }),
    };
  });
  return server;
}
