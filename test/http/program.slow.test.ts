// The program that users start, over HTTP: what it refuses, tokens from the command line, clients with a token,
// and how it ends.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect as connectPlain, createServer } from "node:net";
import { dirname, join } from "node:path";
import { connect } from "node:tls";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../src/mcp/log.ts";
import { polyfs } from "../cli/program.ts";
import { tree } from "./fixture.ts";
import { startOverHttp as start, startWithFewFiles } from "./started-program.ts";
import { modern, send } from "./wire.ts";

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

describe("a server without tokens", () => {
  it("has no request limit by default; with --max-requests-per-minute, all callers share one", async () => {
    const statuses = async (...args: readonly string[]) => {
      const { url } = await start(...args, tree());
      const calls = Array.from({ length: 8 }, () => modern(`${url}/mcp`, "tools/list"));
      return (await Promise.all(calls)).map(({ status }) => status).sort();
    };
    expect(new Set(await statuses())).toEqual(new Set([200]));
    const limited = await statuses("--max-requests-per-minute", "5");
    expect(limited).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  });
});

describe("polyfs token", () => {
  it("adds a token that is printed once and stored as a hash, and removes it", async () => {
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
    [["add", "x", "--expires", "2020-01-01"], "is in the past"],
    [["add", "x", "--expires", "0d"], "is in the past"],
    [["add", "x", "--expires", "2127-02-31"], "--expires needs"],
    [["add", "x", "--expires", "2127-13-01"], "--expires needs"],
    [["add", "x", "--expires", "2127-04-31T10:00:00Z"], "--expires needs"],
    [["add", "x", "--expires", "30"], "--expires needs"],
    [["add", "x", "--effects", "reads", "--tools", "write_file"], "--tools write_file has no effect"],
    [["add", "x", "--dialect", "polyfs", "--tools", "run_command"], "--tools run_command has no effect"],
    [["list", "--effects", "reads"], "--effects has no effect"],
    [["remove", "x", "--expires", "2d"], "--expires has no effect"],
    [["rotate", "x", "--tools", "read_file"], "--tools has no effect"],
    [["add", "x", "--read", "/no/such/directory"], "no such directory"],
    [["add", "x", "--write", "/etc/hostname"], "not a directory"],
    [["add", "x", "--read", "/etc", "--write", "/etc/"], "/etc is named twice"],
    [
      ["add", "x", "--workspace", "main", "--write", "/etc"],
      "--workspace has no effect with --read or --write",
    ],
    [["add", "x", "--tools", "read_file,raed_file"], 'no tool "raed_file"'],
    [["add", "x", "--dialect", "fs", "--tools", "write_file"], 'no tool "write_file" in fs'],
    [["rotate", "nobody"], "cannot be read"],
    [["steal"], "there are add, rotate, list and remove"],
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

describe("over TLS", () => {
  it("a certificate is served, and its renewal too, without a restart", async () => {
    const directory = tree();
    const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    const renew = (name: string) =>
      execFileSync(
        "openssl",
        [
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:P-256",
          "-nodes",
          "-days",
          "1",
        ].concat(["-subj", `/CN=${name}`, "-keyout", key, "-out", cert]),
        { stdio: "ignore" },
      );
    const served = async (url: string) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      await once(socket, "secureConnect");
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return CN;
    };
    renew("first");
    const { url, signal, said } = await start("--tls-cert", cert, "--tls-key", key, tree());
    expect(url).toMatch(/^https:/);
    expect(await served(url)).toBe("first");
    for (const [times, content] of ["broken", ""].entries()) {
      writeFileSync(cert, content);
      signal("SIGHUP");
      await expect.poll(() => said().split("the old one stays").length - 1).toBe(times + 1);
      expect(await served(url)).toBe("first");
    }
    renew("second");
    signal("SIGHUP");
    await expect.poll(() => served(url)).toBe("second");
    expect(said()).not.toMatch(/^ +at /m);
  });
});

describe("the figures", () => {
  it("are served at an address of their own, and then nowhere else", async () => {
    const { url, said } = await start("--metrics-listen", "0", tree());
    const [, figures = ""] = /metrics=(\S+)/.exec(said()) ?? [];
    expect((await send(`${figures}/metrics`)).body).toContain("polyfs_sessions 0");
    expect((await send(`${figures}/readyz`)).status).toBe(200);
    expect((await send(`${figures}/mcp`)).status).toBe(404);
    expect((await send(`${url}/metrics`)).status).toBe(404);
  });

  it("are not for a page whose name was pointed at this machine, or of another origin", async () => {
    const { said } = await start("--metrics-listen", "0", "--allow-host", "files.example", tree());
    const [, figures = ""] = /metrics=(\S+)/.exec(said()) ?? [];
    const status = async (headers: Record<string, string>) =>
      (await send(`${figures}/metrics`, { headers })).status;
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ origin: "http://evil.example" })).toBe(403);
    expect(await status({ host: "files.example:9464" })).toBe(200);
    expect(await status({ host: "localhost" })).toBe(200);
  });
});

describe("the log", () => {
  it("has one line for a tokens file or a policy that was broken, without a stack trace", async () => {
    const directory = tree();
    const [tokens, policy] = [join(directory, "tokens.json"), join(directory, "policy.json")];
    polyfs(["token", "add", "ann", "--tokens", tokens]);
    writeFileSync(policy, '{"rules":[]}');
    const { signal, said } = await start("--tokens", tokens, "--policy", policy, tree());
    const before = said().split("\n").length;
    for (const file of [tokens, policy]) writeFileSync(file, "{broken");
    signal("SIGHUP");
    await expect.poll(() => said()).toMatch(/old tokens stay valid: .*\n(?:.*\n)*.*old rules stay in force/);
    const lines = said()
      .trimEnd()
      .split("\n")
      .slice(before - 1);
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+ polyfs \w+: /);
  });

  it("is JSON in every line if asked for, also where the start fails or history is temporary", () => {
    const root = tree({ "policy.json": "{" });
    const json = ["--log-format", "json"];
    const starts = [
      [...json, "--store-trust-ms", "5", root],
      [...json, "--policy", join(root, "policy.json"), root],
      [...json, join(root, "missing")],
      [...json, root],
    ];
    for (const args of starts) {
      const { stderr } = polyfs(args, { env: { HOME: "/nonexistent", XDG_STATE_HOME: "" } });
      for (const line of stderr.trimEnd().split("\n"))
        expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
    }
  });

  it("has no field without a value", () => {
    const lines: string[] = [];
    const log = createLog("debug", line => lines.push(line));
    log.debug("refused", undefined, { address: "::1", caller: undefined });
    expect(lines).toEqual([expect.stringMatching(/polyfs debug: refused address=::1\n$/)]);
  });

  it("says on SIGHUP that the policy is broken, before any call", async () => {
    const policy = join(tree(), "policy.json");
    writeFileSync(policy, JSON.stringify({ rules: [{ paths: ["*.pem"], access: "deny" }] }));
    const { signal, said } = await start("--policy", policy, tree());
    writeFileSync(policy, "{");
    signal("SIGHUP");
    await expect.poll(said).toContain("the old rules stay in force");
  });

  it("has one line for the start, which says what is served, where and how; as JSON if asked for", async () => {
    const root = tree();
    const { said } = await start("--log-format", "json", root);
    const [line = ""] = said().split("\n");
    expect(JSON.parse(line)).toMatchObject({
      level: "info",
      message: expect.stringMatching(/^started at http:.*\/mcp$/),
      serves: `${root} (read-write)`,
      policy: expect.any(String),
      callers: "every user and program of this machine",
    });
    const text = polyfs(["--dialect", "agent-tools", "--allow-run=unsandboxed", root]).stderr;
    expect(text).toMatch(/^\S+Z polyfs info: started at stdio .*commands=unsandboxed/m);
    expect(polyfs(["--dialect", "agent-tools", root]).stderr).toContain(" commands=unsandboxed");
    expect(polyfs(["--dialect", "agent-tools", "--read-only", root]).stderr).toContain(" commands=off");
    expect(polyfs([root]).stderr).toContain(" commands=off");
    expect(JSON.parse(line)).toMatchObject({ commands: "off" });
    const sandboxed = polyfs(["--allow-run", root]);
    if (sandboxed.code === 0)
      expect(sandboxed.stderr).toMatch(/commands=sandboxed sandbox="(bubblewrap|seatbelt) .*network=none/);
    else expect(sandboxed.stderr).toContain("there is no sandbox for commands");
    const input =
      '{"jsonrpc":"2.0","id":"seven","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\n';
    const told = polyfs(["--log-level", "debug", "--log-format", "json", root], { input }).stderr.split("\n");
    expect(told.map(line => (line === "" ? {} : JSON.parse(line)))).toContainEqual(
      expect.objectContaining({ level: "debug", message: "answered server/discover", request: '"seven"' }),
    );
    expect(polyfs(["--log-level", "error", root]).stderr).toBe("");
  });
});

describe("polyfs token rotate", () => {
  it.each(["tokens.json", "link.json"])(
    "makes a new secret in %s, and the old one is refused",
    async name => {
      const file = join(tree(), "tokens.json");
      const named = join(dirname(file), name);
      if (name === "link.json") symlinkSync("tokens.json", named);
      const root = tree({ "a.txt": "content of a" });
      const old = newToken(file, "ci", "--read", root, "--dialect", "agent-tools");
      const { url } = await start("--tokens", file);
      const { stdout, code } = polyfs(["token", "rotate", "ci", "--tokens", named]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^pfs_/)]);
      const read = { name: "read_file", arguments: { path: "a.txt" } };
      const answer = (secret: string) =>
        modern(`${url}/mcp`, "tools/call", read, { authorization: `Bearer ${secret}` });
      expect((await answer(old)).status).toBe(401);
      expect((await answer(stdout.trim())).body).toContain("content of a");
    },
  );
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
      .map(line => JSON.parse(line))
      .filter(({ event }) => event === "call");
    expect(lines.map(({ client }) => client)).toEqual([
      "sdk (sdk/2)",
      "sdk (sdk/2)",
      "sdk (sdk/2)",
      "sdk (sdk/1)",
    ]);
  });
});

describe("a server that gets a signal", () => {
  it("to hang up closes a token whose directory is gone or written in other letters, and no other", async () => {
    const root = tree({ "Docs/a.txt": "content of a" });
    const file = join(tree(), "tokens.json");
    const all = { authorization: `Bearer ${newToken(file, "all")}` };
    const part = { authorization: `Bearer ${newToken(file, "part", "--read", join(root, "Docs"))}` };
    const { url, signal, said } = await start("--tokens", file, "--log-level", "info", root);
    const read = async (who: Record<string, string>) => {
      const params = { name: "read_file", arguments: { path: join(root, "Docs/a.txt") } };
      const { status, body } = await modern(`${url}/mcp`, "tools/call", params, who);
      return [status, body.includes("content of a")];
    };
    const tokens = readFileSync(file, "utf8");
    for (const [times, name] of ["Docs", "docs", "Gone", "Docs"].entries()) {
      writeFileSync(
        file,
        tokens.replaceAll(JSON.stringify(join(root, "Docs")), JSON.stringify(join(root, name))),
      );
      signal("SIGHUP");
      await expect.poll(() => said().split("rereading on SIGHUP").length - 1).toBe(times + 1);
      const isThere = existsSync(join(root, name));
      expect([name, await read(part)]).toEqual([name, isThere ? [200, true] : [403, false]]);
      expect([name, await read(all)]).toEqual([name, [200, true]]);
    }
    expect(said()).toContain("the directories of token part cannot be served");
  });

  it("to hang up rereads its files and goes on serving, while a call runs", async () => {
    const root = tree({ "a.txt": "content" });
    const audit = join(tree(), "audit.log");
    const file = join(tree(), "tokens.json");
    const who = { authorization: `Bearer ${newToken(file, "ann", "--effects", "reads,writes,runs")}` };
    const dialect = ["--dialect", "agent-tools", "--allow-run=unsandboxed"];
    const { url, signal, ended } = await start("--tokens", file, "--audit", audit, ...dialect, root);
    const command = "touch started; sleep 1; echo finished";
    const running = modern(`${url}/mcp`, "tools/call", { name: "bash", arguments: { command } }, who);
    await expect.poll(() => existsSync(join(root, "started"))).toBe(true);
    renameSync(audit, `${audit}.1`);
    signal("SIGHUP");
    expect((await running).body).toContain("finished");
    await expect.poll(() => existsSync(audit) && readFileSync(audit, "utf8")).toContain('"tool":"bash"');
    signal("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    expect(polyfs(["audit", "verify", audit])).toMatchObject({ code: 0 });
  });

  it("records a call that a second signal stops", async () => {
    const [root, audit] = [tree(), join(tree(), "audit.log")];
    const options = ["--audit", audit, "--dialect", "agent-tools", "--allow-run=unsandboxed"];
    const { url, signal, ended } = await start(...options, root);
    const command = "touch started; sleep 600";
    const running = modern(`${url}/mcp`, "tools/call", { name: "bash", arguments: { command } }).catch(
      () => {},
    );
    await expect.poll(() => existsSync(join(root, "started"))).toBe(true);
    signal("SIGTERM");
    await expect
      .poll(() =>
        send(`${url}/readyz`).then(
          ({ status }) => status,
          () => 503,
        ),
      )
      .toBe(503);
    signal("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    await running;
    expect(readFileSync(audit, "utf8")).toMatch(/"tool":"bash".*"outcome":"cancelled"/);
  });

  it("answers and ends also if nobody reads its log any more", async () => {
    const { url, signal, closeLog, ended } = await start("--log-level", "debug", tree());
    closeLog();
    for (let i = 0; i < 5; i++) {
      expect((await send(`${url}/nowhere`)).status).toBe(404); // is logged
      expect((await send(`${url}/readyz`)).status).toBe(200);
    }
    signal("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("finishes the call that runs, and ends with 0", async () => {
    const { url, signal, ended } = await start("--allow-run=unsandboxed", "--dialect", "agent-tools", tree());
    expect((await send(`${url}/readyz`)).status).toBe(200);
    const command = "touch started; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo finished";
    const running = modern(`${url}/mcp`, "tools/call", { name: "bash", arguments: { command } });
    await expect
      .poll(async () => (await send(`${url}/metrics`)).body)
      .toContain("\npolyfs_calls_running 1\n");
    signal("SIGTERM");
    expect((await running).body).toContain("finished");
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe.runIf(process.platform === "linux")("connections of strangers", () => {
  it("leave enough descriptors for the files of a call", async () => {
    const { url } = await startWithFewFiles(300, tree({ "a.txt": "hello" }));
    // The client keeps its connection: new ones are turned away by then.
    const read = () =>
      modern(`${url}/mcp/fs`, "tools/call", { name: "fs.read_file", arguments: { path: "a.txt" } });
    const before = (await read()).body;
    expect(before).toContain("hello");
    const strangers = Array.from({ length: 400 }, () =>
      connectPlain(Number(new URL(url).port), "127.0.0.1").on("error", () => {}),
    );
    onTestFinished(() => {
      for (const socket of strangers) socket.destroy();
    });
    await Promise.all(
      strangers.map(socket => Promise.race([once(socket, "connect"), once(socket, "close")])),
    );
    // The server accepts them one by one, between calls.
    for (let round = 0; round < 50; round++) expect((await read()).body).toBe(before);
  });
});
