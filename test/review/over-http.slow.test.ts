// The same page at /review of a server over HTTP: for tokens with the effect `reviews`, and only what they may see.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { Agent, ask, Fixture, Page, program } from "./fixture.ts";

const tokens = (fixture: Fixture) => join(fixture.base, "tokens.json");

function newToken(fixture: Fixture, name: string, ...args: string[]): string {
  const line = [program, "token", "add", name, "--tokens", tokens(fixture), ...args];
  const { stdout, stderr, status } = spawnSync(process.execPath, line, {
    encoding: "utf8",
    env: fixture.environment,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

// biome-ignore lint/suspicious/noExplicitAny: lines of many shapes
function lines(file: string): any[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map(line => JSON.parse(line));
}

async function overHttp(url: string, token?: string): Promise<Agent> {
  const client = new Client({ name: "remote", version: "1" });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  onTestFinished(async () => await client.close());
  return new Agent(client);
}

describe("with tokens", () => {
  it("a sign-in form that is larger than a token is refused before it has arrived, from any client", async () => {
    const fixture = new Fixture();
    newToken(fixture, "agent");
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const { hostname, port } = new URL(start);
    const head = `POST /review/signin HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
    const answerTo = async (rest: string) => {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.write(head + rest);
      const [chunk] = await once(socket, "data");
      return String(chunk).split("\r\n")[0];
    };
    expect(await answerTo("Content-Length: 1000000\r\n\r\ntoken=")).toContain("413");
    const chunk = `${(16_384).toString(16)}\r\n${"x".repeat(16_384)}\r\n`;
    expect(await answerTo(`Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`)).toContain("413");
  });

  it("a token with the effect reviews signs in, sees its directories, undoes; others are refused", async () => {
    const fixture = new Fixture();
    const [mine, theirs] = [join(fixture.root, "mine"), join(fixture.root, "theirs")];
    for (const path of [mine, theirs]) mkdirSync(path);
    const agent = newToken(fixture, "agent");
    const reviewer = newToken(fixture, "reviewer", "--write", mine, "--effects", "reviews");
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const remote = await overHttp(start, agent);
    const seen = await remote.change("write_file", { path: "mine/a.txt", content: "a\n" });
    const unseen = await remote.change("write_file", { path: "theirs/b.txt", content: "b\n" });
    const base = `${start}/review/`;
    expect((await ask(`${base}api/changes`)).status).toBe(401);
    expect((await ask(base)).text).toContain("<form");
    const form = async (token: string) =>
      await ask(`${base}signin`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ token }).toString(),
      });
    expect((await form(agent)).status).toBe(401);
    expect((await form("pfs_wrong")).status).toBe(401);
    const entered = await form(reviewer);
    expect(entered.status).toBe(303);
    const cookie = entered.headers["set-cookie"]?.[0] ?? "";
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const page = new Page(base, { cookie: cookie.split(";")[0] ?? "" });
    await expect.poll(async () => (await page.get("api/changes")).json.changes.length).toBe(1);
    expect((await page.get("api/changes")).json.changes[0].id).toBe(seen);
    expect((await page.get(`api/changes/${unseen}`)).status).toBe(404);
    expect((await page.post("api/undo", { change: unseen })).status).toBe(404);
    expect((await page.get("api/calls")).json.calls).toEqual([]); // its caller may reach more than the token
    expect((await page.get("api/session")).json).toMatchObject({
      mode: "http",
      who: "reviewer",
      may: { undo: true },
    });
    const bearer = new Page(base, { authorization: `Bearer ${reviewer}` });
    expect((await bearer.get("api/session")).status).toBe(200);
    expect((await new Page(base, { authorization: `Bearer ${agent}` }).get("api/session")).status).toBe(401);
    expect((await page.post("api/undo", { change: seen })).json.done).toBe(true);
    expect(() => fixture.read("mine/a.txt")).toThrow();
    // Such a token is for the page alone.
    expect(
      (await (await overHttp(start, reviewer).catch(() => undefined))?.client.listTools())?.tools ?? [],
    ).toEqual([]);
    // A token that is taken out ends what it let in.
    const all = spawnSync(
      process.execPath,
      [program, "token", "remove", "reviewer", "--tokens", tokens(fixture)],
      {
        env: fixture.environment,
      },
    );
    expect(all.status).toBe(0);
    expect((await page.get("api/session")).status).toBe(401);
  });

  it("a reviewer's actions are audited like calls, without contents; a token has its limit", async () => {
    const fixture = new Fixture();
    const agent = newToken(fixture, "agent");
    const reviewer = newToken(fixture, "reviewer", "--effects", "reviews");
    const hasty = newToken(fixture, "hasty", "--effects", "reviews", "--per-minute", "3");
    const audit = join(fixture.base, "audit.log");
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--audit", audit, "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const remote = await overHttp(start, agent);
    const change = await remote.change("write_file", { path: "a.txt", content: "tulip\n" });
    const base = `${start}/review/`;
    for (const token of ["pfs_wrong", reviewer])
      await ask(`${base}signin`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ token }).toString(),
      });
    const page = new Page(base, { authorization: `Bearer ${reviewer}` });
    await expect.poll(async () => (await page.get(`api/changes/${change}`)).status).toBe(200);
    const path = join(fixture.root, "a.txt");
    await page.post("api/keep", { changes: [change], path, kept: true });
    await page.post("api/notes", { change, path, line: 1, text: "orchid" });
    await page.post("api/questions/none-1", { answer: "deny", reason: "orchid" });
    const undone = (await page.post("api/undo", { change })).json.changes;
    const quick = new Page(base, { authorization: `Bearer ${hasty}` });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await quick.get("api/session")).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect(Number((await quick.get("api/session")).headers["retry-after"])).toBeGreaterThan(0);
    await expect.poll(() => lines(audit).some(({ status }) => status === 429)).toBe(true);
    const all = lines(audit);
    const calls = all.filter(({ tool = "" }) => tool.startsWith("review/"));
    const common = { event: "call", caller: "reviewer", client: "review", workspace: [fixture.root] };
    expect(calls.filter(({ tool }) => !tool.startsWith("review/changes/"))).toMatchObject([
      { ...common, tool: "review/signin", address: "127.0.0.1", outcome: "ok" },
      {
        ...common,
        tool: "review/keep",
        paths: [path],
        about: { changes: [change], kept: true },
        outcome: "ok",
      },
      { ...common, tool: "review/notes", paths: [path], about: { change, line: 1 }, outcome: "ok" },
      {
        ...common,
        tool: "review/questions/none-1",
        about: { answer: "deny" },
        outcome: "error",
        fault: "settled",
      },
      {
        ...common,
        tool: "review/undo",
        about: { change },
        outcome: "ok",
        changes: [{ id: undone[0], undoes: change, files: [{ at: path, effect: "removed" }] }],
      },
    ]);
    expect(
      calls.some(({ tool, caller }) => tool === `review/changes/${change}` && caller === "reviewer"),
    ).toBe(true);
    expect(all.find(({ status }) => status === 429)).toMatchObject({ event: "refused", caller: "hasty" });
    expect(all.find(({ status }) => status === 401)).toMatchObject({
      event: "refused",
      address: "127.0.0.1",
    });
    expect(JSON.stringify(all)).not.toMatch(/tulip|orchid|pfs_/);
  });

  it("a restricted token gets no note, no mark and no call about files that its rules hide", async () => {
    const fixture = new Fixture();
    for (const name of ["open", "deep"]) mkdirSync(join(fixture.root, name));
    const agent = newToken(fixture, "agent");
    const wide = newToken(fixture, "wide", "--effects", "reviews");
    const policy = join(fixture.base, "narrow.json");
    writeFileSync(policy, JSON.stringify({ rules: [{ paths: ["deep"], access: "deny" }] }));
    const narrow = newToken(fixture, "narrow", "--effects", "reviews");
    const caller = newToken(fixture, "caller", "--effects", "reads");
    const file = JSON.parse(readFileSync(tokens(fixture), "utf8"));
    for (const token of file.tokens.slice(2)) token.policy = policy;
    writeFileSync(tokens(fixture), JSON.stringify(file));
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const remote = await overHttp(start, agent);
    const patch =
      "*** Begin Patch\n*** Add File: open/a.txt\n+a\n*** Add File: deep/b.txt\n+b\n*** End Patch";
    const change = await remote.change("apply_patch", { patch });
    const [all, some] = [wide, narrow].map(
      token => new Page(`${start}/review/`, { authorization: `Bearer ${token}` }),
    ) as [Page, Page];
    await expect.poll(async () => (await some.get(`api/changes/${change}`)).status).toBe(200);
    const stream = await some.events();
    const [seen, hidden] = [join(fixture.root, "open/a.txt"), join(fixture.root, "deep/b.txt")];
    for (const path of [hidden, seen]) {
      expect((await all.post("api/notes", { change, path, text: `about ${path}` })).status).toBe(200);
      expect((await all.post("api/keep", { changes: [change], path, kept: true })).status).toBe(200);
    }
    expect((await stream.next("kept")).data.path).toBe(seen);
    expect((await stream.next("note")).data.path).toBe(seen);
    await remote.call("read_file", { path: "deep/b.txt" });
    expect((await stream.next("call", ({ tool }) => tool === "read_file")).data.paths).toEqual(["(hidden)"]);
    const texts = [
      "api/notes",
      "api/calls",
      "api/changes",
      `api/changes/${change}`,
      "api/tasks",
      "api/facets",
    ];
    for (const route of texts) expect((await some.get(route)).text).not.toMatch(/deep|b\.txt/);
    expect((await some.get("api/notes")).json.notes).toHaveLength(1);
    const told = (await (await overHttp(start, caller)).call("list_changes", {})).text;
    expect(told).toContain(`about ${seen}`);
    expect(told).not.toMatch(/deep|b\.txt/);
    for (const body of [{ path: hidden, text: "x" }])
      expect((await some.post("api/notes", { change, ...body })).status).toBe(400);
    expect((await some.post("api/keep", { changes: [change], path: hidden, kept: true })).status).toBe(400);
  });

  it("a restricted token is not told the old path of a moved file if its rules hide that path", async () => {
    const fixture = new Fixture();
    for (const name of ["open", "deep"]) mkdirSync(join(fixture.root, name));
    writeFileSync(join(fixture.root, "deep/b.txt"), "b\n");
    const agent = newToken(fixture, "agent");
    const narrow = newToken(fixture, "narrow", "--effects", "reads,reviews");
    const policy = join(fixture.base, "narrow.json");
    writeFileSync(policy, JSON.stringify({ rules: [{ paths: ["deep"], access: "deny" }] }));
    const file = JSON.parse(readFileSync(tokens(fixture), "utf8"));
    file.tokens[1].policy = policy;
    writeFileSync(tokens(fixture), JSON.stringify(file));
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const remote = await overHttp(start, agent);
    const change = await remote.change("move_path", { from: "deep/b.txt", to: "open/a.txt" });
    const page = new Page(`${start}/review/`, { authorization: `Bearer ${narrow}` });
    await expect.poll(async () => (await page.get(`api/changes/${change}`)).status).toBe(200);
    const routes = ["api/changes", `api/changes/${change}`, "api/tasks", `api/tasks/${change}`];
    for (const route of [...routes, `api/tasks/${change}?until=now`])
      expect((await page.get(route)).text, route).not.toMatch(/deep|b\.txt/);
    const told = (await (await overHttp(start, narrow)).call("list_changes", { diff: true })).text;
    expect(told).toContain("open/a.txt");
    expect(told).not.toMatch(/deep|b\.txt/);
  });

  it("the page masks what the token's own policy masks", async () => {
    const fixture = new Fixture();
    const agent = newToken(fixture, "agent");
    newToken(fixture, "reviewer", "--effects", "reviews");
    const policy = join(fixture.base, "narrow.json");
    writeFileSync(
      policy,
      JSON.stringify({
        rules: [
          { paths: ["*.ini"], access: "mask" },
          { paths: ["deep"], access: "deny" },
        ],
      }),
    );
    const file = JSON.parse(readFileSync(tokens(fixture), "utf8"));
    file.tokens[1].policy = policy;
    writeFileSync(tokens(fixture), JSON.stringify(file));
    const secret = spawnSync(
      process.execPath,
      [program, "token", "rotate", "reviewer", "--tokens", tokens(fixture)],
      {
        encoding: "utf8",
        env: fixture.environment,
      },
    ).stdout.trim();
    const start = await fixture.start(
      ["--http", "0", "--tokens", tokens(fixture), "--dialect", "polyfs", fixture.root],
      /http:\/\/127[^/\s]+/,
    );
    const remote = await overHttp(start, agent);
    const masked = await remote.change("write_file", { path: "a.ini", content: "password = tulip\n" });
    const hidden = await remote.change("write_file", { path: "deep/x.txt", content: "orchid\n" });
    const page = new Page(`${start}/review/`, { authorization: `Bearer ${secret}` });
    await expect.poll(async () => (await page.get("api/changes")).json.changes.length).toBe(1);
    const detail = await page.get(`api/changes/${masked}`);
    expect(detail.json.difference.files[0]).toMatchObject({ name: "a.ini", shows: "masked" });
    expect(detail.text).not.toContain("tulip");
    expect((await page.get(`api/changes/${hidden}`)).status).toBe(404);
    for (const text of ["tulip", "orchid"])
      expect((await page.get(`api/search?text=${text}`)).json.hits).toEqual([]);
  });
});

describe("without tokens", () => {
  it("a one-time token in the log lets one browser in; a client that can call tools cannot answer in its place", async () => {
    const fixture = new Fixture();
    const url = await fixture.start(
      ["--http", "0", "--dialect", "polyfs", fixture.root],
      /http:[^\s"]+\/review\/\?token=[\w-]+/,
    );
    const start = url.replace(/\/review.*/, "");
    const remote = await overHttp(start);
    const change = await remote.change("write_file", { path: "a.txt", content: "a\n" });
    expect((await ask(`${start}/review/api/changes`)).status).toBe(401);
    const page = await Page.enter(url);
    expect((await ask(url)).status).toBe(401);
    const stream = await page.events();
    const second = await remote.change("write_file", { path: "b.txt", content: "b\n" });
    expect((await stream.next("change", ({ id }) => id === second)).data.agent.client).toContain("remote");
    expect((await stream.next("call", ({ tool }) => tool === "write_file")).data.changes).toContain(second);
    expect((await page.post("api/undo", { change })).json.done).toBe(true);
  });
});
