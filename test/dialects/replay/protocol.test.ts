// The wire rules of the `replay` contract: codes, revisions, how a start says what is allowed, and how it ends.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { polyfs } from "../../cli/program.ts";
import { Fixture, type Item } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": "a" }));

describe("on the wire", () => {
  it("a call needs no handshake, ping is answered, unknown notifications are ignored", async () => {
    const wire = await fixture.serve();
    wire.notify("notifications/whatever");
    expect(await wire.call("read_file", { path: fixture.path("a.txt") })).toEqual({
      content: [{ type: "text", text: "a" }],
    });
    expect((await wire.request("ping")).result).toEqual({});
    expect(wire.received).toHaveLength(2);
  });

  it("mistakes have the codes of JSON-RPC", async () => {
    const { wire } = fixture;
    const answers = async (line: string) => {
      const next = wire.next();
      wire.raw(`${line}\n`);
      return next;
    };
    expect(await answers("{not json")).toMatchObject({ id: null, error: { code: -32700 } });
    for (const value of ["7", '"text"', "null", '{"id":5}']) {
      expect(await answers(value), value).toMatchObject({ error: { code: -32600 } });
    }
    expect(await wire.request("no/such")).toMatchObject({ error: { code: -32601 } });
    expect(await wire.request("tools/call")).toMatchObject({ error: { code: -32602 } });
    expect(await wire.request("tools/call", { arguments: {} })).toMatchObject({ error: { code: -32602 } });
    expect(await wire.request("tools/call", { name: "nope" })).toMatchObject({
      error: { code: -32601, message: "Unknown tool: nope" },
    });
  });

  it("requests that are sent at once are all answered before the server leaves", async () => {
    const wire = await fixture.serve();
    const requests = Array.from({ length: 200 }, (_, id) => {
      const calls: [string, object][] = [
        ["read_file", { path: fixture.path("a.txt") }],
        ["write_file", { path: fixture.path(`n/${id}`), content: "x" }],
        ["grep_files", { regex: "a", directory: fixture.root }],
        ["execute_command", { command: "sleep 0.2; echo done" }],
        ["read_file", { path: fixture.path("nope") }],
      ];
      const [name, args] = calls[id % 5] ?? ["", {}];
      return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
    });
    wire.raw(requests.join("\n")); // not even the last line is ended
    await wire.close();
    expect(wire.received.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
      requests.map((_, id) => id),
    );
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    for (const { id, error } of wire.received)
      expect(error?.code).toBe(Number(id) % 5 === 4 ? -32002 : undefined);
  });
});

describe("on a connection of 2026-07-28", () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };

  it("what is not found is a result with code and message; other failures stay errors", async () => {
    const wire = await fixture.serve();
    const call = (name: string, args: object) => wire.request("tools/call", { name, arguments: args, _meta });
    const path = fixture.path("nope");
    for (const [name, args] of [
      ["read_file", { path }],
      ["list_directory", { path }],
      ["directory_tree", { path }],
      ["delete_file", { path }],
      ["get_file_info", { path }],
      ["move_file", { source: path, destination: fixture.path("x") }],
      ["edit_file", { path, edits: [{ oldText: "a" }] }],
    ] as const) {
      const { result } = await call(name, args);
      expect(result, name).toMatchObject({
        isError: true,
        content: [{ type: "text", text: `[error -32002] File not found: ${path}` }],
      });
    }
    const glob = `${fixture.root}/*.zig`;
    expect((await call("edit_files", { paths: [glob], edits: [{ oldText: "a" }] })).result).toMatchObject({
      isError: true,
      content: [{ text: `[error -32002] Glob matched no files: ${glob}` }],
    });
    expect((await call("read_file", { path: "/etc/passwd" })).error?.code).toBe(-32001);
    expect((await call("read_file", {})).error?.code).toBe(-32602);
    expect((await call("read_file", { path: fixture.root })).error?.code).toBe(-32603);
    fixture.write("bin", Buffer.from([0xff]));
    const { result } = await call("read_file", { path: fixture.path("bin") });
    expect(((result?.content ?? []) as Item[])[0]?.type).toBe("resource");
    for (const { error } of wire.received) expect(error?.code).not.toBe(-32002);
  });
});

describe("a start", () => {
  const allowed = async (...args: string[]) => {
    const wire = await fixture.serve(args);
    const { content } = await wire.call("list_allowed_directories");
    return (content as Item[])[0]?.text.split("\n");
  };

  it("without directories denies everything and says so", async () => {
    const wire = await fixture.serve([]);
    const { content } = await wire.call("list_allowed_directories");
    expect((content as Item[])[0]?.text).toContain("no allowed directories");
    for (const [name, args] of [
      ["read_file", { path: fixture.path("a.txt") }],
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: fixture.path("b"), content: "" }],
      ["grep_files", { regex: "a", globs: ["**"] }],
      ["glob_search", { directory: fixture.root, globs: ["**"] }],
      ["edit_files", { paths: [`${fixture.root}/*`], edits: [{ oldText: "a" }] }],
      ["execute_command", { command: "pwd" }],
    ] as const) {
      const { error } = await wire.request("tools/call", { name, arguments: args });
      expect(error?.code, name).toBe(-32001);
    }
  });

  it("takes directories in any order, each once, read-write before read-only", async () => {
    symlinkSync(fixture.readOnly, `${fixture.base}/again`);
    const args = [
      "--allow-read",
      fixture.readOnly,
      "--allow-write",
      fixture.root,
      "--allow-write",
      `${fixture.base}/again`,
    ];
    expect(await allowed("--mcp-server", ...args)).toEqual([
      `${fixture.readOnly} (read-write)`,
      `${fixture.root} (read-write)`,
    ]);
  });

  it("appends the directories of a sandbox profile", async () => {
    const profile = `${fixture.base}/profile.json`;
    mkdirSync(`${fixture.base}/more`, { recursive: true });
    writeFileSync(
      profile,
      JSON.stringify({ read_only: [fixture.root, "more"], read_write: [fixture.readOnly], name: "mine" }),
    );
    expect(await allowed("--sandbox-profile", profile, "--allow-write", fixture.root)).toEqual([
      `${fixture.root} (read-write)`,
      `${fixture.readOnly} (read-write)`,
      `${fixture.base}/more (read-only)`,
    ]);
    expect(await allowed("--sandbox-profile", profile)).toEqual([
      `${fixture.readOnly} (read-write)`,
      `${fixture.root} (read-only)`,
      `${fixture.base}/more (read-only)`,
    ]);
  });

  it("is refused with an invalid profile", () => {
    const start = (content: string) => {
      writeFileSync(`${fixture.base}/profile.json`, content);
      return polyfs(["--dialect", "replay", "--sandbox-profile", `${fixture.base}/profile.json`]);
    };
    expect(start("{")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the sandbox profile cannot be read"),
    });
    expect(start('{"read_only": "x"}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"read_only"'),
    });
    expect(start('{"read_only": ["./nope"]}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nope"),
    });
  });
});
