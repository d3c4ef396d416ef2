// The MCP endpoint in a Fastify application, as a plugin with a content type parser that leaves the body alone.

import Fastify from "fastify";
import { createHandler, dialects, type Engine } from "polyfs";

export async function fastifyApp(engine: Engine) {
  const handler = await createHandler({ engine, dialect: await dialects.polyfs() });
  const app = Fastify();
  app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/mcp", (request, reply) => {
      reply.hijack();
      void handler(request.raw, reply.raw);
    });
  });
  return { app, handler };
}
