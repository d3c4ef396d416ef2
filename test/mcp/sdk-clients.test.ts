// The SDK's own clients, of both generations and in every mode of negotiation, against our process.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it } from "vitest";
import { advertisedNames, converse } from "./sdk-conversation.ts";
import { bundle } from "./wire.ts";

let program = "";
beforeAll(async () => {
  program = await bundle(join(import.meta.dirname, "fixture-program.ts"));
});

const info = { name: "sdk", version: "0" };
const server = () => ({ command: process.execPath, args: [program], stderr: "pipe" as const });

describe("the SDK's client 2.x", () => {
  it.each([
    ["auto", "auto", "2026-07-28"],
    ["pinned", { pin: "2026-07-28" }, "2026-07-28"],
    ["legacy", "legacy", "2025-11-25"],
  ] as const)("in mode %s lists, calls, follows progress and cancels", async (_, mode, revision) => {
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(server()));
    try {
      await converse(client, revision, [`sdk/0 ${revision} 1`]);
    } finally {
      await client.close();
    }
  });
});

describe("the SDK's client 1.x", () => {
  it("lists, calls, follows progress and is asked for its roots", async () => {
    const client = new ClientV1(info, { capabilities: { roots: {} } });
    const asked = new Promise<void>(resolve => {
      client.setRequestHandler(ListRootsRequestSchema, () => {
        resolve();
        return { roots: [{ uri: "file:///home/me" }] };
      });
    });
    await client.connect(new StdioV1(server()));
    try {
      await asked;
      await client.ping();
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(advertisedNames);
      expect(await client.callTool({ name: "measure", arguments: { text: "four" } })).toMatchObject({
        structuredContent: { length: 4 },
      });
      await expect(client.callTool({ name: "refuse", arguments: {} })).rejects.toMatchObject({
        code: -32001,
      });
      const steps: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
      await client.callTool({ name: "slow", arguments: { steps: 3, ms: 150 } }, undefined, { onprogress });
      // The SDK loses one that comes together with the answer.
      expect(steps.slice(0, 2)).toEqual([1, 2]);
    } finally {
      await client.close();
    }
  });
});
