// Files as resources over HTTP: read and watched in both eras, by those who may.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { byTokens, serve, tokenFile, tree } from "./fixture.ts";
import { initialize, legacy, modern } from "./wire.ts";

const uriOf = (...parts: string[]) => pathToFileURL(join(...parts)).href;

/** Follows a stream, and gives its messages as they come. */
async function follow(
  url: string,
  init: RequestInit,
): Promise<{ next(): Promise<Record<string, unknown>>; stop(): void }> {
  const leave = new AbortController();
  const response = await fetch(url, { ...init, signal: leave.signal });
  expect(response.status).toBe(200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    stop: () => leave.abort(),
    async next() {
      for (;;) {
        const [event, data] = /data: (.*)\n\n/.exec(text) ?? [];
        if (event !== undefined && data !== undefined) {
          text = text.slice(text.indexOf(event) + event.length);
          return JSON.parse(data);
        }
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the stream has ended: ${text}`);
        text += value;
      }
    },
  };
}

describe("files as resources", () => {
  it("are read in both eras, within the caller's directories", async () => {
    const root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" });
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", roots: [{ path: join(root, "a"), access: "read-only" }] });
    const lines: object[] = [];
    const audit = (entry: object | string) =>
      void lines.push(typeof entry === "string" ? JSON.parse(`{${entry}}`) : entry);
    const { url } = await serve([root], { access: byTokens(tokens), dialect: "polyfs", audit });
    const read = (uri: string) =>
      modern(`${url}/mcp`, "resources/read", { uri }, { ...ann, "mcp-name": uri });
    const session = await initialize(`${url}/mcp`, ann);
    const readByOld = (uri: string) =>
      legacy(`${url}/mcp`, { id: 1, method: "resources/read", params: { uri } }, session);
    for (const one of [read, readByOld]) {
      expect((await one(uriOf(root, "a/x.txt"))).body).toContain("in a");
      const { message } = await one(uriOf(root, "b/x.txt"));
      expect(message.error).toBeDefined();
      expect(JSON.stringify(message)).not.toContain("in b");
    }
    const list = await modern(`${url}/mcp`, "resources/list", {}, ann);
    expect(list.message.result?.resources).toMatchObject([{ uri: uriOf(root, "a") }]);
    expect(lines).toMatchObject([
      { caller: "ann", tool: "resources/read", paths: [uriOf(root, "a/x.txt")], outcome: "ok", bytesOut: 4 },
      { outcome: expect.stringMatching(/^error/) },
      { outcome: "ok" },
      { outcome: expect.stringMatching(/^error/) },
    ]);
  });

  it("are not offered to a token that permits only some tools, or no reading", async () => {
    const root = tree({ "x.txt": "secret" });
    const tokens = tokenFile();
    const { some, writer } = tokens.write(
      { name: "some", tools: ["list_directory"] },
      { name: "writer", effects: ["writes"] },
    );
    const { url } = await serve([root], { access: byTokens(tokens), dialect: "polyfs" });
    const uri = uriOf(root, "x.txt");
    for (const who of [some, writer]) {
      const reply = await modern(`${url}/mcp`, "resources/read", { uri }, { ...who, "mcp-name": uri });
      expect([reply.status, reply.message.error?.code]).toEqual([404, -32601]);
      const session = await initialize(`${url}/mcp`, who);
      const old = await legacy(`${url}/mcp`, { id: 1, method: "resources/read", params: { uri } }, session);
      expect(old.message.error?.code).toBe(-32601);
    }
  });
});

describe("a change of a file", () => {
  it("is sent to a 2025 client that subscribed, on its stream", async () => {
    const root = tree({ "x.txt": "old" });
    const { url } = await serve([root], { dialect: "polyfs" });
    const session = await initialize(`${url}/mcp`);
    const stream = await follow(`${url}/mcp`, { headers: { ...session, accept: "text/event-stream" } });
    const uri = uriOf(root, "x.txt");
    const answer = await legacy(
      `${url}/mcp`,
      { id: 1, method: "resources/subscribe", params: { uri } },
      session,
    );
    expect(answer.message.result).toEqual({});
    writeFileSync(join(root, "x.txt"), "new");
    expect(await stream.next()).toMatchObject({ method: "notifications/resources/updated", params: { uri } });
    stream.stop();
  });

  it("is sent to a client of 2026-07-28 that listens, for its own directories only", async () => {
    const root = tree({ "a/x.txt": "old", "b/x.txt": "old" });
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", roots: [{ path: join(root, "a"), access: "read-only" }] });
    const { url, close } = await serve([root], { access: byTokens(tokens), dialect: "polyfs" });
    const listen = (uri: string) => ({
      method: "POST",
      headers: {
        ...ann,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: "listening",
        method: "subscriptions/listen",
        params: {
          notifications: { resourceSubscriptions: [uri] },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    const uri = uriOf(root, "a/x.txt");
    const stream = await follow(`${url}/mcp`, listen(uri));
    const _meta = { "io.modelcontextprotocol/subscriptionId": "listening" };
    expect(await stream.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { resourceSubscriptions: [uri] }, _meta },
    });
    writeFileSync(join(root, "a/x.txt"), "new");
    expect(await stream.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri, _meta },
    });
    const other = await follow(`${url}/mcp`, listen(uriOf(root, "b/x.txt")));
    expect(await other.next()).toMatchObject({ error: { code: expect.any(Number) } });
    // A server that is to end does not wait for those who listen.
    await close();
  });

  it("reaches the SDK's client", async () => {
    const root = tree({ "x.txt": "old" });
    const { url } = await serve([root], { dialect: "polyfs" });
    const client = new Client({ name: "sdk", version: "2" }, { versionNegotiation: { mode: "legacy" } });
    const told = new Promise<string>(resolve =>
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri)),
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const uri = uriOf(root, "x.txt");
    await client.subscribeResource({ uri });
    // The client opens its stream in its own time; until then, notifications are lost.
    let change = 0;
    const timer = setInterval(() => writeFileSync(join(root, "x.txt"), `new ${++change}`), 200);
    expect(await told).toBe(uri);
    clearInterval(timer);
    await client.close();
  });
});
