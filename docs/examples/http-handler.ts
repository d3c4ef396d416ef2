// The MCP endpoint inside an HTTP server of your own.
import { createServer } from "node:http";
import { createHandler, dialects, openEngine } from "polyfs";

const engine = openEngine({ roots: [{ path: process.cwd(), access: "read-write" }] });
const handler = await createHandler({ engine, dialect: await dialects.polyfs() });

const server = createServer((request, response) => {
  if (request.url === "/mcp") void handler(request, response);
  else response.writeHead(404).end();
});
server.listen(8123, "127.0.0.1");

process.once("SIGTERM", async () => {
  server.close();
  await handler.close();
  engine[Symbol.dispose]();
});
