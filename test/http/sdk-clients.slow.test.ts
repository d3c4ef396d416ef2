// The SDK's own clients, of both generations and in every mode of negotiation, over HTTP.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { fixture } from "../mcp/fixture.ts";
import { serveFixture } from "./fixture-http.ts";

const info = { name: "sdk", version: "0" };
const names = fixture.tools.map(({ name }) => `fx.${name}`);

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
        expect(client.getNegotiatedProtocolVersion()).toBe(revision);
        expect(client.getServerVersion()).toEqual({ name: "fixture", title: "Fixture", version: "1.2.3" });
        expect(client.getInstructions()).toBe("Be brief.");
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
        const calls = stateless || revision === "2026-07-28" ? 1 : 2;
        await client.callTool({ name: "whoami", arguments: {} });
        const who = stateless && mode === "legacy" ? "unknown" : "sdk/0";
        expect(await client.callTool({ name: "whoami", arguments: {} })).toMatchObject({
          content: [{ type: "text", text: `${who} ${revision} ${calls}` }],
        });
        expect(await client.callTool({ name: "fx.measure", arguments: { text: "four" } })).toMatchObject({
          structuredContent: { length: 4 },
        });
        expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({ isError: true });
        await expect(client.callTool({ name: "refuse", arguments: {} })).rejects.toMatchObject({
          code: -32001,
        });

        const steps: number[] = [];
        const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
        await client.callTool({ name: "slow", arguments: { steps: 3, ms: 150 } }, { onprogress });
        expect(steps.slice(0, 2)).toEqual([1, 2]);

        const stop = new AbortController();
        const hanging = client.callTool({ name: "hang", arguments: {} }, { signal: stop.signal });
        stop.abort();
        await expect(hanging).rejects.toThrow();
        expect(await client.callTool({ name: "echo", arguments: { text: "still here" } })).toMatchObject({
          content: [{ text: "still here" }],
        });
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
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
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
