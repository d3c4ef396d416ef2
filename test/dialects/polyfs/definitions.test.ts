// What a client gets before the first call: small definitions, honest annotations, and only what can be done.
import { describe, expect, it } from "vitest";
import { start } from "../../mcp/wire.ts";
import { Fixture } from "./fixture.ts";

const reading = ["read_file", "list_directory", "find_files", "search_text", "file_info", "list_roots"];
const changing = [
  "write_file",
  "edit_file",
  "replace_in_files",
  "apply_patch",
  "move_path",
  "copy_path",
  "delete_path",
  "create_directory",
];
const served = [...reading, ...changing, "list_changes", "undo"];
const running = ["run_command", "command_output", "stop_command"];

describe("the definitions", () => {
  /** What a model sees, in tokens of four characters. */
  const seen = (tools: readonly Record<string, unknown>[]) =>
    JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))
      .length / 4;

  it("cost less than 2,000 tokens, and 2,350 with the tools for commands", async () => {
    await using fixture = new Fixture();
    const tools = await (await fixture.serve()).tools();
    expect(tools.map(tool => tool.name)).toEqual(served);
    const withCommands = await (await fixture.serve({ args: ["--allow-run=unsandboxed"] })).tools();
    expect(withCommands.map(tool => tool.name)).toEqual([...served, ...running]);
    expect(seen(tools)).toBeLessThan(2000);
    expect(seen(withCommands)).toBeLessThan(2350);
  });

  it("carry all four annotations, and say which tools only read", async () => {
    await using fixture = new Fixture();
    for (const { name, annotations } of await (await fixture.serve()).tools()) {
      const hints = annotations as Record<string, boolean>;
      expect(Object.keys(hints).sort()).toEqual([
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
        "readOnlyHint",
      ]);
      expect(hints.readOnlyHint, String(name)).toBe([...reading, "list_changes"].includes(String(name)));
    }
  });

  it("are flat: no parameter but the list of edits holds objects", async () => {
    await using fixture = new Fixture();
    const nested = (await (await fixture.serve()).tools()).filter(
      tool => JSON.stringify(tool.inputSchema).split('"object"').length > 2,
    );
    expect(nested.map(tool => tool.name)).toEqual(["edit_file"]);
  });

  it("come with instructions under 2 KB, and are the default", async () => {
    await using fixture = new Fixture();
    await using wire = await start({ roots: [fixture.root] });
    const { result } = await wire.initialize();
    expect(Buffer.byteLength(String(result?.instructions))).toBeLessThan(2048);
    expect((await wire.request("tools/list")).result?.tools).toHaveLength(served.length);
  });
});

describe("if nothing may be written", () => {
  it("the changing tools are not offered", async () => {
    await using fixture = new Fixture({ "a.txt": "a\n" });
    for (const options of [{ args: ["--read-only"] }, { roots: [], args: ["--allow-read", fixture.root] }]) {
      const server = await fixture.serve(options);
      expect((await server.tools()).map(tool => tool.name)).toEqual([...reading, "list_changes"]);
      expect(await server.says("file_info", { path: "a.txt" })).toContain("writable: no");
      const { error } = await server.wire.request("tools/call", {
        name: "write_file",
        arguments: { path: "a.txt", content: "" },
      });
      expect(error?.code).toBe(-32602);
    }
  });

  it("in one of several roots, changes there are refused as read_only", async () => {
    await using fixture = new Fixture({ "a.txt": "a\n" });
    await using other = new Fixture({ "b.txt": "b\n" });
    const server = await fixture.serve({ roots: [], args: [fixture.root, "--allow-read", other.root] });
    const path = `${other.root}/b.txt`;
    const calls: [string, Record<string, unknown>][] = [
      ["write_file", { path, content: "x" }],
      ["edit_file", { path, edits: [{ old: "b", new: "c" }] }],
      ["replace_in_files", { paths: [path], old: "b", new: "c" }],
      ["apply_patch", { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` }],
      ["move_path", { from: path, to: "c.txt" }],
      ["copy_path", { from: "a.txt", to: `${other.root}/c.txt` }],
      ["delete_path", { path }],
      ["create_directory", { path: `${other.root}/d` }],
    ];
    for (const [tool, params] of calls)
      expect((await server.refuses(tool, params))[0], tool).toMatch(/^read_only: /);
    expect(other.read("b.txt")).toBe("b\n");
    await server.says("copy_path", { from: path, to: "copied.txt" });
  });
});

describe("every tool", () => {
  it("refuses unknown parameters and wrong types, and lists its own", async () => {
    await using fixture = new Fixture({ "a.txt": "a\n" });
    const server = await fixture.serve({ args: ["--allow-run=unsandboxed"] });
    for (const { name, inputSchema } of await server.tools()) {
      const schema = inputSchema as { properties: Record<string, { type: string }>; required?: string[] };
      const fine = Object.fromEntries(
        (schema.required ?? []).map(key => [key, sample(key, schema.properties[key]?.type)]),
      );
      const unknown = await server.refuses(String(name), { ...fine, bogus: 1 });
      expect(unknown[0], String(name)).toBe("invalid_input: 'bogus' is not a parameter of this tool");
      expect(unknown[1]).toContain(
        `The parameters of ${name}: ${Object.keys(schema.properties).join(", ") || "none"}.`,
      );
      for (const [key, { type }] of Object.entries(schema.properties)) {
        const wrong = await server.refuses(String(name), { ...fine, [key]: type === "string" ? 5 : "five" });
        expect(wrong[0], `${name}.${key}`).toMatch(new RegExp(`^invalid_input: '${key}' must be `));
      }
      for (const key of schema.required ?? []) {
        const { [key]: _, ...rest } = fine;
        expect((await server.refuses(String(name), rest))[0]).toMatch(
          new RegExp(`^invalid_input: '${key}' is required`),
        );
      }
    }
  });

  it("that does not exist is a protocol error", async () => {
    await using fixture = new Fixture();
    const { error } = await (await fixture.serve()).wire.request("tools/call", {
      name: "nope",
      arguments: {},
    });
    expect(error).toMatchObject({ code: -32602, message: "Unknown tool: nope" });
  });
});

function sample(key: string, type: string | undefined): unknown {
  if (key === "edits") return [{ insert_after: 0, new: "" }];
  return type === "array" ? ["a.txt"] : type === "integer" ? 1 : "a.txt";
}
