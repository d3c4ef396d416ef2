// The review page inside clients that render pages (MCP Apps): only clients that
// declare the capability learn about it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { serve, tree } from "../http/fixture.ts";
import { envelope } from "./in-process.ts";
import { start } from "./wire.ts";

const mimeType = "text/html;profile=mcp-app";
const renders = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [mimeType] } } };
const uri = "ui://polyfs/review";

type Listed = { readonly name: string; readonly _meta?: { readonly ui?: unknown } };

function naming(tools: unknown): string[] {
  return (tools as Listed[]).filter(({ _meta }) => _meta?.ui !== undefined).map(({ name }) => name);
}

describe("a client that renders pages", () => {
  it("learns which tools have one, and can read it", async () => {
    await using wire = await start({ roots: [directory()], env: { POLYFS_STATE_DIR: directory() } });
    await wire.initialize("2025-11-25", renders);
    const tools = ((await wire.request("tools/list")).result?.tools ?? []) as Listed[];
    expect(naming(tools)).toEqual(["list_changes", "undo"]);
    expect(tools.find(({ name }) => name === "undo")?._meta).toEqual({ ui: { resourceUri: uri } });
    const { result } = await wire.request("resources/read", { uri });
    const [content] = (result?.contents ?? []) as { text: string }[];
    expect(content).toMatchObject({ uri, mimeType });
    expect(content?.text).toMatch(/^<!doctype html>/i);
    // One file: it asks for nothing else.
    expect(content?.text).not.toMatch(/<(script|link|img)[^>]+(src|href)=/);
  });

  it("says so in each request, in the modern era", async () => {
    await using wire = await start({ roots: [directory()], env: { POLYFS_STATE_DIR: directory() } });
    const asked = { _meta: envelope({ "io.modelcontextprotocol/clientCapabilities": renders }) };
    expect(naming((await wire.request("tools/list", asked)).result?.tools)).toHaveLength(2);
    expect(naming((await wire.request("tools/list", { _meta: envelope() })).result?.tools)).toEqual([]);
  });

  it("learns it over HTTP too", async () => {
    const { url } = await serve([tree()], { dialect: "polyfs" });
    const client = new Client({ name: "renders", version: "1" }, { capabilities: renders as never });
    onTestFinished(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    expect(naming((await client.listTools()).tools)).toEqual(["list_changes", "undo"]);
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri, mimeType });
  });
});

describe("no page is named", () => {
  it.each([
    ["without the extension", {}],
    [
      "for another kind of page",
      { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/uri-list"] } } },
    ],
    ["for nonsense", { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: mimeType } } }],
  ])("%s", async (_, capabilities) => {
    await using wire = await start({ roots: [directory()], env: { POLYFS_STATE_DIR: directory() } });
    await wire.initialize("2025-11-25", capabilities);
    expect(naming((await wire.request("tools/list")).result?.tools)).toEqual([]);
  });

  it("in dialects that have none", async () => {
    await using wire = await start({
      dialect: "fs",
      roots: [directory()],
      env: { POLYFS_STATE_DIR: directory() },
    });
    await wire.initialize("2025-11-25", renders);
    expect(naming((await wire.request("tools/list")).result?.tools)).toEqual([]);
  });
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "polyfs-apps-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
