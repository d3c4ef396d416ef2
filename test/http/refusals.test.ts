// Each request that must not be served, one by one, and the status that says why.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Tokens } from "../../src/mcp/auth/tokens.ts";
import { createLog } from "../../src/mcp/log.ts";
import { byTokens, serve, tokenFile, tree } from "./fixture.ts";
import { initialize, legacy, modern, send } from "./wire.ts";

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const read = (path: string) => ({ name: "read_file", arguments: { path } });

describe("a request that is not for this server", () => {
  it.each([
    ["evil.example", 403],
    ["localhost.evil.example", 403],
    ["127.0.0.1.evil.example:80", 403],
    ["localhost", 200],
    ["LOCALHOST:1234", 200],
    ["[::1]:9", 200],
  ])("addressed to %j is answered %i", async (host, status) => {
    const { url } = await serve([tree()]);
    const reply = await modern(`${url}/mcp/fs`, "tools/list", {}, { host });
    expect(reply.status).toBe(status);
  });

  it("goes by the names that the start allows, with their port where one is given", async () => {
    const { url } = await serve([tree()], { hosts: ["files.example", "other.example:8443"] });
    const status = async (host: string) => (await modern(`${url}/mcp/fs`, "tools/list", {}, { host })).status;
    expect(await status("files.example:9")).toBe(200);
    expect(await status("other.example:8443")).toBe(200);
    expect(await status("other.example:8444")).toBe(403);
  });

  it.each([
    ["https://evil.example", 403],
    ["null", 403],
    ["http://localhost.evil.example", 403],
    ["file://", 403],
    ["http://localhost", 403],
    ["http://localhost:3000", 403],
    ["http://127.0.0.1:3000", 403],
    ["http://[::1]:3000", 403],
    ["http://localhost:{port}", 403],
    ["http://127.0.0.1:{port}", 200],
    ["http://inspector.example:6274", 200],
    ["http://inspector.example:6275", 403],
    ["https://inspector.example:6274", 403],
  ])("from a page at %s is answered %i", async (page, status) => {
    const { url } = await serve([tree()], { origins: ["http://inspector.example:6274"] });
    // Another port of this machine is another page: any program may serve it.
    const origin = page.replace("{port}", new URL(url).port);
    const reply = await modern(`${url}/mcp/fs`, "tools/list", {}, { origin });
    expect(reply.status).toBe(status);
    expect(reply.headers["access-control-allow-origin"]).toBe(status === 200 ? origin : undefined);
  });

  it.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["same-origin", 200],
    ["none", 200],
  ])("from a browser that gives no Origin and says %s is answered %i", async (site, status) => {
    const { url } = await serve([tree()]);
    const reply = await modern(`${url}/mcp/fs`, "tools/list", {}, { "sec-fetch-site": site });
    expect(reply.status).toBe(status);
  });

  it("gets no CORS permission for any page when a browser asks first", async () => {
    const { url } = await serve([tree()], { origins: ["http://localhost:1"] });
    const ask = (origin: string) => send(`${url}/mcp`, { method: "OPTIONS", headers: { origin } });
    expect((await ask("https://evil.example")).status).toBe(403);
    const known = await ask("http://localhost:1");
    expect(known.status).toBe(204);
    expect(known.headers["access-control-allow-origin"]).toBe("http://localhost:1");
    expect((await send(`${url}/mcp`, { method: "OPTIONS" })).headers).not.toHaveProperty(
      "access-control-allow-origin",
    );
  });
});

describe("a malformed request", () => {
  it.each([
    ["as text/plain", { "content-type": "text/plain" }, "{}", 415],
    ["as a form", { "content-type": "application/x-www-form-urlencoded" }, "a=b", 415],
    ["that is not JSON", {}, "{", 400],
    ["that is not UTF-8", {}, Buffer.from([0x22, 0xff, 0x22]), 400],
    ["a list of a third of a million objects", {}, `[${"{},".repeat(333_333)}{}]`, 400],
    ["a list of a third of a million lists", {}, `[${"[],".repeat(333_333)}[]]`, 400],
    ["a list of a third of a million numbers", {}, `[${"0,".repeat(333_333)}0]`, 400],
    ["an object of a third of a million members", {}, `{${'"":0,'.repeat(333_333)}"":0}`, 400],
    ["a batch of a thousand", {}, `[${'{"jsonrpc":"2.0","method":"x"},'.repeat(1000)}{}]`, 400],
    ["nested a hundred thousand deep", {}, "[".repeat(100_000) + "]".repeat(100_000), 400],
    [
      "nested deep in a message",
      {},
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(5000)}1${"}".repeat(5001)}`,
      400,
    ],
    ["over the limit", {}, `"${"x".repeat(2000)}"`, 413],
  ])("%s is refused", async (_, headers, body, status) => {
    const { url } = await serve([tree()], { maxBodyBytes: status === 413 ? 1000 : 4_000_000 });
    const reply = await send(`${url}/mcp/fs`, { method: "POST", headers: { ...json, ...headers }, body });
    expect(reply.status).toBe(status);
    expect(reply.message.error?.code).toBe(status === 400 ? -32700 : -32000);
    expect((await modern(`${url}/mcp/fs`, "tools/list")).status).toBe(200);
  });

  it("over the limit in chunks, without a length, is refused too", async () => {
    const { url } = await serve([tree()], { maxBodyBytes: 1000 });
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    const piece = `200\r\n${"x".repeat(512)}\r\n`;
    socket.write(
      `POST /mcp/fs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${piece.repeat(4)}`,
    );
    const [answer] = await new Promise<Buffer[]>(resolve => socket.once("data", data => resolve([data])));
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  it("with two lengths that disagree is refused by the parser", async () => {
    const { url } = await serve([tree()]);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    const [answer] = await new Promise<Buffer[]>(resolve => socket.once("data", data => resolve([data])));
    expect(String(answer)).toMatch(/^HTTP\/1.1 400 /);
    socket.destroy();
  });

  it("to another path, by another method, or for an unknown dialect gets its own status", async () => {
    const { url } = await serve([tree()]);
    expect((await send(`${url}/`)).status).toBe(404);
    expect((await send(`${url}/mcp/fs/more`)).status).toBe(404);
    expect((await modern(`${url}/mcp/constructor`, "tools/list")).status).toBe(404);
    const put = await send(`${url}/mcp/fs`, { method: "PUT", body: "x" });
    expect([put.status, put.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
    // At /mcp itself, no dialect was chosen.
    expect((await modern(`${url}/mcp`, "tools/list")).message.error?.message).toContain("/mcp/fs");
  });
});

describe("a caller", () => {
  const day = 86_400_000;

  it("without a token, with a wrong one, and with one that has expired gets 401", async () => {
    const tokens = tokenFile();
    const { good, old } = tokens.write(
      { name: "good" },
      { name: "old", expires: new Date(Date.now() - day).toISOString() },
    );
    const { url, logged } = await serve([tree()], { access: byTokens(tokens) });
    const list = (headers = {}) => modern(`${url}/mcp/fs`, "tools/list", {}, headers);
    const without = await list();
    expect([without.status, without.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    for (const authorization of [
      "Bearer x",
      `${good?.authorization}x`,
      "Basic eDp5",
      "Bearer",
      old?.authorization,
    ]) {
      const reply = await list({ authorization });
      expect(reply.status).toBe(401);
      expect(reply.message.result).toBeUndefined();
    }
    expect((await list(old)).headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
    expect((await list(good)).status).toBe(200);
    expect((await send(`${url}/metrics`)).status).toBe(401);
    expect((await send(`${url}/healthz`)).body).toBe("ok\n");
    for (const secret of [good, old].map(header => header?.authorization.slice(7) ?? "none"))
      expect(logged.join("")).not.toContain(secret);
  });

  it("cannot upload anything before it is authenticated", async () => {
    const tokens = tokenFile();
    tokens.write({ name: "a" });
    const { url } = await serve([tree()], { access: byTokens(tokens) });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      "POST /mcp/fs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{",
    );
    const answer = await new Promise<string>(resolve => socket.once("data", data => resolve(String(data))));
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  it("reaches the directories of its own token, and nothing of another's", async () => {
    const root = tree({ "a/mine.txt": "mine", "b/theirs.txt": "theirs" });
    const tokens = tokenFile();
    const { ann, bob } = tokens.write(
      { name: "ann", roots: [{ path: join(root, "a"), access: "read-write" }] },
      { name: "bob", roots: [{ path: join(root, "b"), access: "read-only" }] },
    );
    const { url } = await serve([root], { access: byTokens(tokens) });
    const get = async (path: string, who = {}) => {
      const reply = await modern(`${url}/mcp/agent-tools`, "tools/call", read(path), who);
      return JSON.stringify(reply.message);
    };
    expect(await get(join(root, "a/mine.txt"), ann)).toContain("mine");
    expect(await get("mine.txt", ann)).toContain("mine");
    // Also in contracts where relative paths start at the working directory.
    const relative = { name: "read_file", arguments: { path: "mine.txt" } };
    for (const dialect of ["reference", "fs-context"]) {
      const reply = await modern(`${url}/mcp/${dialect}`, "tools/call", relative, ann);
      expect(JSON.stringify(reply.message.result)).toContain("mine");
    }
    expect(await get(join(root, "b/theirs.txt"), bob)).toContain("theirs");
    for (const path of [join(root, "b/theirs.txt"), "../b/theirs.txt", "theirs.txt"]) {
      const answer = await get(path, ann);
      expect(answer).toContain('"isError":true');
      expect(answer).not.toContain("theirs\\n");
    }
    const write = { name: "write_file", arguments: { path: "new.txt", content: "x" } };
    for (const who of [ann, bob]) await modern(`${url}/mcp/agent-tools`, "tools/call", write, who);
    expect([existsSync(join(root, "a/new.txt")), existsSync(join(root, "b/new.txt"))]).toEqual([true, false]);
  });

  it("whose token names a directory that is not served gets 403", async () => {
    const tokens = tokenFile();
    const { out } = tokens.write({ name: "out", roots: [{ path: tree(), access: "read-only" }] });
    const { url } = await serve([tree()], { access: byTokens(tokens) });
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, out)).status).toBe(403);
  });

  it("is offered only the tools that its token permits, and gets 403 for the others", async () => {
    const root = tree({ "a.txt": "a" });
    const tokens = tokenFile();
    const { reader, one } = tokens.write(
      { name: "reader", effects: ["reads"] },
      { name: "one", tools: ["list_dir"], dialect: "agent-tools" },
    );
    const { url } = await serve([root], { access: byTokens(tokens), dialect: "fs" });
    const list = async (path: string, who = {}) => {
      const { message } = await modern(`${url}${path}`, "tools/list", {}, who);
      const { tools = [] } = message.result as { tools?: { name: string }[] };
      return tools.map(({ name }) => name);
    };
    expect(await list("/mcp/agent-tools", reader)).not.toContain("write_file");
    expect(await list("/mcp/agent-tools", reader)).toContain("read_file");
    const write = { name: "write_file", arguments: { path: "a.txt", content: "b" } };
    expect((await modern(`${url}/mcp/agent-tools`, "tools/call", write, reader)).status).toBe(403);
    // In a batch, too.
    const session = await initialize(`${url}/mcp/agent-tools`, reader, "2025-03-26");
    const batch = await send(`${url}/mcp/agent-tools`, {
      method: "POST",
      headers: { ...json, ...session },
      body: JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "tools/call", params: write }]),
    });
    expect(batch.status).toBe(403);

    // A token's dialect is what it finds at /mcp, and all that it finds.
    expect(await list("/mcp", one)).toEqual(["list_dir"]);
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, one)).status).toBe(403);
  });

  it("that asks too often, or for too much at once, gets 429 and when to come back", async () => {
    const tokens = tokenFile();
    const { slow } = tokens.write({ name: "slow", perMinute: 2 });
    const { url } = await serve([tree()], { access: byTokens(tokens) });
    const list = () => modern(`${url}/mcp/fs`, "tools/list", {}, slow);
    expect([(await list()).status, (await list()).status]).toEqual([200, 200]);
    const third = await list();
    expect(third.status).toBe(429);
    expect(Number(third.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("that sends large bodies slowly does not block other callers", async () => {
    const tokens = tokenFile();
    const { ann, bob } = tokens.write({ name: "ann" }, { name: "bob" });
    const maxBodyBytes = 2000;
    const { url } = await serve([tree()], { access: byTokens(tokens), maxBodyBytes });
    const head = `POST /mcp/fs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${ann?.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${maxBodyBytes}\r\n\r\n`;
    const slow = Array.from({ length: 4 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
    for (const socket of slow) socket.write(`${head}"${"x".repeat(maxBodyBytes - 2)}`);
    // A fifth body of the same caller shows that the four have arrived.
    const large = { method: "POST", headers: { ...json, ...ann }, body: `"${"x".repeat(1000)}"` };
    await expect.poll(async () => (await send(`${url}/mcp/fs`, large)).status).toBe(503);
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, bob)).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  it("cannot use the session of another, nor one for another dialect", async () => {
    const tokens = tokenFile();
    const { ann, bob } = tokens.write({ name: "ann" }, { name: "bob" });
    const { url } = await serve([tree({ "a.txt": "a" })], { access: byTokens(tokens) });
    const session = await initialize(`${url}/mcp/fs`, ann);
    const list = { id: 1, method: "tools/list" };
    expect((await legacy(`${url}/mcp/fs`, list, session)).status).toBe(200);
    for (const [path, headers] of [
      ["fs", { ...session, ...bob }],
      ["agent-tools", session],
      ["fs", { ...session, "mcp-session-id": "other" }],
    ] as const) {
      const reply = await legacy(`${url}/mcp/${path}`, list, headers);
      expect([reply.status, reply.message.result]).toEqual([404, undefined]);
      const stream = { ...headers, accept: "text/event-stream", "last-event-id": "1" };
      expect((await send(`${url}/mcp/${path}`, { headers: stream })).status).toBe(404);
      expect((await send(`${url}/mcp/${path}`, { method: "DELETE", headers })).status).toBe(404);
    }
    expect((await legacy(`${url}/mcp/fs`, list, ann)).status).toBe(400);
    expect((await send(`${url}/mcp/fs`, { method: "DELETE", headers: session })).status).toBe(200);
    expect((await legacy(`${url}/mcp/fs`, list, session)).status).toBe(404);
  });

  it("has a limit on sessions, and so have all callers together", async () => {
    const tokens = tokenFile();
    const { ann, bob } = tokens.write({ name: "ann" }, { name: "bob" });
    const limits = { sessions: 4, sessionsPerCaller: 3 };
    const { url } = await serve([tree()], { access: byTokens(tokens), ...limits });
    const open = (who = {}) => {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "w", version: "1" },
      };
      return legacy(`${url}/mcp/fs`, { id: 0, method: "initialize", params }, who);
    };
    for (let n = 0; n < 3; n++) expect((await open(ann)).status).toBe(200);
    const fourth = await open(ann);
    expect([fourth.status, fourth.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await open(bob)).status).toBe(200);
    expect((await open(bob)).status).toBe(503);
  });
});

describe("a token file that changes", () => {
  it("applies from the next request on: added, changed and removed", async () => {
    const root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" });
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", roots: [{ path: join(root, "a"), access: "read-only" }] });
    const { url } = await serve([root], { access: byTokens(tokens) });
    const get = async (who = {}) =>
      JSON.stringify((await modern(`${url}/mcp/agent-tools`, "tools/call", read("x.txt"), who)).message);
    expect(await get(ann)).toContain("in a");
    const session = await initialize(`${url}/mcp/agent-tools`, ann);
    const { bob } = tokens.write(
      { name: "ann", roots: [{ path: join(root, "b"), access: "read-only" }] },
      { name: "bob" },
    );
    expect(await get(ann)).toContain("in b");
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, bob)).status).toBe(200);
    // A session that began with other directories is over.
    expect((await legacy(`${url}/mcp/agent-tools`, { id: 1, method: "tools/list" }, session)).status).toBe(
      404,
    );
    tokens.write({ name: "bob" });
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, ann)).status).toBe(401);
  });

  it("ends the sessions of callers whose tokens were removed or changed, and no others", () => {
    const file = tokenFile();
    const all = file.write({ name: "ann" }, { name: "bob" }, { name: "eve" });
    using workspace = Workspace.open([{ path: tree(), access: "read-only" }]);
    using tokens = new Tokens({ file: file.file, workspace, log: createLog("error", () => {}) });
    const [ann, bob, eve] = ["ann", "bob", "eve"].map(name => tokens.identify(all[name]?.authorization));
    const ended: string[] = [];
    for (const one of [ann, bob, eve]) one?.onEnd(() => ended.push(one.is.name ?? ""));
    file.write({ name: "bob" }, { name: "eve", effects: ["reads"] });
    tokens.refresh();
    expect(ended.sort()).toEqual(["ann", "eve"]);
    expect([ann?.ended, bob?.ended, eve?.ended]).toEqual([true, false, true]);
    expect(tokens.identify(all.bob?.authorization)).toBe(bob);
  });

  it("that can no longer be read changes nothing; a missing one admits no caller", async () => {
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann" });
    const { url, logged } = await serve([tree()], { access: byTokens(tokens) });
    writeFileSync(tokens.file, '{"tokens": [');
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, ann)).status).toBe(200);
    expect(logged.join("")).toContain("cannot be read");
    rmSync(tokens.file);
    expect((await modern(`${url}/mcp/fs`, "tools/list", {}, ann)).status).toBe(401);
  });
});
