// Servers on several machines that serve the same workspaces from one store: forks, merges, tokens, sessions, jobs, and
// the commands of a person at a terminal.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { polyfs } from "../cli/program.ts";
import { tree } from "./fixture.ts";
import { startWith } from "./started-program.ts";
import { initialize, legacy, modern } from "./wire.ts";

const patience = { timeout: 60_000, interval: 100 };

class Servers {
  readonly base = tree();
  readonly store = join(this.base, "store");

  constructor() {
    onTestFinished(() => {
      for (const line of readFileSync("/proc/mounts", "utf8").split("\n")) {
        const [, at = ""] = line.split(" ");
        if (at.startsWith(`${this.base}/`)) execFileSync("umount", ["-l", at]);
      }
    });
  }

  run(...args: string[]): string {
    const ending = polyfs(args, {
      env: { POLYFS_STORE: this.store, POLYFS_STATE_DIR: join(this.base, "s") },
    });
    if (ending.code !== 0) throw new Error(`${args.join(" ")}: ${ending.stderr}`);
    return ending.stdout;
  }

  create(name: string, files: Readonly<Record<string, string>>): void {
    const from = join(this.base, `from-${name}`);
    mkdirSync(from);
    for (const [path, text] of Object.entries(files)) writeFileSync(join(from, path), text);
    this.run("workspace", "create", name, from);
  }

  start(name: string, ...args: string[]) {
    const env = { POLYFS_STORE: this.store, POLYFS_STATE_DIR: join(this.base, `state-${name}`) };
    return startWith(env, "--workspaces", join(this.base, name), "--allow-run=unsandboxed", ...args);
  }

  token(name: string, ...args: string[]): string {
    return this.run("token", "add", name, "--tokens", join(this.base, "tokens.json"), ...args).trim();
  }
}

async function call(
  url: string,
  name: string,
  args: Record<string, unknown> = {},
  token?: string,
): Promise<string> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { message, body } = await modern(url, "tools/call", { name, arguments: args }, headers);
  const { content = [] } = (message.result ?? {}) as { content?: { text: string }[] };
  return content.length === 0 ? body : content.map(({ text }) => text).join("\n");
}

describe("workspaces of a shared store", () => {
  it("are forked on one server, written on another, and merged on a third", async () => {
    const servers = new Servers();
    servers.create("main", { "f.txt": "1\n2\n3\n", "g.txt": "g\n" });
    const [a, b] = [await servers.start("a"), await servers.start("b")];
    expect(await call(`${a.url}/mcp/w/main`, "workspace", { action: "fork", name: "task" })).toContain(
      "task",
    );
    const edit = (old: string, text: string) => ({ path: "f.txt", edits: [{ old, new: text }] });
    await call(`${b.url}/mcp/w/task`, "edit_file", edit("3", "three"));
    await call(`${a.url}/mcp/w/task`, "write_file", { path: "new.txt", content: "new\n" });
    await call(`${b.url}/mcp/w/main`, "edit_file", edit("1", "one"));
    const c = await servers.start("c");
    const diff = await call(`${c.url}/mcp/w/main`, "workspace", { action: "diff", name: "task" });
    expect(diff).toMatch(/M f\.txt \(\+1 -1\)\nA new\.txt/);
    expect(diff).not.toContain("one");
    const merged = await call(`${c.url}/mcp/w/main`, "workspace", { action: "merge", name: "task" });
    expect(merged).toContain("merged task: 2 files");
    expect(await call(`${b.url}/mcp/w/main`, "read_file", { path: "f.txt" })).toMatch(
      /1: one\n2: 2\n3: three/,
    );
    const [, change = ""] = /change (\w+)/.exec(merged) ?? [];
    await call(`${a.url}/mcp/w/main`, "undo", { change });
    expect(await call(`${c.url}/mcp/w/main`, "read_file", { path: "f.txt" })).toMatch(/1: one\n2: 2\n3: 3/);
    expect(servers.run("workspace", "list")).toMatch(/^main[\s\S]*^task +fork of main/m);
    await call(`${b.url}/mcp/w/task`, "write_file", { path: "late.txt", content: "late\n" });
    expect(servers.run("workspace", "merge", "task")).toMatch(/A late\.txt/);
    expect(await call(`${a.url}/mcp/w/main`, "read_file", { path: "late.txt" })).toContain("1: late");
    servers.run("workspace", "drop", "task");
    expect(await call(`${b.url}/mcp/w/task`, "write_file", { path: "x", content: "x" })).toContain(
      "no workspace",
    );
    const stdio = ["--workspaces", join(servers.base, "d"), "--workspace-name", "main"];
    expect(servers.run("call", "read_file", '{"path":"g.txt"}', "--text", ...stdio)).toContain("1: g");
  });

  it("are refused as unavailable while the store is lost, and served when it is back", async () => {
    const servers = new Servers();
    servers.create("main", { "f.txt": "text\n" });
    const { url } = await servers.start("a");
    const read = () =>
      modern(`${url}/mcp/w/main`, "tools/call", { name: "read_file", arguments: { path: "f.txt" } });
    renameSync(servers.store, `${servers.store}.away`);
    writeFileSync(servers.store, "");
    const { status, body } = await read();
    expect({ status, body }).toEqual({
      status: 503,
      body: expect.stringContaining("shared store cannot be used"),
    });
    expect(body).not.toContain(servers.base);
    rmSync(servers.store);
    renameSync(`${servers.store}.away`, servers.store);
    await vi.waitFor(async () => expect((await read()).body).toContain("1: text"), patience);
  });

  it("reveal nothing to the token of another one: no object, name or history", async () => {
    const servers = new Servers();
    servers.create("mine", { "f.txt": "mine\n" });
    servers.create("theirs", { "secret.txt": "their secret\n" });
    const token = servers.token("me", "--workspace", "mine");
    const other = servers.token("them", "--workspace", "theirs");
    const tokens = ["--tokens", join(servers.base, "tokens.json")];
    const a = await servers.start("a", ...tokens);
    const theirs = (name: string, args = {}) => call(`${a.url}/mcp`, name, args, other);
    const mine = (name: string, args = {}) => call(`${a.url}/mcp`, name, args, token);
    const read = await theirs("read_file", { path: "secret.txt" });
    const [version = ""] = /v:[0-9a-f]{12}/.exec(read) ?? [];
    const [, change = ""] =
      /change (\w+)/.exec(
        await theirs("write_file", { path: "secret.txt", content: "their other secret\n" }),
      ) ?? [];
    expect([version, change]).not.toContain("");
    const trees = join(servers.base, "a", readdirSync(join(servers.base, "a"))[0] ?? "", "trees");
    const folder = readdirSync(trees).find(name => name.startsWith("theirs-")) ?? "";
    const path = join(trees, folder, "tree/secret.txt");
    expect(readFileSync(path, "utf8")).toBe("their other secret\n");
    // The same content here: then the store has the object, and the version is known.
    const attempts = [
      await mine("read_file", { path: "f.txt", since: version }),
      await mine("read_file", { path }),
      await mine("undo", { change }),
      await mine("list_changes", { since: change, diff: true }),
      await mine("list_changes", { diff: true }),
      await mine("search_text", { pattern: "their", ignored: true }),
      await mine("workspace", { action: "list" }),
      await mine("workspace", { action: "diff", name: "theirs" }),
      await mine("workspace", { action: "fork", name: "copy", from: "theirs" }),
      await mine("workspace", { action: "drop", name: "theirs" }),
      await call(`${a.url}/mcp/w/theirs`, "read_file", { path: "secret.txt" }, token),
    ];
    for (const answer of attempts) expect(answer).not.toMatch(/their (other )?secret/);
    // Whether a workspace exists cannot be told from the answers.
    const named = (name: string) => mine("workspace", { action: "diff", name });
    const plain = (text: string) => text.replace(/theirs|nobody/g, "NAME");
    expect(plain(await named("theirs"))).toBe(plain(await named("nobody")));
    const at = (name: string) => call(`${a.url}/mcp/w/${name}`, "read_file", { path: "f.txt" }, token);
    expect(plain(await at("theirs"))).toBe(plain(await at("nobody")));
    expect(await mine("workspace", { action: "list" })).not.toContain("theirs");
  });
});

describe("clients of 2025 on replicas", () => {
  it("a request for a session or a job of another server is answered with its server and what to do", async () => {
    const base = tree();
    for (const name of ["a", "b"]) mkdirSync(join(base, name));
    const start = (name: string) => {
      const options = ["--store", join(base, "store"), "--allow-run=unsandboxed", join(base, name)];
      return startWith({ POLYFS_STATE_DIR: join(base, `state-${name}`) }, ...options);
    };
    const [a, b] = [await start("a"), await start("b")];
    const session = await initialize(`${a.url}/mcp`);
    const run = { name: "run_command", arguments: { command: "sleep 60", background: true } };
    const request = (params: object) => ({ id: 2, method: "tools/call", params });
    const started = await legacy(`${a.url}/mcp`, request(run), session);
    const [, job = ""] = /job (\d+@[\w.-]+)/.exec(started.body) ?? [];
    expect(job, started.body).not.toBe("");
    const asked = request({ name: "command_output", arguments: { job } });
    expect((await legacy(`${a.url}/mcp`, asked, session)).body).toContain("running");
    const lost = await legacy(`${b.url}/mcp`, asked, session);
    expect(lost.status).toBe(404);
    expect(lost.message.error).toMatchObject({
      code: -32001,
      message: expect.stringContaining("Send initialize to start a new one"),
    });
    const anew = await initialize(`${b.url}/mcp`);
    expect((await legacy(`${b.url}/mcp`, asked, anew)).body).toContain(`job ${job} runs on the replica`);
  });
});

describe("polyfs undo in the directory of a replica", () => {
  it("publishes what it did, or says what to do", async () => {
    const base = tree();
    const store = join(base, "store");
    for (const name of ["a", "b"]) mkdirSync(join(base, name));
    writeFileSync(join(base, "a/f.txt"), "one\n");
    const start = (name: string) =>
      startWith({ POLYFS_STATE_DIR: join(base, `state-${name}`) }, "--store", store, join(base, name));
    const [a, b] = [await start("a"), await start("b")];
    await call(`${a.url}/mcp`, "write_file", { path: "f.txt", content: "two\n" });
    const env = { POLYFS_STATE_DIR: join(base, "state-a") };
    const undo = (...args: string[]) => polyfs(["undo", "--workspace", join(base, "a"), ...args], { env });
    expect(undo("--store", store)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("running server"),
    });
    a.signal("SIGTERM");
    await a.ended;
    expect(undo()).toMatchObject({ code: 2, stderr: expect.stringContaining("name the store") });
    expect(undo("--store", store)).toMatchObject({ code: 0 });
    expect(await call(`${b.url}/mcp`, "read_file", { path: "f.txt" })).toContain("1: one");
    const unshared = polyfs(["--http", "0", join(base, "a")], { env });
    expect(unshared).toMatchObject({ code: 2, stderr: expect.stringContaining("name the store") });
  });
});
