// The SDK's own clients, of both generations and in every mode of negotiation, over HTTP.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { advertisedNames, converse } from "../mcp/sdk-conversation.ts";
import { serveFixture } from "./fixture-http.ts";

const info = { name: "sdk", version: "0" };

describe.each([
  ["with sessions", false],
  ["without sessions", true],
] as const)("a server %s", (_, stateless) => {
  it.each([
    ["auto", "auto", "2026-07-28"],
    ["pinned", { pin: "2026-07-28" }, "2026-07-28"],
    ["legacy", "legacy", "2025-11-25"],
  ] as const)(
    "serves the client 2.x in mode %s: lists, calls, progress, cancelling",
    async (_, mode, revision) => {
      const { url } = await serveFixture({ stateless });
      const client = new Client(info, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      try {
        // Without a session, each call is the first one.
        const hasSession = !stateless && mode === "legacy";
        const who = stateless && mode === "legacy" ? "unknown" : "sdk/0";
        const calls = hasSession ? [1, 2] : [1, 1];
        await converse(
          client,
          revision,
          calls.map(count => `${who} ${revision} ${count}`),
        );
      } finally {
        await client.close();
      }
    },
  );

  it("serves the client 1.x", async () => {
    const { url } = await serveFixture({ stateless });
    const client = new ClientV1(info);
    await client.connect(new HttpV1(new URL(`${url}/mcp/fixture`)));
    try {
      await client.ping();
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(advertisedNames);
      expect(await client.callTool({ name: "measure", arguments: { text: "four" } })).toMatchObject({
        structuredContent: { length: 4 },
      });
      await expect(client.callTool({ name: "refuse", arguments: {} })).rejects.toMatchObject({
        code: -32001,
      });
    } finally {
      await client.close();
    }
  });
});
