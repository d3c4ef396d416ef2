// The MCP endpoint in an Express application. Express must not parse the body first.

import express from "express";
import { createHandler, dialects, type Engine } from "polyfs";

export async function expressApp(engine: Engine) {
  const handler = await createHandler({ engine, dialect: await dialects.polyfs() });
  const app = express();
  app.all("/mcp", handler);
  return { app, handler };
}
