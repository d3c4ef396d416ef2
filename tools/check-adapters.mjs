// Runs the examples in docs/adapters: installs each framework beside a link to this package, gives it
// the tools, and calls one through the framework, or over HTTP through a server made with it. Prints the versions that were installed.
// Not part of .ci/run, because the frameworks weigh hundreds of megabytes. Names as arguments choose some of them.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { build } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const adapters = {
  "ai-sdk": {
    packages: ["ai@7", "zod@4"],
    call: "(await import(file)).toolsForAiSdk(dialect, engine).read_file.execute(params, { toolCallId: '1', messages: [] })",
  },
  langchain: {
    packages: ["@langchain/core@1"],
    call: "(await import(file)).toolsForLangChain(dialect, engine).find(({ name }) => name === 'read_file').invoke(params)",
  },
  "openai-agents": {
    packages: ["@openai/agents@0.20", "zod@4"],
    call: "(await import(file)).toolsForOpenAiAgents(dialect, engine).find(({ name }) => name === 'read_file').invoke(new (await import('@openai/agents')).RunContext({}), JSON.stringify(params))",
  },
  mastra: {
    packages: ["@mastra/core@1", "zod@4"],
    call: "(await import(file)).toolsForMastra(dialect, engine).read_file.execute(params, {})",
  },
  express: {
    packages: ["express@5"],
    call: "(async () => { const { app, handler } = await (await import(file)).expressApp(engine); const server = app.listen(0, '127.0.0.1'); await new Promise(resolve => server.once('listening', resolve)); try { return await overHttp(server.address().port); } finally { await handler.close(0); server.closeAllConnections(); server.close(); } })()",
  },
  fastify: {
    packages: ["fastify@5"],
    call: "(async () => { const { app, handler } = await (await import(file)).fastifyApp(engine); await app.listen({ port: 0, host: '127.0.0.1' }); try { return await overHttp(app.server.address().port); } finally { await handler.close(0); app.server.closeAllConnections(); await app.close(); } })()",
  },
  hono: {
    packages: ["hono@4", "@hono/node-server@1"],
    call: "(async () => { const { app, handler } = await (await import(file)).honoApp(engine); const { serve } = await import('@hono/node-server'); const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }); await new Promise(resolve => server.once('listening', resolve)); try { return await overHttp(server.address().port); } finally { await handler.close(0); server.closeAllConnections(); server.close(); } })()",
  },
};

/** What a client sends over HTTP: a handshake and a call, whose answer is a stream of events. */
const overHttp = `async function overHttp(port) {
  const send = async (id, method, params, session) => {
    const response = await fetch("http://127.0.0.1:" + port + "/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25", ...(session && { "mcp-session-id": session }) },
      body: JSON.stringify({ jsonrpc: "2.0", ...(id && { id }), method, params }),
    });
    return { session: response.headers.get("mcp-session-id"), text: await response.text() };
  };
  const clientInfo = { name: "check", version: "1" };
  const { session } = await send(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await send(undefined, "notifications/initialized", {}, session);
  return (await send(2, "tools/call", { name: "read_file", arguments: params }, session)).text;
}`;

await build();
const named = readdirSync(join(root, "docs/adapters")).map(name => name.replace(/\.ts$/, ""));
const unknown = named.filter(name => !Object.hasOwn(adapters, name));
if (unknown.length > 0) throw new Error(`not checked: ${unknown.join(", ")}`);
const chosen = process.argv.slice(2);
for (const name of named.filter(one => chosen.length === 0 || chosen.includes(one))) {
  const home = mkdtempSync(join(tmpdir(), "polyfs-adapter-"));
  try {
    check(name, home);
    console.log(`${name}: a tool was called (${versionsIn(home, adapters[name].packages)})`);
  } catch (error) {
    console.log(`${name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function check(name, home) {
  const { packages, call } = adapters[name];
  writeFileSync(join(home, "package.json"), '{ "type": "module", "private": true }\n');
  run(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...packages],
    home,
  );
  symlinkSync(root, join(home, "node_modules/polyfs"));
  const source = readFileSync(join(root, "docs/adapters", `${name}.ts`), "utf8");
  writeFileSync(join(home, "adapter.mjs"), transformSync(source, { loader: "ts", format: "esm" }).code);
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project/a.txt"), "found by the framework\n");
  writeFileSync(
    join(home, "main.mjs"),
    `import { dialects, openEngine } from "polyfs";
const file = "./adapter.mjs";
const params = { path: "a.txt" };
${overHttp}
const engine = openEngine({ roots: [{ path: "project", access: "read-only" }], state: "state" });
const dialect = await dialects.polyfs();
console.log(await ${call});
engine[Symbol.dispose]();
`,
  );
  const answer = run(process.execPath, ["main.mjs"], home);
  if (!answer.includes("found by the framework")) throw new Error(`the tool answered ${answer}`);
}

function versionsIn(home, packages) {
  return packages
    .map(one => one.replace(/@[^@]*$/, ""))
    .map(name => {
      const file = join(home, "node_modules", name, "package.json");
      return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
    })
    .join(", ");
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (command === process.execPath && /warn/i.test(stderr))
    throw new Error(`it warns: ${stderr.slice(-2000)}`);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${status}\n${stderr.slice(-2000)}`);
  return stdout;
}
