// Whatever comes in, the server stays and answers the next ping.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { envelope, serveFixture } from "./in-process.ts";

/** What the server knows, for random messages that get further than random bytes do. */
const word = fc.constantFrom(
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "notifications/initialized",
  "notifications/cancelled",
  "roots/list",
  "echo",
  "2025-03-26",
  "__proto__",
);
const value = fc.oneof(word, fc.jsonValue(), fc.constant(envelope()), fc.constant({ roots: {} }));
const key = fc.constantFrom(
  "name",
  "arguments",
  "_meta",
  "protocolVersion",
  "capabilities",
  "requestId",
  "cursor",
  "text",
);
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant("2.0") }, { weight: 1, arbitrary: fc.jsonValue() }),
    id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
    method: fc.oneof(word, fc.jsonValue()),
    params: fc.oneof(fc.dictionary(key, value), fc.jsonValue()),
    result: fc.jsonValue(),
    error: fc.jsonValue(),
  },
  { requiredKeys: ["jsonrpc"] },
);
const line = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map(json => Buffer.from(json)),
  fc.oneof(message, fc.array(message, { maxLength: 4 })).map(one => Buffer.from(JSON.stringify(one))),
);

describe("random lines", () => {
  it("do not stop the server, and every answer is a JSON-RPC message", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 30 }), async lines => {
        await using wire = serveFixture({ onRoots: () => {} });
        for (const one of lines) {
          wire.raw(one);
          wire.raw("\n");
        }
        // The era may have become the modern one, which has no ping: then that is the answer.
        const { error } = await wire.request("ping", {}, "the last");
        expect([undefined, -32601]).toContain(error?.code);
        expect(wire.garbage).toEqual([]);
        for (const { jsonrpc, method, result, error } of wire.received) {
          expect(jsonrpc).toBe("2.0");
          expect([method, result, error].filter(part => part !== undefined)).toHaveLength(1);
        }
      }),
      { numRuns: 300 },
    );
  });
});
