// How the server is started: with directories, with the client's roots, and without structured content.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

const program = join(import.meta.dirname, "../../../dist/polyfs.cjs");
const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-reference-")));
const at = (path: string) => join(base, path);

beforeAll(() => {
  for (const path of ["one/inner", "two"]) mkdirSync(at(path), { recursive: true });
  for (const path of ["one/a.txt", "one/inner/b.txt", "two/c.txt"]) writeFileSync(at(path), path);
});
afterAll(() => rmSync(base, { recursive: true }));

/** Extended attributes are the user's, and an edit must not lose them. */
function setAttribute(path: string): void {
  const program = "import os,sys; os.setxattr(sys.argv[1], 'user.note', b'kept')";
  expect(spawnSync("python3", ["-c", program, path]).status).toBe(0);
}

function hasAttribute(path: string): boolean {
  return (
    spawnSync("python3", ["-c", "import os,sys; os.getxattr(sys.argv[1], 'user.note')", path]).status === 0
  );
}

class Editor implements AsyncDisposable {
  roots: readonly string[];
  readonly client = new Client(
    { name: "editor", version: "1" },
    { capabilities: { roots: { listChanged: true } } },
  );

  constructor(...roots: readonly string[]) {
    this.roots = roots;
    this.client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: this.roots.map(path => ({ uri: pathToFileURL(path).href })),
    }));
  }

  async connect(...args: string[]): Promise<this> {
    const all = [program, "--dialect", "reference", ...args];
    await this.client.connect(
      new StdioClientTransport({ command: process.execPath, args: all, stderr: "ignore" }),
    );
    await this.client.listTools();
    return this;
  }

  async says(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content } = await this.client.callTool({ name, arguments: args });
    return (content as { text: string }[])[0]?.text ?? "";
  }

  async allowed(): Promise<string[]> {
    return (await this.says("list_allowed_directories")).split("\n").slice(1);
  }

  async change(...roots: readonly string[]): Promise<void> {
    this.roots = roots;
    await this.client.sendRootsListChanged();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

describe("a client's roots", () => {
  it("narrow the directories of the command line, and never add to them", async () => {
    await using editor = await new Editor(at("one/inner"), at("two")).connect(at("one"));
    expect(await editor.allowed()).toEqual([at("one/inner")]);
    expect(await editor.says("read_text_file", { path: "b.txt" })).toBe("one/inner/b.txt");
    expect(await editor.says("read_text_file", { path: at("one/a.txt") })).toMatch(/^Access denied/);
    expect(await editor.says("read_text_file", { path: at("two/c.txt") })).toMatch(/^Access denied/);
  });

  it("narrow them again when they change", async () => {
    await using editor = await new Editor(at("one/inner")).connect(at("one"), at("two"));
    await editor.change(base);
    expect(await editor.allowed()).toEqual([at("one"), at("two")]);
    await editor.change(at("two"), at("nowhere"));
    expect(await editor.allowed()).toEqual([at("two")]);
    await editor.change();
    expect(await editor.allowed()).toEqual([at("one"), at("two")]);
  });

  it("that have nothing in common with the directories leave them as they are", async () => {
    await using editor = await new Editor(at("two")).connect(at("one"));
    expect(await editor.allowed()).toEqual([at("one")]);
    expect(await editor.says("read_text_file", { path: at("two/c.txt") })).toMatch(/^Access denied/);
  });

  it("do not make a read-only directory writable", async () => {
    await using editor = await new Editor(at("one")).connect("--allow-read", at("one/inner"), at("one"));
    expect(await editor.says("write_file", { path: at("one/new.txt"), content: "" })).toMatch(
      /^Successfully/,
    );
    expect(await editor.says("write_file", { path: at("one/inner/new.txt"), content: "" })).toBe(
      `Access denied - read-only directory: ${at("one/inner/new.txt")}`,
    );
    // Where nothing is left to write to, the tools that write are gone, and the client is told.
    expect(editor.client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
    let told = 0;
    editor.client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
    await editor.change(at("one/inner"));
    expect(await editor.allowed()).toEqual([at("one/inner")]);
    const { tools } = await editor.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("write_file");
    expect(told).toBe(1);
  });

  it("are written to like directories of the command line: with the configured state directory, keeping attributes", async () => {
    const state = at("state-of-roots");
    setAttribute(at("two/c.txt"));
    await using editor = await new Editor(at("two")).connect("--state-dir", state);
    await editor.says("write_file", { path: at("two/c.txt"), content: "new" });
    expect(readFileSync(at("two/c.txt"), "utf8")).toBe("new");
    expect(readdirSync(state)).toContain("processes");
    expect(hasAttribute(at("two/c.txt"))).toBe(true);
    writeFileSync(at("two/c.txt"), "two/c.txt");
  });

  it("are served alone if the command line names no directory", async () => {
    await using editor = await new Editor(at("one")).connect();
    expect(await editor.allowed()).toEqual([at("one")]);
    await editor.change(at("two"));
    expect(await editor.allowed()).toEqual([at("two")]);
    expect(await editor.says("read_text_file", { path: at("one/a.txt") })).toBe(
      `Access denied - path outside allowed directories: ${at("one/a.txt")} not in ${at("two")}`,
    );
  });
});

describe("a missing directory", () => {
  it("is left out, as long as there is another", async () => {
    await using editor = await new Editor().connect(at("nowhere"), at("one"), at("two/c.txt"));
    expect(await editor.allowed()).toEqual([at("one")]);
    await expect(new Editor().connect(at("nowhere"))).rejects.toThrow();
  });
});

describe("a directory that is named by a link", () => {
  it("is allowed under both names", async () => {
    symlinkSync(at("one"), at("link"));
    await using editor = await new Editor().connect(at("link"));
    expect(await editor.allowed()).toEqual([at("link"), at("one")]);
    for (const path of [at("link/a.txt"), at("one/a.txt"), "a.txt"])
      expect(await editor.says("read_text_file", { path })).toBe("one/a.txt");
  });
});

describe("structured content", () => {
  it("repeats the text, and passes the client's validation against the schema", async () => {
    await using editor = await new Editor().connect(at("one"));
    const { structuredContent } = await editor.client.callTool({
      name: "read_multiple_files",
      arguments: { paths: ["a.txt", "nope"] },
    });
    const text = await editor.says("read_multiple_files", { paths: ["a.txt", "nope"] });
    expect(structuredContent).toEqual({ content: text });
    const media = await editor.client.callTool({ name: "read_media_file", arguments: { path: "a.txt" } });
    expect(media.structuredContent).toEqual({ content: media.content });
  });

  it("is left out with its schemas by --no-structured", async () => {
    await using fixture = await Fixture.open("--no-structured");
    fixture.write("a.txt", "a");
    expect(await fixture.call("read_text_file", { path: "a.txt" })).toEqual({
      content: [{ type: "text", text: "a" }],
    });
    const { result } = await fixture.wire.request("tools/list");
    const tools = result?.tools as Record<string, unknown>[];
    expect(tools).toHaveLength(14);
    for (const tool of tools) expect(tool).not.toHaveProperty("outputSchema");
  });
});

describe("--read-only", () => {
  it("offers the ten tools that read", async () => {
    await using fixture = await Fixture.open("--read-only");
    const { result } = await fixture.wire.request("tools/list");
    const tools = result?.tools as { name: string; annotations: { readOnlyHint: boolean } }[];
    expect(tools).toHaveLength(10);
    expect(tools.every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
  });
});
