// The MCP endpoint in a Hono application, by the fetch standard.

import { Hono } from "hono";
import { createHandler, dialects, type Engine } from "polyfs";

export async function honoApp(engine: Engine) {
  const handler = await createHandler({ engine, dialect: await dialects.polyfs() });
  const app = new Hono();
  app.all("/mcp", c => handler.fetch(c.req.raw));
  return { app, handler };
}
