// The MCP endpoint inside an HTTP server of your own. Express takes the handler as it is
// (`app.all("/mcp", handler)`); with Fastify call `reply.hijack()` and give it `request.raw` and `reply.raw`; with
// Hono on Node give it `c.env.incoming` and `c.env.outgoing`, and return `RESPONSE_ALREADY_SENT`.
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
