// The same page at /review of a server over HTTP: for tokens with the effect `reviews`, and only what they may see.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { Agent, ask, Ground, Page, program } from "./ground.ts";

const tokens = (ground: Ground) => join(ground.base, "tokens.json");

function newToken(ground: Ground, name: string, ...args: string[]): string {
  const line = [program, "token", "add", name, "--tokens", tokens(ground), ...args];
  const { stdout, stderr, status } = spawnSync(process.execPath, line, {
    encoding: "utf8",
    env: ground.environment,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
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
  it("a token with the effect reviews signs in, sees its directories, undoes; others are refused", async () => {
    const ground = new Ground();
    const [mine, theirs] = [join(ground.root, "mine"), join(ground.root, "theirs")];
    for (const path of [mine, theirs]) mkdirSync(path);
    const agent = newToken(ground, "agent");
    const reviewer = newToken(ground, "reviewer", "--write", mine, "--effects", "reviews");
    const start = await ground.start(
      ["--http", "0", "--tokens", tokens(ground), "--dialect", "polyfs", ground.root],
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
    expect(() => ground.read("mine/a.txt")).toThrow();
    // Such a token is for the page alone.
    expect(
      (await (await overHttp(start, reviewer).catch(() => undefined))?.client.listTools())?.tools ?? [],
    ).toEqual([]);
    // A token that is taken out ends what it let in.
    const all = spawnSync(
      process.execPath,
      [program, "token", "remove", "reviewer", "--tokens", tokens(ground)],
      {
        env: ground.environment,
      },
    );
    expect(all.status).toBe(0);
    expect((await page.get("api/session")).status).toBe(401);
  });

  it("what a token's own policy masks, its page masks", async () => {
    const ground = new Ground();
    const agent = newToken(ground, "agent");
    newToken(ground, "reviewer", "--effects", "reviews");
    const policy = join(ground.base, "narrow.json");
    writeFileSync(
      policy,
      JSON.stringify({
        rules: [
          { paths: ["*.ini"], access: "mask" },
          { paths: ["deep"], access: "deny" },
        ],
      }),
    );
    const { readFileSync } = await import("node:fs");
    const file = JSON.parse(readFileSync(tokens(ground), "utf8"));
    file.tokens[1].policy = policy;
    writeFileSync(tokens(ground), JSON.stringify(file));
    const secret = spawnSync(
      process.execPath,
      [program, "token", "rotate", "reviewer", "--tokens", tokens(ground)],
      {
        encoding: "utf8",
        env: ground.environment,
      },
    ).stdout.trim();
    const start = await ground.start(
      ["--http", "0", "--tokens", tokens(ground), "--dialect", "polyfs", ground.root],
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
  it("a one-time token in the log lets one browser in; whoever can call a tool cannot answer for it", async () => {
    const ground = new Ground();
    const url = await ground.start(
      ["--http", "0", "--dialect", "polyfs", ground.root],
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
