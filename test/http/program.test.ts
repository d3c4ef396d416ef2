// The program that users start, over HTTP: what it refuses, tokens from the command line, clients with a token,
// and how it ends.
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { polyfs, repository } from "../cli/program.ts";
import { tree } from "./ground.ts";
import { modern, send } from "./wire.ts";

interface Program {
  readonly url: string;
  signal(name: NodeJS.Signals): void;
  /** How it ended, and what it said. */
  readonly ended: Promise<{ code: number | null; stderr: string }>;
}

async function start(...args: readonly string[]): Promise<Program> {
  const child = spawn(process.execPath, [join(repository, "dist/polyfs.cjs"), "--http", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, POLYFS_STATE_DIR: tree() },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  const ended = new Promise<{ code: number | null; stderr: string }>(resolve =>
    child.once("close", code => resolve({ code, stderr })),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
      const [found] = /http:\/\/[^/\s]+/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`ended: ${stderr}`)));
  });
  return { url, signal: name => void child.kill(name), ended };
}

function newToken(file: string, name: string, ...args: readonly string[]): string {
  const { code, stdout, stderr } = polyfs(["token", "add", name, "--tokens", file, ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe("a start over HTTP", () => {
  it.each([
    [["--http", "0.0.0.0:0"], "can be reached from other machines"],
    [["--http", "example.org:80"], "can be reached from other machines"],
    [["--http", "[::]:0"], "can be reached from other machines"],
    [["--http", "localhost"], "[HOST:]PORT"],
    [["--http", "99999"], "[HOST:]PORT"],
    [["--http", "0", "--tokens", "/nowhere/tokens.json"], "/nowhere/tokens.json cannot be used"],
    [["--http", "0", "--oauth-issuer", "https://a.example"], "go together"],
    [
      ["--http", "0", "--oauth-issuer", "http://a.example", "--oauth-audience", "https://b.example/mcp"],
      "https:",
    ],
    [["--http", "0", "--dialect", "fx"], "unknown dialect"],
    [["--http", "0", "--audit", "/nowhere/audit.log"], "the audit cannot be written"],
  ])("%j is refused in one line", (args, reason) => {
    const { code, stderr } = polyfs([...args, tree()]);
    expect(stderr).toContain(reason);
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([2, 1]);
  });

  it("without a directory is refused", () => {
    const { code, stderr } = polyfs(["--http", "0"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("name a directory")]);
  });

  it("on a port that is taken is refused", async () => {
    const taken = createServer();
    await new Promise<void>(resolve => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const { code, stderr } = polyfs(["--http", String(port), tree()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`cannot listen on ${port}`)]);
  });
});

describe("polyfs token", () => {
  it("adds a token that is printed once and kept as a hash, and takes it out again", async () => {
    const file = join(tree(), "tokens.json");
    const root = tree({ "a.txt": "content of a" });
    const secret = newToken(file, "ci", "--read", root, "--expires", "30d", "--dialect", "agent-tools");
    expect(secret).toMatch(/^pfs_[\w-]{43}$/);
    expect(readFileSync(file, "utf8")).not.toContain(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(polyfs(["token", "list", "--tokens", file]).stdout).toMatch(/^ci +reads, writes; .*read-only/);
    expect(polyfs(["token", "add", "ci", "--tokens", file]).stderr).toContain("already");

    // No directory but the token's own.
    const { url } = await start("--tokens", file);
    const read = (token: string) =>
      modern(
        `${url}/mcp`,
        "tools/call",
        { name: "read_file", arguments: { path: "a.txt" } },
        { authorization: `Bearer ${token}` },
      );
    expect((await read(secret)).body).toContain("content of a");
    expect(polyfs(["token", "remove", "ci", "--tokens", file]).code).toBe(0);
    expect((await read(secret)).status).toBe(401);
    const another = newToken(file, "again", "--read", root, "--dialect", "agent-tools");
    expect((await read(another)).body).toContain("content of a");
  });

  it.each([
    [["add"], "needs a NAME"],
    [["add", "two words"], '"name" of token'],
    [["add", "x", "--effects", "reads,everything"], '"effects" of token'],
    [["add", "x", "--expires", "soon"], "--expires needs"],
    [["add", "x", "--dialect", "fx"], "unknown dialect"],
    [["add", "x", "--per-minute", "-1"], "per-minute"],
    [["add", "x", "--wirte", "/tmp"], "--wirte"],
    [["remove", "nobody"], "cannot be read"],
    [["steal"], "there are add, list and remove"],
  ])("%j is refused in one line", (args, reason) => {
    const { code, stderr } = polyfs(["token", ...args, "--tokens", join(tree(), "t.json")]);
    expect(stderr).toContain(reason);
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([2, 1]);
  });

  it("refuses a file with a key that it does not know", () => {
    const file = join(tree(), "t.json");
    newToken(file, "a");
    writeFileSync(file, readFileSync(file, "utf8").replace('"name"', '"read-only": true, "name"'));
    const { code, stderr } = polyfs(["--http", "0", "--tokens", file, tree()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('unknown key "read-only"')]);
  });
});

describe("clients with a token", () => {
  it("of the SDK, 2.x in every mode and 1.x, work with the program", async () => {
    const file = join(tree(), "tokens.json");
    const root = tree({ "a.txt": "content of a\n" });
    const headers = { authorization: `Bearer ${newToken(file, "sdk")}` };
    const audit = join(tree(), "audit.log");
    const program = await start("--tokens", file, "--audit", audit, "--dialect", "agent-tools", root);
    const url = new URL(`${program.url}/mcp`);
    const call = { name: "read_file", arguments: { path: join(root, "a.txt") } };
    for (const mode of ["auto", "legacy", { pin: "2026-07-28" }] as const) {
      const client = new Client({ name: "sdk", version: "2" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      expect((await client.listTools()).tools.length).toBeGreaterThan(5);
      expect(JSON.stringify(await client.callTool(call))).toContain("content of a");
      await client.close();
    }
    const client = new ClientV1({ name: "sdk", version: "1" });
    await client.connect(new HttpV1(url, { requestInit: { headers } }));
    expect(JSON.stringify(await client.callTool(call))).toContain("content of a");
    await client.close();
    await expect(
      new Client({ name: "sdk", version: "2" }).connect(new StreamableHTTPClientTransport(url)),
    ).rejects.toThrow();

    program.signal("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0 });
    const lines = readFileSync(audit, "utf8")
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line));
    expect(lines.map(({ client }) => client)).toEqual([
      "sdk (sdk/2)",
      "sdk (sdk/2)",
      "sdk (sdk/2)",
      "sdk (sdk/1)",
    ]);
  });
});

describe("a server that gets a signal", () => {
  it("finishes the call that runs, and ends with 0", async () => {
    const { url, signal, ended } = await start("--allow-run=unsandboxed", "--dialect", "agent-tools", tree());
    expect((await send(`${url}/readyz`)).status).toBe(200);
    const command = "touch started; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo finished";
    const running = modern(`${url}/mcp`, "tools/call", { name: "bash", arguments: { command } });
    await expect
      .poll(async () => (await send(`${url}/metrics`)).body, { timeout: 10_000 })
      .toContain("\npolyfs_calls_running 1\n");
    signal("SIGTERM");
    expect((await running).body).toContain("finished");
    expect(await ended).toMatchObject({ code: 0 });
  });
});
