// `--audit` on standard input and output: the log explains every byte that differs between two states of a tree.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { start } from "../mcp/wire.ts";
import { polyfs, repository } from "./program.ts";

type State = Map<string, string>;

/** Every path below a directory, with its content. */
function stateOf(directory: string, state: State = new Map()): State {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) state.set(path, `link:${readlinkSync(path)}`);
    else if (stat.isFile())
      state.set(path, `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
    else {
      state.set(path, "directory");
      stateOf(path, state);
    }
  }
  return state;
}

type Content = string | Record<string, string>;
interface AuditedFile {
  readonly at: string;
  readonly from?: string;
  readonly effect: string;
  readonly kind: string;
  readonly before?: Content;
  readonly replaced?: Content;
  readonly after?: Content;
}

interface AuditedChange {
  readonly parents?: readonly string[];
  readonly files: readonly AuditedFile[];
}

/** What a log says that was done, done to a state. Whatever it says was there must be there. */
function replay(state: State, { at, from, effect, before, replaced, after }: AuditedFile): void {
  const expectThere = (path: string, content: Content | undefined) => {
    if (typeof content === "string") expect([path, state.get(path)]).toEqual([path, content]);
    else if (content !== undefined) expect(treeAt(state, path)).toEqual(sorted(content));
  };
  if (effect === "moved" || effect === "copied") {
    expectThere(at, replaced);
    drop(state, at);
    const taken = [...state].filter(([path]) => isBelow(path, from ?? ""));
    if (effect === "moved") drop(state, from ?? "");
    for (const [path, content] of taken) state.set(at + path.slice((from ?? "").length), content);
    if (after !== undefined && typeof after === "string") state.set(at, after);
    return;
  }
  expectThere(at, before);
  drop(state, at);
  if (effect === "removed") return;
  if (typeof after === "string") state.set(at, after);
  else {
    state.set(at, "directory");
    for (const [path, content] of Object.entries(after ?? {}))
      state.set(join(at, path).replace(/\/$/, ""), content);
  }
}

const isBelow = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`);
const sorted = (entries: Record<string, string>) => Object.fromEntries(Object.entries(entries).sort());
const drop = (state: State, at: string) => {
  for (const path of [...state.keys()]) if (isBelow(path, at)) state.delete(path);
};
const treeAt = (state: State, at: string) =>
  sorted(
    Object.fromEntries(
      [...state]
        .filter(([path]) => path.startsWith(`${at}/`))
        .map(([path, content]) => [
          path.slice(at.length + 1) + (content === "directory" ? "/" : ""),
          content,
        ]),
    ),
  );

/** The changes of all lines, done to a state. Returns how many there were. */
function replayAll(state: State, calls: readonly { changes: AuditedChange[] }[]): number {
  const changes = calls.flatMap(call => call.changes);
  for (const { files, parents = [] } of changes) {
    for (const { at } of files)
      for (let above = dirname(at); parents.some(one => isBelow(above, one)); above = dirname(above))
        state.set(above, "directory");
    for (const file of files) replay(state, file);
  }
  return changes.reduce((sum, { files }) => sum + files.length, 0);
}

/** The lines of calls in a log. */
function callsIn(audit: string) {
  const entries = readFileSync(audit, "utf8").trimEnd().split("\n");
  return entries.map(line => JSON.parse(line)).filter(({ event }) => event === "call");
}

describe("commands that change files write to the audit log, too", () => {
  it("call, undo, redo and a merge are explained to the byte, and the log is intact", () => {
    const { root, audit, state } = places();
    const task = ["--workspaces", join(dirname(root), "workspaces"), "--state-dir", state];
    const logged = ["--audit", audit, "--state-dir", state];
    const run = (...args: string[]) => {
      const { code, stderr } = polyfs(args, { cwd: root });
      expect([args, code, stderr]).toEqual([args, 0, ""]);
    };
    const before = stateOf(root);
    const write = (path: string, content: string) => JSON.stringify({ path, content });
    run("call", ...logged, "write_file", write("new/deep/n.txt", "new\n"));
    run("call", ...logged, "edit_file", '{"path":"a.txt","edits":[{"old":"one","new":"two"}]}');
    run("undo", ...logged);
    run("redo", ...logged);
    run("undo", ...logged, "a.txt");
    run("undo", ...logged, "--dry-run");
    run("workspace", "adopt", "main", root, ...task, "--audit", audit);
    run("workspace", "fork", "task", "--from", "main", ...task, "--audit", audit);
    const inFork = [...task, "--workspace-name", "task", "--audit", `${audit}.of-fork`];
    run("call", ...inFork, "write_file", write("from/task.txt", "made in the fork\n"));
    run("workspace", "merge", "task", ...task, "--audit", audit);
    run("workspace", "drop", "task", ...task, "--audit", audit);
    run("workspace", "collect", ...task, "--workspace-keep-dropped", "0s"); // unmounts it
    const calls = callsIn(audit);
    expect(calls.map(({ tool, client }) => [tool, client])).toEqual([
      ["write_file", "polyfs call"],
      ["edit_file", "polyfs call"],
      ["undo", "polyfs undo"],
      ["redo", "polyfs redo"],
      ["undo", "polyfs undo"],
      ["undo", "polyfs undo"],
      ["workspace adopt", "polyfs workspace"],
      ["workspace fork", "polyfs workspace"],
      ["workspace merge", "polyfs workspace"],
      ["workspace drop", "polyfs workspace"],
    ]);
    expect(calls.at(-2)).toMatchObject({ about: { name: "task" }, outcome: "ok", decision: "allowed" });
    expect(replayAll(before, calls)).toBe(7);
    expect(sorted(Object.fromEntries(before))).toEqual(sorted(Object.fromEntries(stateOf(root))));
    expect(polyfs(["audit", "verify", audit])).toMatchObject({ code: 0 });
  });

  it("one that is refused has a line, and a variable for servers holds for them", () => {
    const { root, audit, state } = places();
    const env = { POLYFS_AUDIT: audit, POLYFS_STATE_DIR: state };
    const here = { cwd: root, env };
    const write = JSON.stringify({ path: "b.txt", content: "one\n" });
    expect(polyfs(["call", "write_file", write], here).code).toBe(0);
    writeFileSync(join(root, "b.txt"), "by another program\n");
    expect(polyfs(["undo"], here).code).toBe(1);
    expect(callsIn(audit).at(-1)).toMatchObject({
      tool: "undo",
      outcome: "error",
      fault: expect.any(String),
      changes: [],
    });
    expect(polyfs(["call", "read_file", '{"path":"../x"}'], here).code).toBe(1);
    expect(callsIn(audit).at(-1)).toMatchObject({
      tool: "read_file",
      decision: "denied",
      fault: "outside_roots",
    });
  });

  it("one without a log that it can write changes nothing", () => {
    const { root, audit, state } = places();
    const write = JSON.stringify({ path: "b.txt", content: "one\n" });
    const here = { cwd: root };
    expect(polyfs(["call", "--state-dir", state, "write_file", write], here).code).toBe(0);
    const full = existsSync("/dev/full") ? ["/dev/full"] : [];
    for (const log of [join(audit, "none/log"), join(root, "log"), ...full]) {
      const { code, stderr } = polyfs(["undo", "--audit", log, "--state-dir", state], here);
      expect([code, stderr]).toEqual([2, expect.stringContaining(log)]);
      expect(readdirSync(root)).toEqual(["a.txt", "b.txt"]);
    }
  });

  it("one whose policy cannot be read changes nothing: the log could not say what it did", () => {
    const { root, audit, state } = places();
    const here = { cwd: root };
    const write = JSON.stringify({ path: "b.txt", content: "one\n" });
    expect(polyfs(["call", "--state-dir", state, "write_file", write], here).code).toBe(0);
    expect(polyfs(["undo", "--state-dir", state], here).code).toBe(0);
    const task = ["--workspaces", join(dirname(root), "workspaces")];
    expect(polyfs(["workspace", "adopt", "main", root, ...task, "--state-dir", state]).code).toBe(0);
    const policy = join(dirname(root), "policy.json");
    writeFileSync(policy, "{");
    const logged = ["--audit", audit, "--policy", policy, "--state-dir", state];
    for (const args of [["redo"], ["undo"], ["workspace", "fork", "task", "--from", "main", ...task]]) {
      const { code, stderr } = polyfs([...args, ...logged], here);
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(policy)]);
    }
    expect(readdirSync(root)).toEqual(["a.txt"]);
    expect(polyfs(["workspace", "list", "--state-dir", state, ...task]).stdout).not.toContain("task");
    expect(existsSync(audit)).toBe(false);
  });

  it("the log has no hash of a file that a rule masks, though the commands may restore it", () => {
    const { root, audit, state } = places();
    writeFileSync(join(root, ".env"), "PIN=1234\n");
    const logged = ["--audit", audit, "--state-dir", state];
    const deleted = ["--policy", "none", "delete_path", '{"path":".env"}'];
    expect(polyfs(["call", "--state-dir", state, ...deleted], { cwd: root }).code).toBe(0);
    expect(polyfs(["undo", ...logged], { cwd: root }).code).toBe(0);
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("PIN=1234\n");
    expect(callsIn(audit).at(-1).changes[0].files).toMatchObject([{ effect: "created", after: "withheld" }]);
  });
});

it("the audit log explains every byte that changed, including changes by commands and undo", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-audit-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "root");
  mkdirSync(join(root, "d/e"), { recursive: true });
  for (const name of ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt"])
    writeFileSync(join(root, name), `one\ntwo\n${name}\n`);
  const state = stateOf(root);
  const audit = join(base, "audit.log");
  const args = ["--audit", audit, "--state-dir", join(base, "state"), "--allow-run=unsandboxed"];
  const wire = await start({ dialect: "polyfs", roots: [root], args });
  onTestFinished(() => wire.close());
  await wire.initialize();
  const call = (name: string, given: object) =>
    wire.request("tools/call", { name, arguments: given }).then(({ result }) => result);
  const edits = [{ old: "two", new: "zwei" }];
  const steps: [name: string, given: object][] = [
    ["edit_file", { path: "a.txt", edits }],
    ["write_file", { path: "new/deep/n.txt", content: "new\n" }],
    ["write_file", { path: "new/other/and/deeper/n.txt", content: "new\n" }],
    ["delete_path", { path: "new", recursive: true }],
    ["undo", {}],
    ["move_path", { from: "d", to: "moved" }],
    ["copy_path", { from: "moved", to: "copied" }],
    ["delete_path", { path: "copied", recursive: true }],
    ["undo", {}],
    ["run_command", { command: "echo by command > made.txt; rm b.txt; echo more >> a.txt" }],
    ["edit_file", { path: "missing.txt", edits }],
    ["undo", {}],
    ["create_directory", { path: "x/y" }],
    ["write_file", { path: "a.txt", content: "last\n", overwrite: true }],
    ["no_such_tool", {}],
  ];
  for (const [name, given] of steps) await call(name, given);
  wire.child.kill("SIGHUP");
  await expect.poll(() => readFileSync(audit, "utf8")).toContain('"event":"reopen"');
  expect((await call("list_changes", {}))?.isError ?? false).toBe(false);
  await wire.close();

  const entries = readFileSync(audit, "utf8")
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line));
  const calls = entries.filter(({ event }) => event === "call");
  expect(calls.map(({ tool }) => tool)).toEqual([...steps.map(([name]) => name), "list_changes"]);
  expect(calls.find(({ tool }) => tool === "no_such_tool").outcome).toMatch(/^error/);
  expect(calls.find(({ paths }) => paths.includes("missing.txt"))).toMatchObject({ fault: "not_found" });
  expect(replayAll(state, calls)).toBeGreaterThan(8);
  expect(sorted(Object.fromEntries(state))).toEqual(sorted(Object.fromEntries(stateOf(root))));
  expect(polyfs(["audit", "verify", audit])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("intact"),
  });
  writeFileSync(audit, readFileSync(audit, "utf8").replace("made.txt", "fake.txt"));
  expect(polyfs(["audit", "verify", audit])).toMatchObject({ code: 1 });
});

it("an audit log or a tokens file that callers may write is refused, whichever way it is named", () => {
  const { root, audit } = places();
  const base = dirname(root);
  symlinkSync(root, join(base, "to-root"));
  symlinkSync(join(root, "nothing.log"), join(base, "dangling"));
  symlinkSync("dangling", join(base, "to-dangling"));
  const names = [
    join(root, "log"),
    join(base, "to-root/log"),
    join(base, "dangling"),
    join(base, "to-dangling"),
  ];
  for (const name of names) {
    const { code, stderr } = polyfs(["--audit", name, root]);
    expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining("callers may write")]);
    const tokens = polyfs(["--http", "0", "--tokens", name, root]);
    expect([name, tokens.code, tokens.stderr]).toEqual([
      name,
      2,
      expect.stringContaining("callers may write"),
    ]);
  }
  expect(readdirSync(root)).toEqual(["a.txt"]);
  symlinkSync(audit, join(base, "to-log"));
  expect(polyfs(["--audit", join(base, "to-log"), root]).code).toBe(0);
  expect(lstatSync(audit).isFile()).toBe(true);
});

it("a file of the operator in a workspace that callers may enter is refused at the start", () => {
  const { root, state } = places();
  const workspaces = ["--workspaces", join(dirname(root), "workspaces"), "--state-dir", state];
  expect(polyfs(["workspace", "adopt", "here", root, ...workspaces])).toMatchObject({ code: 0 });
  const tls = ["--tls-cert", join(dirname(root), "cert"), "--tls-key", join(dirname(root), "key")];
  for (const option of ["--audit", "--tokens", "--tls-cert", "--tls-key"]) {
    const others = tls.includes(option) ? tls : [];
    const { code, stderr } = polyfs(["--http", "0", ...others, option, join(root, "file"), ...workspaces]);
    expect([option, code, stderr]).toEqual([option, 2, expect.stringContaining("is in the workspace here")]);
  }
  expect(readdirSync(root)).toEqual(["a.txt"]);
  const inside = join(dirname(root), "workspaces/trees/a.log");
  const { code, stderr } = polyfs(["--workspace-name", "here", "--audit", inside, ...workspaces]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("is in the directory of --workspaces")]);
});

it.skipIf(process.platform === "win32")("an audit log that could stop the server is refused", () => {
  const { root, audit } = places();
  spawnSync("mkfifo", [audit]);
  const { code, stderr } = polyfs(["--audit", audit, root]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("not a regular file")]);
  expect(polyfs(["--audit", "/dev/stdout", root]).stderr).toContain("belongs to the protocol");
  expect(polyfs(["--audit", "/dev/null", root]).code).toBe(0);
  const line = '"$@" </dev/null 3>&1 >/dev/null 2>&3 | cat';
  const program = [process.execPath, join(repository, "dist/polyfs.cjs")];
  const toLog = spawnSync("sh", ["-c", line, "sh", ...program, "--audit", "/dev/stderr", root], {
    encoding: "utf8",
  });
  expect([toLog.status, toLog.stdout]).toEqual([0, expect.stringContaining('"event":"end"')]);
});

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

it("a merge that a server makes leaves no hash of a masked file of the base in the log", async () => {
  const { root, audit, state } = places();
  writeFileSync(join(root, ".env"), "PIN=1234\n");
  const workspaces = ["--workspaces", join(dirname(root), "workspaces"), "--state-dir", state];
  expect(polyfs(["workspace", "adopt", "main", root, ...workspaces])).toMatchObject({ code: 0 });
  expect(polyfs(["workspace", "fork", "task", "--from", "main", ...workspaces])).toMatchObject({ code: 0 });
  const args = ["--audit", audit, "--workspace-name", "task", ...workspaces];
  const wire = await start({ dialect: "polyfs", roots: [], args });
  await wire.initialize();
  const calls = [
    { name: "write_file", arguments: { path: ".env", content: "PIN=5678\n" } },
    { name: "write_file", arguments: { path: "a.txt", content: "two\n" } },
    { name: "workspace", arguments: { action: "merge" } },
  ];
  for (const one of calls) await wire.request("tools/call", one);
  await wire.close();
  expect(readFileSync(join(root, ".env"), "utf8")).toBe("PIN=5678\n");
  const { files } = callsIn(audit).at(-1).changes[0] as AuditedChange;
  expect(files).toMatchObject([
    { at: join(root, ".env"), before: "withheld", after: "withheld" },
    { at: join(root, "a.txt"), after: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
  ]);
  expect(polyfs(["workspace", "drop", "task", ...workspaces]).code).toBe(0);
  expect(polyfs(["workspace", "collect", ...workspaces, "--workspace-keep-dropped", "0s"]).code).toBe(0); // unmounts it
});

/** A directory to serve, and a place for the log. */
function places(): { root: string; audit: string; state: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-audit-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, "root"));
  writeFileSync(join(base, "root/a.txt"), "one\n");
  return { root: join(base, "root"), audit: join(base, "audit.log"), state: join(base, "state") };
}

it("the line of a workspace call names its action and the workspace", async () => {
  const { root, audit, state } = places();
  const workspaces = ["--workspaces", join(dirname(root), "workspaces"), "--state-dir", state];
  expect(polyfs(["workspace", "adopt", "here", root, ...workspaces])).toMatchObject({ code: 0 });
  const args = ["--audit", audit, "--workspace-name", "here", ...workspaces];
  const wire = await start({ dialect: "polyfs", roots: [], args });
  await wire.initialize();
  const given = [
    { action: "fork", name: "task", from: "nothing" },
    { action: "merge", name: "task" },
    { action: "drop", name: "task" },
    { action: "drop", name: "x".repeat(100_000) },
  ];
  for (const one of given) await wire.request("tools/call", { name: "workspace", arguments: one });
  await wire.close();
  const lines = textOf(audit).split("\n");
  const about = lines.filter(line => line.includes('"tool":"workspace"')).map(line => JSON.parse(line).about);
  expect(about.slice(0, 3)).toEqual(given.slice(0, 3));
  expect(about[3]).toMatchObject({ action: "drop", name: { characters: 100_000 } });
  for (const line of lines) expect(line.length).toBeLessThan(4096);
});

it("a server whose state directory cannot be written refuses changes, reads, and ends without a stack trace", () => {
  const { root } = places();
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} },
    },
    { id: 2, method: "tools/call", params: { name: "write_file", arguments: { path: "n", content: "x" } } },
    { id: 3, method: "tools/call", params: { name: "read_file", arguments: { path: "a.txt" } } },
  ];
  const input = messages.map(message => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const other = join(dirname(root), "file");
  writeFileSync(other, "");
  const { code, stdout, stderr } = polyfs(["--state-dir", `${other}/state`, root], { input });
  expect(stdout).toContain("state directory");
  expect(stdout).toContain("1: one");
  expect([code, stderr]).toEqual([0, expect.not.stringMatching(/^ +at /m)]);
  const params = JSON.stringify({ path: "n", content: "x" });
  const called = polyfs([
    "call",
    "--allow-write",
    root,
    "--state-dir",
    `${other}/state`,
    "write_file",
    params,
  ]);
  expect([called.code, called.stderr]).toEqual([1, expect.not.stringMatching(/^ +at /m)]);
});

it("an audit log without a line is called empty, not intact", () => {
  const { audit } = places();
  writeFileSync(audit, "");
  expect(polyfs(["audit", "verify", audit])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/\nempty: /),
  });
});

it("requests that are refused on standard input have a line each", async () => {
  const { root, audit, state } = places();
  const args = ["--audit", audit, "--state-dir", state];
  const wire = await start({ dialect: "polyfs", roots: [root], args });
  await wire.initialize();
  wire.child.stdin?.write("nonsense\n[]\n");
  wire.child.stdin?.write('{"jsonrpc":"1.0","id":"old","method":"ping"}\n');
  await wire.request("no/such/method", {});
  await wire.request("resources/subscribe", {});
  await wire.request("tools/call", "text" as unknown as object);
  await wire.request("tools/list", {});
  await wire.close();
  const entries = readFileSync(audit, "utf8")
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line));
  const refused = entries.filter(({ event }) => event === "refused");
  expect(refused.map(({ code }) => code)).toEqual([-32700, -32600, -32600, -32601, -32602]);
  expect(refused[2]).toMatchObject({
    request: '"old"',
    decision: "denied",
    reason: expect.stringContaining("jsonrpc"),
  });
  expect(refused[3]).toMatchObject({
    client: expect.any(String),
    reason: expect.stringContaining("no/such/method"),
  });
  expect(entries.filter(({ event }) => event === "call")).toMatchObject([
    { tool: "", outcome: "error -32602" },
  ]);
});

it.skipIf(!existsSync("/dev/full"))(
  "a server that ends with lines that it cannot write says so, and fails",
  () => {
    const { root } = places();
    const { code, stderr } = polyfs(["--audit", "/dev/full", root]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/its last 2 lines are lost/)]);
  },
);

describe.skipIf(process.platform === "win32")("SIGHUP during the start", () => {
  /** Sends the signal when the server opens its log. */
  function early(base: string): Record<string, string> {
    const script = join(base, "early.cjs");
    writeFileSync(
      script,
      `const fs = require("fs");
      const { openSync } = fs;
      let sent = false;
      fs.openSync = (path, ...more) => {
        if (!sent && String(path).endsWith("audit.log")) process.kill(process.pid, "SIGHUP");
        sent ||= String(path).endsWith("audit.log");
        return openSync(path, ...more);
      };`,
    );
    return { NODE_OPTIONS: `--require=${script}` };
  }

  it("does not end a server with an audit log, which is reopened once it runs", async () => {
    const { root, audit, state } = places();
    const program = join(repository, "dist/polyfs.cjs");
    const child = spawn(process.execPath, [program, "--audit", audit, "--state-dir", state, root], {
      env: { ...process.env, ...early(dirname(root)) },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise(resolve => child.on("close", (...how) => resolve(how)));
    await Promise.race([ended, expect.poll(() => textOf(audit), { timeout: 30_000 }).toContain('"reopen"')]);
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
  });

  it("does not end an HTTP server", async () => {
    const { root, audit, state } = places();
    const program = join(repository, "dist/polyfs.cjs");
    const args = ["--http", "0", "--audit", audit, "--log-level", "info", "--state-dir", state, root];
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...early(dirname(root)) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", text => {
      log += text;
    });
    const ended = new Promise(resolve => child.on("close", (...how) => resolve(how)));
    await Promise.race([ended, expect.poll(() => log, { timeout: 30_000 }).toContain("rereading on SIGHUP")]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});

it("every answered call is in the log of a server that was killed", async () => {
  const { root, audit, state } = places();
  const answered: string[] = [];
  for (let round = 0; round < 6; round++) {
    const wire = await start({
      dialect: "polyfs",
      roots: [root],
      args: ["--audit", audit, "--state-dir", state],
    });
    await wire.initialize();
    wire.output.on("data", () => {
      if (wire.received.length > 20 * (round + 1)) wire.child.kill("SIGKILL");
    });
    for (let n = 0; n < 400; n++) {
      const [name, given] =
        n % 10 === 0
          ? ["write_file", { path: "b.txt", content: `${round} ${n}`, overwrite: true }]
          : n % 3 === 0
            ? ["search_text", { pattern: "one" }]
            : ["read_file", { path: "a.txt" }];
      wire.send({
        jsonrpc: "2.0",
        id: `${round}-${n}`,
        method: "tools/call",
        params: { name, arguments: given },
      });
    }
    await wire.left();
    answered.push(...wire.received.flatMap(({ id }) => (typeof id === "string" ? [id] : [])));
  }
  const recorded = new Set(
    readFileSync(audit, "utf8")
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line).request),
  );
  expect(answered.length).toBeGreaterThan(120);
  expect(answered.filter(id => !recorded.has(JSON.stringify(id)))).toEqual([]);
});

it("three servers that share a log, and rotate it at the same time, leave it intact", async () => {
  const { root, audit, state } = places();
  const args = ["--audit", audit, "--audit-max-bytes", "40000", "--state-dir", state];
  const wires = await Promise.all([1, 2, 3].map(() => start({ dialect: "polyfs", roots: [root], args })));
  await Promise.all(
    wires.map(async wire => {
      await wire.initialize();
      for (let n = 0; n < 40; n++)
        await Promise.all([1, 2, 3, 4].map(() => wire.call("read_file", { path: "a.txt" })));
      await wire.close();
    }),
  );
  const { code, stdout } = polyfs(["audit", "verify", audit]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ lines, 3 chains \(0 open\)/)]);
});

it("a log whose end was cut off is found by the hash that was printed before", async () => {
  const { root, audit, state } = places();
  for (let round = 0; round < 2; round++) {
    const wire = await start({
      dialect: "polyfs",
      roots: [root],
      args: ["--audit", audit, "--state-dir", state],
    });
    await wire.initialize();
    await wire.call("read_file", { path: "a.txt" });
    await wire.close();
  }
  const [, last = ""] = /last hash is (\w+)/.exec(polyfs(["audit", "verify", audit]).stdout) ?? [];
  expect(polyfs(["audit", "verify", "--expect", last, audit]).code).toBe(0);
  writeFileSync(audit, `${readFileSync(audit, "utf8").split("\n").slice(0, 3).join("\n")}\n`);
  expect(polyfs(["audit", "verify", audit]).code).toBe(0);
  expect(polyfs(["audit", "verify", "--expect", last, audit])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("no line has the hash"),
  });
  expect(polyfs(["audit", "verify", "--expect", "last", audit]).code).toBe(2);
});
