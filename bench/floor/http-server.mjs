// A server on the plain SDK over HTTP, as its documentation shows it: sessions, a transport and a server for each, and
// three tools that do the least. No tokens, no confinement, no atomic writes, no history.
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const [root = "."] = process.argv.slice(2);
const transports = new Map();

function toolServer() {
  const server = new McpServer({ name: "plain", version: "1" });
  const text = content => ({ content: [{ type: "text", text: content }] });
  server.registerTool("read_file", { inputSchema: { path: z.string() } }, async ({ path }) =>
    text(await readFile(resolve(root, path), "utf8")),
  );
  const edit = { path: z.string(), old_string: z.string(), new_string: z.string() };
  server.registerTool("edit_file", { inputSchema: edit }, async ({ path, old_string, new_string }) => {
    const file = resolve(root, path);
    const before = await readFile(file, "utf8");
    if (!before.includes(old_string)) return { ...text("not found"), isError: true };
    await writeFile(
      file,
      before.replace(old_string, () => new_string),
    );
    return text("ok");
  });
  return server;
}

async function transportOf(session) {
  const known = transports.get(session);
  if (known !== undefined) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: id => void transports.set(id, transport),
  });
  await toolServer().connect(transport);
  return transport;
}

const server = createServer(async (request, response) => {
  const transport = await transportOf(request.headers["mcp-session-id"]);
  await transport.handleRequest(request, response);
});
server.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
