// The audit and the figures: one line for each call, with whose it was and what it changed, and no content.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultSettings } from "../../src/contract/settings.ts";
import { dialects } from "../../src/dialects/index.ts";
import { checkAudit } from "../../src/host/audit-check.ts";
import { AuditLog } from "../../src/host/audit-log.ts";
import { byTokens, serve, tokenFile, tree } from "./fixture.ts";
import { initialize, legacy, modern, send } from "./wire.ts";

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

function auditFile(maxBytes = 1_000_000) {
  const path = join(tree(), "audit.log");
  const log = new AuditLog(path, {
    maxBytes,
    about: {},
    onError: error => {
      throw error;
    },
  });
  onTestFinished(() => log[Symbol.dispose]());
  return {
    path,
    audit: (entry: Readonly<Record<string, unknown>> | string) => log.append(entry),
    /** But for the first. */
    lines: () =>
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map(line => JSON.parse(line))
        .filter(({ event }) => event !== "start"),
  };
}

describe("the audit", () => {
  it("has a line for each call: when, who, what, where, how it ended, and which change it made", async () => {
    const root = tree({ "a.txt": "SECRET in the file\n", "b.txt": "SECRET too\n" });
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann" });
    const { audit, lines, path } = auditFile();
    const { url, engine } = await serve([root], { access: byTokens(tokens), audit });
    const ids: string[] = [];
    engine.workspace.onCommit(({ id }) => void ids.push(id));
    const call = (name: string, args: unknown) =>
      modern(`${url}/mcp/agent-tools`, "tools/call", { name, arguments: args }, ann);
    await call("read_file", { path: "a.txt" });
    await call("write_file", { path: "new.txt", content: "SECRET written\n" });
    const patch = "*** Begin Patch\n*** Update File: b.txt\n-SECRET too\n+changed\n*** End Patch";
    await call("apply_patch", { patch });
    await call("read_file", { path: "missing.txt" });
    await call("nothing", {});
    await modern(`${url}/mcp/agent-tools`, "tools/list", {}, ann);

    const common = { caller: "ann", client: "ann (wire/2)", dialect: "agent-tools" };
    expect(lines()).toMatchObject([
      { ...common, tool: "read_file", paths: ["a.txt"], outcome: "ok", changes: [] },
      {
        ...common,
        tool: "write_file",
        paths: ["new.txt"],
        changes: [{ id: ids[0], files: [{ at: join(root, "new.txt"), after: sha256("SECRET written\n") }] }],
      },
      {
        ...common,
        tool: "apply_patch",
        changes: [
          {
            id: ids[1],
            files: [{ at: join(root, "b.txt"), before: sha256("SECRET too\n"), after: sha256("changed\n") }],
          },
        ],
      },
      { ...common, tool: "read_file", paths: ["missing.txt"], outcome: expect.stringMatching(/^error/) },
      { ...common, tool: "nothing", outcome: expect.stringMatching(/^error/) },
    ]);
    for (const line of lines()) {
      expect(line).toMatchObject({ address: "127.0.0.1", workspace: [root], decision: "allowed" });
      expect(line.ms).toBeGreaterThanOrEqual(0);
      expect(line.bytesIn).toBeGreaterThan(0);
    }
    expect(lines()[0].bytesOut).toBeGreaterThan(10);
    expect(ids).toHaveLength(2);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("SECRET");
    expect(text).not.toContain(ann?.authorization.slice(7));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("has a short line for each call, whatever the client chooses to send", async () => {
    const long = "\u0001".repeat(30_000);
    const { audit, lines, path } = auditFile();
    const { url } = await serve([tree({ "a.txt": "a" })], { audit });
    const read = { name: "read_file", arguments: { path: "a.txt" } };
    const client = { "io.modelcontextprotocol/clientInfo": { name: long, version: long } };
    await modern(`${url}/mcp/polyfs`, "tools/call", { ...read, _meta: client });
    const session = await initialize(`${url}/mcp/polyfs`);
    const ask = (method: string, params: object, id: unknown = 7) =>
      legacy(`${url}/mcp/polyfs`, { id, method, params }, session);
    await ask("tools/call", read, long);
    await ask("tools/call", { ...read, name: long });
    for (const odd of [{ toString: 1 }, [[long]], 7, null, undefined]) {
      await ask("tools/call", { ...read, name: odd });
      await ask("resources/read", { uri: odd });
    }
    expect(lines()).toHaveLength(13);
    for (const line of readFileSync(path, "utf8").split("\n")) expect(line.length).toBeLessThan(4000);
  });

  it("has no line over 8 KB for paths of control characters, and no token in it", async () => {
    const { audit, lines, path } = auditFile();
    const { url } = await serve([tree({ "a.txt": "a" })], { audit });
    const long = "\u0001".repeat(100_000);
    const token = `pfs_${"x".repeat(43)}`;
    const call = (args: object) =>
      modern(`${url}/mcp/polyfs`, "tools/call", { name: "read_file", arguments: args });
    await call({ path: long });
    await call({ path: `${token}/a.txt` });
    await call({ paths: Array(1000).fill(long.slice(0, 1000)), path: Array(1000).fill(long.slice(0, 1000)) });
    await modern(`${url}/mcp/polyfs`, "resources/read", { uri: `file:///${long}` });
    await send(`${url}/mcp/${token}/x`);
    expect(lines()).toHaveLength(5);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(token);
    for (const line of text.split("\n")) expect(Buffer.byteLength(line)).toBeLessThan(8192);
  });

  it("has no part of a secret that was cut before it could be known as one", async () => {
    const { audit, path } = auditFile();
    const { url } = await serve([tree({ "a.txt": "a" })], { audit });
    const secret = (length: number) =>
      `${"x".repeat(length)} https://user:hunter2${"y".repeat(9000)}@example.org/`;
    const session = await initialize(`${url}/mcp/polyfs`);
    for (const length of [60, 150, 3000]) {
      const params = { name: "read_file", arguments: { path: secret(length) } };
      await legacy(`${url}/mcp/polyfs`, { id: secret(length), method: "tools/call", params }, session);
      await legacy(
        `${url}/mcp/polyfs`,
        { id: 1, method: "tools/call", params: { name: secret(length) } },
        session,
      );
      await legacy(`${url}/mcp/polyfs`, { id: secret(length), method: secret(length) }, session);
    }
    expect(readFileSync(path, "utf8")).not.toContain("hunter2");
  });

  it("has a line for each request that was refused, with its status and where it came from", async () => {
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", effects: ["reads"], perMinute: 4 });
    const { audit, lines } = auditFile();
    const { url } = await serve([tree({ "a.txt": "" })], { access: byTokens(tokens), audit });
    const own = `${url}/mcp/agent-tools`;
    const write = { name: "write_file", arguments: { path: "a.txt", content: "x" } };
    const statuses = [
      await send(own),
      await send(own, { headers: { host: "evil.example" } }),
      await send(`${url}/nowhere`, { headers: ann }),
      await modern(own, "tools/call", write, ann),
      await send(own, { method: "POST", headers: { ...ann, "content-type": "application/json" }, body: "{" }),
      await modern(own, "no/such/method", {}, ann),
      await modern(own, "tools/list", {}, ann),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 404, 403, 400, 404, 429]);
    const from = { event: "refused", address: "127.0.0.1", decision: "denied" };
    expect(lines()).toMatchObject(statuses.map(status => ({ ...from, status })));
    expect(lines().map(({ caller }) => caller)).toEqual([undefined, undefined, ...Array(5).fill("ann")]);
  });

  it("counts the refused requests of a flood, of strangers and over a limit", async () => {
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", perMinute: 1 });
    const { audit, lines } = auditFile();
    const { url, close } = await serve([tree()], { access: byTokens(tokens), audit });
    for (let n = 0; n < 60; n++) await send(`${url}/mcp/polyfs`);
    for (let n = 0; n < 60; n++) await modern(`${url}/mcp/polyfs`, "tools/list", {}, ann);
    expect(lines().length).toBeLessThan(60);
    await close();
    const counted = (status: number) =>
      lines()
        .map(line => (line.status === status ? 1 : (line.by?.[status] ?? 0)))
        .reduce((sum, n) => sum + n, 0);
    expect([counted(401), counted(429)]).toEqual([60, 59]);
  });

  it("records the reason and the trace of every refusal, by the parser, polyfs or the SDK", async () => {
    const { audit, lines } = auditFile();
    const { url } = await serve([tree({ "a.txt": "" })], { audit });
    const { hostname, port, host } = new URL(url);
    const traceparent = `00-${"1".repeat(32)}-${"b".repeat(16)}-01`;
    const raw = (text: string) =>
      new Promise<string>((resolve, reject) => {
        let got = "";
        const socket = connect(Number(port), hostname, () => socket.write(text));
        socket.setEncoding("utf8").on("data", chunk => {
          got += chunk;
        });
        socket.on("error", reject).on("close", () => resolve(got));
      });
    const head = (first: string, ...more: string[]) =>
      `${[`${first} HTTP/1.1`, "Connection: close", ...more].join("\r\n")}\r\n\r\n`;
    const answers = [
      await raw("nonsense\r\n\r\n"),
      await raw(head("GET /", `Host: ${host}`, `X: ${"x".repeat(100_000)}`)),
      await raw(head("CONNECT example.org:443", `Host: ${host}`)),
      await raw(head("GET /mcp")),
      await raw(head("POST /mcp", `Host: ${host}`, "Expect: the-unexpected", "Content-Length: 0")),
    ];
    const statuses = answers.map(answer => Number(answer.split(" ")[1]));
    expect(statuses).toEqual([400, 431, 405, 400, 417]);
    expect(lines()).toMatchObject(
      statuses.map(status => ({ event: "refused", status, address: "127.0.0.1" })),
    );

    const params = { name: "read_file", arguments: { path: "a.txt" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const type = {
      ...(await initialize(`${url}/mcp/agent-tools`)),
      "content-type": "application/json",
      traceparent,
    };
    const accept = "application/json, text/event-stream";
    const own = `${url}/mcp/agent-tools`;
    await send(own, { method: "POST", headers: { ...type, accept: "text/html" }, body });
    await send(own, {
      method: "POST",
      headers: { ...type, accept, "mcp-protocol-version": "1999-01-01" },
      body,
    });
    await send(own, { method: "POST", headers: { ...type, accept, host: "evil.example" }, body });
    for (const line of lines())
      expect([line.reason, line.reason === "tools/call"]).toEqual([expect.stringMatching(/./), false]);
    const traced = lines().slice(-3);
    expect(traced.map(({ trace }) => trace)).toEqual(Array(3).fill("1".repeat(32)));
    expect(traced.map(({ rpc }) => rpc)).toEqual(["tools/call", "tools/call", undefined]);
  });

  it("has the address of a request whose connection is reset, or whose body is cut off", async () => {
    const { audit, lines } = auditFile();
    const { url } = await serve([tree()], { audit, maxBodyBytes: 1000 });
    const { hostname, port, host } = new URL(url);
    const unexpected: unknown[] = [];
    const note = (error: unknown) => void unexpected.push(error);
    process.on("uncaughtException", note);
    onTestFinished(() => void process.off("uncaughtException", note));
    const last = (status: number) =>
      expect.poll(() => lines().at(-1)).toMatchObject({ event: "refused", status, address: "127.0.0.1" });
    for (let n = 0; n < 5; n++) {
      const socket = connect(Number(port), hostname).on("error", () => {});
      await once(socket, "connect");
      await setTimeout(5); // the server has accepted it
      socket.write(`CONNECT example.org:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      socket.resetAndDestroy();
      await expect.poll(() => lines().length).toBe(n + 1);
      await last(405);
    }
    const body = request(`${url}/mcp/polyfs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    const answered = once(body, "response");
    body.write(JSON.stringify("x".repeat(2000))); // without a length, so that it is read
    const [{ statusCode }] = (await answered) as [IncomingMessage];
    expect(statusCode).toBe(413);
    await last(413);
    body.destroy();
    expect(unexpected).toEqual([]);
  });

  it("names the trace of a call, from its header or its envelope", async () => {
    const { audit, lines } = auditFile();
    const { url } = await serve([tree({ "a.txt": "" })], { audit });
    const trace = (digit: string) => `00-${digit.repeat(32)}-${"b".repeat(16)}-01`;
    const read = { name: "read_file", arguments: { path: "a.txt" } };
    const own = `${url}/mcp/agent-tools`;
    await modern(own, "tools/call", read, { traceparent: trace("1") });
    const session = await initialize(own);
    const params = { ...read, _meta: { traceparent: trace("2") } };
    await legacy(own, { id: 1, method: "tools/call", params }, { ...session, traceparent: trace("3") });
    expect(lines().map(line => line.trace)).toEqual(["1".repeat(32), "2".repeat(32)]);
  });

  it("has one line, with its code, for each request that a method refuses, whatever its status", async () => {
    const root = tree();
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann" });
    const { audit, lines } = auditFile();
    const { url } = await serve([root], { access: byTokens(tokens), audit });
    const own = `${url}/mcp/polyfs`;
    const session = { ...ann, ...(await initialize(own, ann)) };
    const outside = "file:///etc/passwd";
    const trace = { traceparent: `00-${"1".repeat(32)}-${"b".repeat(16)}-01` };
    const notifications = { resourceSubscriptions: [outside] };
    const answers = [
      await legacy(own, { id: 7, method: "resources/subscribe", params: { uri: outside } }, session),
      await legacy(own, { id: 7, method: "no/such/method", params: {} }, session),
      await modern(own, "subscriptions/listen", { notifications }, { ...ann, ...trace }),
      await modern(own, "tools/list", { cursor: "x" }, ann),
      await modern(own, "no/such/method", {}, ann),
    ];
    expect(lines()).toHaveLength(answers.length);
    for (const [index, { status, message }] of answers.entries()) {
      const code = status < 400 ? { code: message.error?.code } : {};
      expect(lines()[index]).toMatchObject({ event: "refused", caller: "ann", decision: "denied", ...code });
    }
    expect(lines()[0]).toMatchObject({ address: "127.0.0.1", request: "7", rpc: "resources/subscribe" });
    expect(lines()[2]).toMatchObject({ rpc: "subscriptions/listen", trace: "1".repeat(32) });
  });

  it("does not call a request for a path outside the roots allowed, in any dialect", async () => {
    const { audit, lines } = auditFile();
    const root = tree({ "a.txt": "" });
    const outside = join(tree({ "b.txt": "" }), "b.txt");
    const { url } = await serve([root], { audit });
    const denied = { event: "call", decision: "denied", fault: "outside_roots" };
    const read = (path: string) => {
      const uri = `file://${path}`;
      return modern(`${url}/mcp/polyfs`, "resources/read", { uri }, { "mcp-name": uri });
    };
    await read(outside);
    expect(lines().at(-1)).toMatchObject({ ...denied, tool: "resources/read" });
    await read(join(root, "missing"));
    expect(lines().at(-1)).toMatchObject({ decision: "allowed", fault: "not_found" });
    let calls = 0;
    for (const load of Object.values(dialects)) {
      const { name: dialect, tools } = await load();
      for (const { name, paths = [], input, effect } of tools) {
        const required = input.required ?? [];
        const isSimple = required.length > 0 && required.every(one => paths.includes(one as never));
        if (effect === "runs" || !isSimple) continue;
        const given = required.map(one => [
          one,
          input.properties?.[one]?.type === "array" ? [outside] : outside,
        ]);
        const params = { name, arguments: Object.fromEntries(given) };
        const { body } = await modern(`${url}/mcp/${dialect}`, "tools/call", params);
        expect(body).not.toBe("");
        // Its tools want a chosen workspace first, which needs a session.
        const expected = dialect === "file-editor" ? { fault: expect.any(String) } : denied;
        expect([dialect, name, lines().at(-1)]).toMatchObject([dialect, name, expected]);
        calls++;
      }
    }
    expect(calls).toBeGreaterThan(10);
  });

  it("has no line that is much longer than the request for a path of many directories", async () => {
    const root = tree();
    const { audit, lines, path } = auditFile(100_000_000);
    const { url } = await serve([root], { audit });
    const call = (name: string, args: object) =>
      modern(`${url}/mcp/polyfs`, "tools/call", { name, arguments: args });
    const deep = `${"d/".repeat(1200)}f.txt`;
    const written = await call("write_file", { path: deep, content: "x" });
    expect(written.message.result).toMatchObject({ content: [{ text: expect.stringContaining("f.txt") }] });
    expect(lines()[0].changes).toMatchObject([
      { parents: [join(root, "d")], files: [{ at: join(root, deep), after: sha256("x") }] },
    ]);
    await call("delete_path", { path: "d", recursive: true });
    expect(lines()[1].changes).toMatchObject([
      { files: [{ at: join(root, "d"), effect: "removed", before: expect.stringMatching(/^directory:/) }] },
    ]);
    for (const line of readFileSync(path, "utf8").split("\n")) expect(line.length).toBeLessThan(20_000);
  });

  it("has no line of megabytes for a removed directory of links with long targets", async () => {
    const root = tree({ "d/a.txt": "a" });
    for (let i = 0; i < 600; i++) symlinkSync("t".repeat(4000), join(root, "d", `link${i}`));
    const { audit, lines, path } = auditFile(100_000_000);
    const { url } = await serve([root], { audit });
    await modern(`${url}/mcp/polyfs`, "tools/call", {
      name: "delete_path",
      arguments: { path: "d", recursive: true },
    });
    expect(lines()[0].changes).toMatchObject([{ files: [{ before: expect.stringMatching(/^directory:/) }] }]);
    expect(statSync(path).size).toBeLessThan(20_000);
  });

  it("lists a removed directory by name, a file named __proto__ too", async () => {
    const root = tree({ "d/__proto__": "a", "d/constructor/__proto__": "b", "e/__proto__/c": "c" });
    const { audit, lines, path } = auditFile();
    const { url } = await serve([root], { audit });
    const call = (name: string, args: object) =>
      modern(`${url}/mcp/polyfs`, "tools/call", { name, arguments: args });
    await call("delete_path", { path: "d", recursive: true });
    await call("delete_path", { path: "e", recursive: true });
    await call("write_file", { path: "__proto__", content: "d" });
    const listed = lines().map(({ changes: [{ files }] }) => Object.entries(files[0].before ?? {}));
    expect(listed.map(entries => entries.sort())).toEqual([
      [
        ["__proto__", sha256("a")],
        ["constructor/", "directory"],
        ["constructor/__proto__", sha256("b")],
      ],
      [
        ["__proto__/", "directory"],
        ["__proto__/c", sha256("c")],
      ],
      [],
    ]);
    expect(lines()[2].changes[0].files[0]).toMatchObject({ at: join(root, "__proto__"), after: sha256("d") });
    expect(checkAudit([path]).problems).toEqual([]);
  });

  it("has a line for each call that is cancelled, also while it waits for its turn", async () => {
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", concurrency: 1, effects: ["reads", "writes", "runs"] });
    const { audit, lines } = auditFile();
    const settings = () => ({ ...defaultSettings, commands: "unsandboxed" as const });
    const { url } = await serve([tree()], { access: byTokens(tokens), audit, settings });
    const leaving = new AbortController();
    const calls = [1, 2, 3].map(() =>
      modern(
        `${url}/mcp/agent-tools`,
        "tools/call",
        { name: "bash", arguments: { command: "sleep 60" } },
        ann,
        leaving.signal,
      ).catch(() => undefined),
    );
    await expect
      .poll(async () => (await send(`${url}/metrics`, { headers: ann })).body)
      .toMatch(/^polyfs_calls_waiting 2$/m);
    leaving.abort();
    await Promise.all(calls);
    await expect
      .poll(() => lines().map(({ outcome }) => outcome))
      .toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  it("says what a command changed that the history does not cover, as its answer does", async () => {
    const root = tree({ "a.txt": "a", ".git/HEAD": "x", "node_modules/m/i.js": "y" });
    const { audit, lines } = auditFile();
    const settings = () => ({ ...defaultSettings, commands: "unsandboxed" as const });
    const { url } = await serve([root], { audit, settings });
    const session = await initialize(`${url}/mcp/polyfs`);
    const run = async (command: string, more: object = {}) => {
      const params = { name: "run_command", arguments: { command, ...more } };
      const reply = await legacy(`${url}/mcp/polyfs`, { id: 1, method: "tools/call", params }, session);
      return { answer: reply.body, line: lines().at(-1) };
    };
    const inside = await run("echo more > .git/HEAD; echo b > a.txt");
    expect(inside.answer).toContain(".git/");
    expect(inside.line).toMatchObject({
      changes: [{ files: [{ at: join(root, "a.txt") }] }],
      uncovered: { inside: [`${join(root, ".git")}/`] },
    });
    expect(Object.keys(inside.line.uncovered)).toEqual(["inside"]);
    const large = await run("head -c 5000000 /dev/zero > large; mkfifo pipe");
    expect(large.answer).toContain("not kept");
    expect(large.line.uncovered).toEqual({ notKept: [join(root, "large"), join(root, "pipe")] });
    const many = await run("for i in $(seq 300); do mkfifo p$i; done");
    expect(many.line.uncovered.notKept.at(-1)).toEqual({
      more: 301 - many.line.uncovered.notKept.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(JSON.stringify(many.line).length).toBeLessThan(4096);
    expect((await run("true", { background: true })).line.uncovered).toEqual({ unknown: "background" });
    expect((await run("echo c > a.txt")).line.uncovered).toBeUndefined();
  });

  it("says for every tool that runs commands whether what they changed is covered", async () => {
    const settings = () => ({ ...defaultSettings, commands: "unsandboxed" as const });
    const { audit, lines } = auditFile();
    const { url } = await serve([tree({ ".git/HEAD": "x" })], { audit, settings });
    const all = await Promise.all(Object.values(dialects).map(load => load()));
    const starters = all.flatMap(({ name: dialect, tools }) =>
      tools.flatMap(({ name, effect, input }) =>
        effect === "runs" && input.properties?.command !== undefined ? [{ dialect, name }] : [],
      ),
    );
    expect(starters.length).toBeGreaterThan(2);
    for (const { dialect, name } of starters) {
      const params = { name, arguments: { command: "echo $$ >> .git/HEAD" } };
      await modern(`${url}/mcp/${dialect}`, "tools/call", params);
      expect(lines().at(-1)).toMatchObject({ dialect, tool: name, uncovered: expect.anything() });
    }
  });

  it("is rotated, keeps five old files, and never cuts a line", () => {
    const { path, audit, lines } = auditFile(300);
    for (let n = 0; n < 50; n++) audit({ n, filler: "x".repeat(30) });
    const names = readdirSync(join(path, "..")).sort();
    expect(names).toEqual(["audit.log", ...[1, 2, 3, 4, 5].map(age => `audit.log.${age}`)]);
    const all = [5, 4, 3, 2, 1].map(age => readFileSync(`${path}.${age}`, "utf8")).join("");
    const numbers = all
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line).n);
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0] + index));
    expect(lines().at(-1).n).toBe(49);
  });
});

describe("the figures", () => {
  it("count calls, errors, time and bytes, and show what is open", async () => {
    const { url } = await serve([tree({ "a.txt": "x".repeat(1000) })]);
    const read = (path: string) =>
      modern(`${url}/mcp/agent-tools`, "tools/call", { name: "read_file", arguments: { path } });
    await read("a.txt");
    await read("a.txt");
    await read("missing.txt");
    await send(`${url}/mcp/none`);
    const { body, headers } = await send(`${url}/metrics`);
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4");
    const labels = 'dialect="agent-tools",tool="read_file"';
    expect(body).toContain(`polyfs_calls_total{${labels},outcome="ok"} 2`);
    expect(body).toMatch(/polyfs_calls_total\{.*outcome="error.*"\} 1/);
    expect(body).toContain(`polyfs_call_seconds_count{${labels}} 3`);
    expect(body).toContain(`polyfs_call_seconds_bucket{${labels},le="+Inf"} 3`);
    expect(body).toContain('polyfs_refused_total{status="404"} 1');
    expect(Number(/^polyfs_answered_bytes_total (\d+)$/m.exec(body)?.[1])).toBeGreaterThan(2000);
    expect(Number(/^polyfs_open_files (\d+)$/m.exec(body)?.[1])).toBeGreaterThan(5);
    for (const line of body.trimEnd().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+)$/);
  });
});
