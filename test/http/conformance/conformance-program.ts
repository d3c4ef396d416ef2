// Serves what the conformance suite looks for, on the real stack, and says where. It ends with its input.
import { defaultSettings } from "../../../src/contract/settings.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { openAccess } from "../../../src/mcp/auth/authenticator.ts";
import { serveHttp } from "../../../src/mcp/http/serve.ts";
import { createLog } from "../../../src/mcp/log.ts";
import type { Method, ServerOptions } from "../../../src/mcp/method.ts";
import { createServer, type Server } from "../../../src/mcp/server.ts";
import { documents } from "./documents.ts";
import { rounds } from "./rounds.ts";
import { everything } from "./tools.ts";

function withEverything(options: ServerOptions): Server {
  const server = createServer(options);
  const methods = new Map([...server.methods, ...Object.entries(documents)]);
  const call = server.methods.get("tools/call");
  const answer: Method["run"] = async (params, caller) => {
    const round = Object.hasOwn(rounds, String(params.name)) ? rounds[String(params.name)] : undefined;
    if (round !== undefined) return { result: await round(params, caller) };
    if (call === undefined) throw new Error("there are no tools");
    return await call.run(params, caller);
  };
  methods.set("tools/call", { run: answer });
  const capabilities = {
    ...server.capabilities,
    logging: {},
    prompts: {},
    resources: { subscribe: true },
    completions: {},
  };
  return { ...server, methods, capabilities };
}

const engine = openEngine({ roots: [] });
const service = await serveHttp({
  address: { host: "127.0.0.1", port: 0 },
  access: openAccess(engine.workspace),
  authenticated: false,
  engine,
  dialects: { everything: async () => everything },
  dialect: "everything",
  settings: () => defaultSettings,
  info: { name: "conformance", version: "1" },
  create: withEverything,
  log: createLog("warn"),
});
process.stdout.write(`${service.url}/mcp\n`);
process.stdin.resume().once("end", () => process.exit(0));
