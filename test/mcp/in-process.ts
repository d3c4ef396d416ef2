// The fixture served on a pair of streams within the test's process: everything but the process itself.
import { PassThrough } from "node:stream";
import { createLog } from "../../src/mcp/log.ts";
import { type StdioOptions, serveStream } from "../../src/mcp/stdio.ts";
import { fixtureOptions } from "./fixture.ts";
import { Wire } from "./wire.ts";

export function serveFixture(options: Partial<StdioOptions> = {}): Wire {
  const input = new PassThrough();
  const output = new PassThrough();
  const server = serveStream(
    { ...fixtureOptions, log: createLog("error", () => {}), ...options },
    input,
    output,
  );
  void server.finished.then(() => output.end());
  return new Wire(input, output);
}

/** What a request of the modern era carries. */
export function envelope(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "wire", version: "2" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...more,
  };
}
