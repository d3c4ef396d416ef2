// Where no directory is named at the start, the client's roots are served: asked for over the wire by the SDK's
// own client, and again when they change.
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../../dist/polyfs.cjs");
let one: string;
let two: string;

beforeAll(() => {
  [one, two] = ["one", "two ö %"].map(name => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), `polyfs-roots-${name}-`)));
    writeFileSync(join(root, "name.txt"), name);
    return root;
  }) as [string, string];
});
afterAll(() => {
  for (const root of [one, two]) rmSync(root, { recursive: true });
});

class Editor implements AsyncDisposable {
  roots: string[];
  readonly client = new Client(
    { name: "editor", version: "1" },
    { capabilities: { roots: { listChanged: true } } },
  );

  constructor(roots: string[]) {
    this.roots = roots;
    this.client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: this.roots.map(uri => ({ uri })),
    }));
  }

  async connect(...args: string[]): Promise<this> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "--dialect", "fs-context", ...args],
      stderr: "ignore",
    });
    await this.client.connect(transport);
    // With the list known, the client holds structured content against the output schemas.
    await this.client.listTools();
    return this;
  }

  async allowed(): Promise<unknown> {
    const { structuredContent } = await this.client.callTool({ name: "list_allowed_directories" });
    return (structuredContent as { allowedDirectories: string[] }).allowedDirectories;
  }

  async read(path: string): Promise<unknown> {
    const { structuredContent } = await this.client.callTool({ name: "read_file", arguments: { path } });
    const { content, error } = structuredContent as { content?: string; error?: { code: string } };
    return content ?? error?.code;
  }

  async change(...roots: string[]): Promise<void> {
    this.roots = roots;
    await this.client.sendRootsListChanged();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

const uri = (path: string) => pathToFileURL(path).href;

describe("a client's roots", () => {
  it("decide what is served, also after they change or are removed", async () => {
    await using editor = await new Editor([uri(one)]).connect();
    expect(await editor.allowed()).toEqual([one]);
    expect(await editor.read(`${one}/name.txt`)).toBe("one");
    expect(await editor.read(`${two}/name.txt`)).toBe("E_ACCESS_DENIED");
    await editor.change(uri(two));
    expect(await editor.read(`${two}/name.txt`)).toBe("two ö %");
    expect(await editor.read(`${one}/name.txt`)).toBe("E_ACCESS_DENIED");
    await editor.change(uri(two), uri(one));
    expect(await editor.allowed()).toEqual([two, one]);
    await editor.change();
    expect(await editor.allowed()).toEqual([]);
    await editor.change(uri(one));
    expect(await editor.read(`${one}/name.txt`)).toBe("one");
  });

  it("that cannot be served are left out, the others stay", async () => {
    const all = join(one, "all");
    symlinkSync("/", all);
    const odd = [
      "https://example.com/",
      "file://elsewhere/x",
      uri(join(one, "nope")),
      uri(join(one, "name.txt")),
    ];
    await using editor = await new Editor([...odd, uri("/"), uri(all), uri(one)]).connect();
    expect(await editor.allowed()).toEqual([one]);
    rmSync(all);
  });

  it("are not asked for where directories are named at the start", async () => {
    await using editor = await new Editor([uri(one)]).connect(two);
    expect(await editor.allowed()).toEqual([two]);
    await editor.change(uri(one));
    expect(await editor.read(`${one}/name.txt`)).toBe("E_ACCESS_DENIED");
  });
});

describe("every tool", () => {
  it("answers what its output schema says, successes and failures", async () => {
    await using editor = await new Editor([]).connect(one);
    const path = `${one}/name.txt`;
    for (const [name, args] of [
      ["list_directory", { path: one }],
      ["search_files", { path: one, pattern: "*" }],
      ["search_content", { path: one, pattern: "one" }],
      ["read_file", { path }],
      ["read_multiple_files", { paths: [path, "/nope"] }],
      ["get_file_info", { path }],
      ["get_multiple_file_info", { paths: [path, "/nope"] }],
    ] as const) {
      // The client rejects what does not fit the schema.
      const answer = await editor.client.callTool({ name, arguments: args });
      expect(answer.structuredContent).toMatchObject({ ok: true });
      expect(
        await editor.client.callTool({ name, arguments: { ...args, path: "/", paths: [] } }),
      ).toMatchObject({
        isError: true,
        structuredContent: { ok: false },
      });
    }
  });

  it("is described in the instructions, which are the contract", async () => {
    await using editor = await new Editor([]).connect(one);
    expect(editor.client.getInstructions()).toMatch(
      /^# Filesystem Context MCP Server\n[\s\S]*### `get_multiple_file_info`/,
    );
    const { tools } = await editor.client.listTools();
    for (const tool of tools) {
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
      expect(tool.outputSchema).toMatchObject({ type: "object", required: ["ok"] });
    }
    expect(tools).toHaveLength(8);
  });
});
