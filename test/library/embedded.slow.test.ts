// The library as a program uses it that brings its own loop.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import {
  call,
  createHandler,
  defaultRules,
  definitions,
  dialects,
  listChanges,
  openEngine,
  openWorkspaces,
  outcomeText,
  Policy,
  Session,
  text,
  tool,
  undo,
} from "../../src/index.ts";

function project(access: "read-write" | "read-only" = "read-write") {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-library-")));
  const state = `${root}-state`;
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  const engine = openEngine({ roots: [{ path: root, access }], state });
  onTestFinished(() => {
    engine[Symbol.dispose]();
    for (const path of [root, state]) rmSync(path, { recursive: true, force: true });
  });
  return { root, engine };
}

it("a call needs an engine and nothing else, and a failure is an answer", async () => {
  const { root, engine } = project();
  const polyfs = await dialects.polyfs();
  const edited = await call(
    polyfs,
    "edit_file",
    { path: "a.txt", edits: [{ old: "two", new: "2" }] },
    { engine },
  );
  expect(outcomeText(edited)).toContain("+2");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n2\n");
  const failed = await call(polyfs, "read_file", { path: "../etc/passwd" }, { engine });
  expect(failed).toMatchObject({ isError: true });
  expect(outcomeText(failed)).toMatch(/^outside_roots: /);
  expect(outcomeText(await call(polyfs, "no_such_tool", {}, { engine }))).toContain("no_such_tool");
  const replay = await dialects.replay();
  expect(outcomeText(await call(replay, "read_file", { path: "b" }, { engine }))).toMatch(/^error -32002: /);
});

it("a parameter that is undefined counts as not given", async () => {
  const { engine } = project();
  const read = { path: "a.txt", offset: undefined, suspend: undefined };
  expect(outcomeText(await call(await dialects.polyfs(), "read_file", read, { engine }))).toContain("two");
});

it("definitions are those that the settings and the directories allow", async () => {
  const names = async (access: "read-write" | "read-only", settings = {}) =>
    definitions(await dialects.polyfs(), { engine: project(access).engine, settings }).map(
      ({ name }) => name,
    );
  expect(await names("read-write")).toContain("edit_file");
  expect(await names("read-write")).not.toContain("run_command");
  expect(await names("read-only")).not.toContain("edit_file");
  const fs = definitions(await dialects.fs(), { engine: project().engine, settings: { plainNames: true } });
  expect(fs.map(({ name }) => name)).toContain("read_file");
  expect(fs.every(({ readOnly }) => readOnly)).toBe(true);
});

it("a session keeps what a contract remembers; without one, each call is independent", async () => {
  const { root, engine } = project();
  const editor = await dialects["file-editor"]();
  const read = { path: "a.txt" };
  using session = new Session();
  await call(editor, "set_workspace", { path: root }, { engine, session });
  expect(await call(editor, "read_files", read, { engine, session })).not.toMatchObject({ isError: true });
  expect(await call(editor, "read_files", read, { engine })).toMatchObject({ isError: true });
});

it("a custom tool gets typed parameters, defaults and confinement", async () => {
  const { engine } = project();
  const shout = tool({
    name: "shout",
    title: "Shout",
    description: "The first line, louder.",
    input: {
      type: "object",
      properties: { path: { type: "string" }, marks: { type: "integer", default: 1 } },
      required: ["path"],
    },
    effect: "reads",
    run({ path, marks }, { workspace }) {
      using file = workspace.file(workspace.at(path));
      const [line = ""] = file.readNow(0, 100).toString("utf8").split("\n");
      return text(line.toUpperCase() + "!".repeat(marks));
    },
  });
  const mine = { ...(await dialects.polyfs()), tools: [shout] };
  expect(outcomeText(await call(mine, "shout", { path: "a.txt" }, { engine }))).toBe("ONE!");
  expect(outcomeText(await call(mine, "shout", { path: "a.txt", marks: "many" }, { engine }))).toContain(
    "marks",
  );
  expect(outcomeText(await call(mine, "shout", { path: "/etc/passwd" }, { engine }))).toMatch(
    /^outside_roots/,
  );
});

it("an engine that cannot be opened names the path at fault", () => {
  const missing = join(tmpdir(), "polyfs-library-that-is-not-there");
  expect(() => openEngine({ roots: [{ path: missing, access: "read-only" }] })).toThrow(missing);
});

it("an engine opens no directory but its roots, unless it was opened for any", () => {
  const { root, engine } = project("read-only");
  expect(() => engine.workspace.elsewhere([{ path: "/etc", access: "read-only" }])).toThrow("outside_roots");
  using free = openEngine({ roots: [], state: `${root}-state`, anyDirectory: "read-only" });
  using there = free.workspace.elsewhere([{ path: root, access: "read-only" }]);
  expect(there.roots.map(({ path }) => path)).toEqual([root]);
  expect(() => free.workspace.elsewhere([{ path: root, access: "read-write" }])).toThrow("read_only");
  expect(() => there.elsewhere([{ path: "/etc", access: "read-only" }])).toThrow("outside_roots");
});

it("an engine that was disposed of says so", async () => {
  const { engine } = project();
  engine[Symbol.dispose]();
  expect(() => engine.workspace).toThrow("disposed of");
  const polyfs = await dialects.polyfs();
  await expect(call(polyfs, "read_file", { path: "a.txt" }, { engine })).rejects.toThrow("disposed of");
});

it("a workspace of an engine that was disposed of opens nothing, and says so", async () => {
  const { engine } = project();
  const { workspace } = engine;
  const path = workspace.at("a.txt");
  engine[Symbol.dispose]();
  expect(() => workspace.file(path)).toThrow("disposed of");
  expect(() => workspace.stat(path)).toThrow("disposed of");
  await expect(workspace.commit([{ kind: "remove", path }])).rejects.toThrow("disposed of");
});

it("history can be read and undone without a tool", async () => {
  const { root, engine } = project();
  const polyfs = await dialects.polyfs();
  await call(polyfs, "write_file", { path: "b.txt", content: "new\n" }, { engine });
  await call(polyfs, "edit_file", { path: "a.txt", edits: [{ old: "two", new: "2" }] }, { engine });
  const [edit, write] = await listChanges(engine.workspace, { limit: 10 });
  expect(edit?.files.map(({ at }) => at)).toEqual([join(root, "a.txt")]);
  const { restored } = await undo(engine.workspace, { change: write?.id });
  expect(restored).toMatchObject([{ at: join(root, "b.txt"), did: "removed" }]);
  expect(existsSync(join(root, "b.txt"))).toBe(false);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n2\n");
});

it("rules bind an embedded engine, too", async () => {
  const { root } = project();
  writeFileSync(join(root, ".env"), "KEY=hunter2\n");
  const policy = new Policy(defaultRules);
  const state = `${root}-state`;
  using engine = openEngine({
    roots: [{ path: root, access: "read-write" }],
    state,
    rules: { current: () => [policy] },
  });
  const read = outcomeText(await call(await dialects.polyfs(), "read_file", { path: ".env" }, { engine }));
  expect(read).toContain("KEY=");
  expect(read).not.toContain("hunter2");
});

it("the program is asked where a rule requires a person's approval", async () => {
  const { root } = project();
  const rules = { current: () => [new Policy([{ name: "ask", paths: ["**"], ask: ["write"] as const }])] };
  using engine = openEngine({
    roots: [{ path: root, access: "read-write" }],
    state: `${root}-state`,
    rules,
  });
  const asked: string[] = [];
  const write = async (content: string, allowed: boolean) =>
    outcomeText(
      await call(
        await dialects.polyfs(),
        "write_file",
        { path: "a.txt", content },
        {
          engine,
          approve: async needs => {
            asked.push(...needs.map(({ question }) => question));
            return allowed ? { allowed } : { allowed, reason: "not today" };
          },
        },
      ),
    );
  expect(await write("no\n", false)).toContain("not today");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\ntwo\n");
  await write("yes\n", true);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("yes\n");
  expect(asked).toEqual(["write", "write"]);
});

it("a program's own HTTP server can serve the tools at a path of its own", async () => {
  const { engine } = project();
  const handler = await createHandler({ engine, dialect: await dialects.polyfs() });
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/agents/files")) void handler(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close(0);
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = new Client({ name: "test", version: "1" });
  const url = new URL(`http://127.0.0.1:${port}/agents/files`);
  await client.connect(new StreamableHTTPClientTransport(url));
  const read = await client.callTool({ name: "read_file", arguments: { path: "a.txt" } });
  expect(JSON.stringify(read.content)).toContain("two");
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("run_command");
  await client.close();
  const foreign = await fetch(url, { method: "POST", headers: { origin: "https://evil.example" } });
  expect(foreign.status).toBe(403);
});

it("the same endpoint answers by the fetch standard, streams and refusals included", async () => {
  const { engine } = project();
  const handler = await createHandler({ engine, dialect: await dialects.polyfs() });
  onTestFinished(() => handler.close(0));
  const client = new Client({ name: "test", version: "1" });
  const url = new URL("http://localhost/mcp");
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: (input, init) => handler.fetch(new Request(input, init as RequestInit)),
  });
  await client.connect(transport);
  const read = await client.callTool({ name: "read_file", arguments: { path: "a.txt" } });
  expect(JSON.stringify(read.content)).toContain("two");
  // More than any buffer on the way holds, in both directions.
  const content = "0123456789abcdef".repeat(40_000);
  await client.callTool({ name: "write_file", arguments: { path: "large.txt", content } });
  const large = await client.callTool({ name: "read_file", arguments: { path: "large.txt" } });
  expect(JSON.stringify(large.content)).toContain("0123456789abcdef");
  await client.close();
  const post = (headers: Record<string, string>) =>
    handler.fetch(new Request(url, { method: "POST", headers, body: "{" }));
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  expect((await post({ "content-type": "application/json" })).status).toBe(400);
  expect((await handler.fetch(new Request("http://elsewhere.example/mcp"))).status).toBe(403);
});

it("workspaces are forked, compared and merged without a tool", async () => {
  const { root } = project();
  const [forks, state] = [`${root}-forks`, `${root}-fork-state`];
  await using workspaces = openWorkspaces({ directory: forks });
  await workspaces.adopt("main", root, "test");
  const fork = await workspaces.fork("try", "main", "test");
  const engine = openEngine({ roots: [{ path: fork.root, access: "read-write" }], state, workspaces });
  onTestFinished(() => {
    engine[Symbol.dispose]();
    // A fork may be a mount.
    spawnSync("umount", ["-l", fork.root]);
    rmSync(forks, { recursive: true, force: true });
    rmSync(state, { recursive: true, force: true });
  });
  const { workspace } = engine;
  await workspace.commit([{ kind: "write", path: workspace.at("new.txt"), bytes: Buffer.from("new\n") }]);
  expect(existsSync(join(root, "new.txt"))).toBe(false);
  const difference = await workspaces.diff(fork, workspace);
  expect(difference.map(({ path, effect }) => `${effect} ${path}`)).toEqual(["added new.txt"]);
  const { files } = await workspaces.merge(fork, workspace);
  expect(files).toHaveLength(1);
  expect(readFileSync(join(root, "new.txt"), "utf8")).toBe("new\n");
  await workspaces.drop(await workspaces.find("try"));
  expect((await workspaces.list()).map(({ name }) => name)).toEqual(["main"]);
});
