// The page at /review for tokens that are bound to a workspace: each sees, undoes, keeps, answers and notes what its own
// workspace holds, and finds nothing of another.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { openWorkspaces } from "../../src/engine/workspaces/open.ts";
import { hashText, newToken, printTokens, type TokenRecord } from "../../src/mcp/auth/tokens-file.ts";
import { Agent, ask, Fixture, Page, program } from "./fixture.ts";

class Tenants extends Fixture {
  readonly workspaces = join(this.base, "workspaces");
  readonly tokens = join(this.base, "tokens.json");
  readonly policy = join(this.base, "policy.json");
  readonly places = { one: join(this.base, "one"), two: join(this.base, "two") };
  readonly #records: TokenRecord[] = [];
  address = "";

  static async make(): Promise<Tenants> {
    const fixture = new Tenants();
    writeFileSync(fixture.policy, JSON.stringify({ rules: [{ paths: ["asked/**"], ask: ["write"] }] }));
    onTestFinished(async () => {
      await fixture.end();
      for (const line of readFileSync("/proc/mounts", "utf8").split("\n"))
        if (line.split(" ")[1]?.startsWith(`${fixture.base}/`))
          spawnSync("umount", ["-l", line.split(" ")[1] ?? ""]);
    });
    await using workspaces = openWorkspaces({ directory: fixture.workspaces });
    for (const [name, path] of Object.entries(fixture.places)) {
      mkdirSync(path);
      await workspaces.adopt(name, path, "");
    }
    return fixture;
  }

  run(...args: string[]): string {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
      encoding: "utf8",
      env: this.environment,
    });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  /** The server binds it to the workspace that has the name when it is first used. */
  token(name: string, workspace: string, ...effects: TokenRecord["effects"] & {}): string {
    const secret = newToken();
    this.#records.push({ name, hash: hashText(secret), workspace, effects });
    writeFileSync(this.tokens, printTokens(this.#records));
    return secret;
  }

  async serve(...args: string[]): Promise<void> {
    const given = ["--http", "0", "--tokens", this.tokens, "--workspaces", this.workspaces];
    const all = [...given, "--policy", this.policy, "--dialect", "polyfs", ...args];
    this.address = await this.start(all, /http:\/\/127[^/\s]+/, this.base);
  }

  /** An agent with a token of its own; it names itself as those of every other tenant do. */
  async remote(token: string, path = "/mcp"): Promise<Agent> {
    const client = new Client({ name: "remote", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${this.address}${path}`), { requestInit }),
    );
    onTestFinished(async () => await client.close());
    return new Agent(client);
  }

  /** The page at /review/, as a reviewer with this token asks for it. */
  reviewed(token: string, path = ""): Page {
    return new Page(`${this.address}/review/${path}`, { authorization: `Bearer ${token}` });
  }
}

async function tenants() {
  const fixture = await Tenants.make();
  const agent = (name: string) => fixture.token(`agent-${name}`, name, "reads", "writes");
  const reviewer = (name: string) => fixture.token(`reviewer-${name}`, name, "reviews");
  const tokens = {
    agents: [agent("one"), agent("two")],
    reviewers: [reviewer("one"), reviewer("two")],
  } as const;
  await fixture.serve();
  const [one, two] = [await fixture.remote(tokens.agents[0]), await fixture.remote(tokens.agents[1])];
  const pages = tokens.reviewers.map(each => fixture.reviewed(each)) as [Page, Page];
  return { fixture, tokens, one, two, pages };
}

const everything = [
  "api/session",
  "api/calls",
  "api/changes",
  "api/tasks",
  "api/questions",
  "api/notes",
  "api/facets",
  "api/search?text=tulip",
  "api/search?text=orchid",
  "api/changes?text=orchid",
];

describe("a token for a workspace", () => {
  it("sees what its workspace holds, and nothing of another", async () => {
    const { fixture, one, two, pages } = await tenants();
    const [mine, theirs] = [
      await one.change("write_file", { path: "tulip.txt", content: "tulip\n" }),
      await two.change("write_file", { path: "orchid.txt", content: "orchid\n" }),
    ];
    for (const [page, own, other, flower, foreign, place] of [
      [pages[0], mine, theirs, "tulip", "orchid", fixture.places.two],
      [pages[1], theirs, mine, "orchid", "tulip", fixture.places.one],
    ] as const) {
      await expect.poll(async () => (await page.get("api/changes")).json.changes.length).toBe(1);
      expect((await page.get(`api/changes/${own}`)).text).toContain(flower);
      expect((await page.get(`api/search?text=${flower}`)).json.hits).toHaveLength(1);
      await expect.poll(async () => (await page.get("api/calls")).json.calls.length).toBe(1);
      expect((await page.get("api/session")).json).toMatchObject({ changes: 1, may: { undo: true } });
      for (const route of everything) {
        const { status, text } = await page.get(route);
        expect([route, status]).toEqual([route, 200]);
        expect(text).not.toContain(foreign);
        expect(text).not.toContain(other);
        expect(text).not.toContain(place);
      }
      for (const [route, body] of [
        ["api/undo", { change: other }],
        ["api/undo", { task: other }],
        ["api/keep", { changes: [other], kept: true }],
        ["api/keep", { task: other, kept: true }],
        ["api/notes", { change: other, text: "x" }],
      ] as const)
        expect((await page.post(route, body)).status).toBe(404);
      for (const route of [`api/changes/${other}`, `api/tasks/${other}`])
        expect((await page.get(route)).status).toBe(404);
    }
    expect((await pages[0].post("api/undo", { change: mine })).json.done).toBe(true);
    expect(existsSync(join(fixture.places.one, "tulip.txt"))).toBe(false);
    expect(readFileSync(join(fixture.places.two, "orchid.txt"), "utf8")).toBe("orchid\n");
  });

  it("gets events, questions and notes of its workspace, and none of another", async () => {
    const { one, two, pages } = await tenants();
    const streams = [await pages[0].events(), await pages[1].events()] as const;
    const first = await one.change("write_file", { path: "tulip.txt", content: "tulip\n" });
    expect((await streams[0].next("change")).data.id).toBe(first);
    expect((await streams[0].next("call")).data.changes).toEqual([first]);
    const writing = one.call("write_file", { path: "asked/tulip.txt", content: "tulip\n" });
    const { data: question } = await streams[0].next("question");
    expect(question.needs).toMatchObject([{ name: "asked/tulip.txt", action: "write" }]);
    expect((await pages[1].get("api/questions")).json.questions).toEqual([]);
    const answer = { answer: "once" };
    expect((await pages[1].post(`api/questions/${question.id}`, answer)).status).toBe(409);
    expect((await pages[0].post(`api/questions/${question.id}`, { answer: "rule" })).status).toBe(403);
    expect((await pages[0].post(`api/questions/${question.id}`, answer)).json.outcome).toBe("allowed");
    expect((await writing).isError).toBe(false);
    const noted = await pages[0].post("api/notes", { change: first, text: "tulip: shorter, please" });
    expect((await streams[0].next("note")).data.id).toBe(noted.json.id);
    expect((await pages[1].post(`api/notes/${noted.json.id}/remove`, {})).status).toBe(404);
    expect((await pages[0].post("api/keep", { changes: [first], kept: true })).status).toBe(200);
    await streams[0].next("kept");
    // The next thing that the other one hears is about its own workspace.
    const second = await two.change("write_file", { path: "orchid.txt", content: "orchid\n" });
    expect((await streams[1].next("change")).data.id).toBe(second);
    expect((await streams[1].next("call")).data.changes).toEqual([second]);
    expect(JSON.stringify(streams[1].kept)).not.toMatch(/tulip|question|note|kept|settled/);
    // A client of the same name in another workspace does not get the note.
    expect((await two.call("list_changes", {})).text).not.toContain("tulip");
    expect((await one.call("list_changes", {})).text).toContain("tulip: shorter, please");
  });

  it("does not make the calls of another workspace wait for its page", async () => {
    const { one, pages } = await tenants();
    await pages[1].events();
    const asks = async () => await one.call("write_file", { path: "asked/a.txt", content: "a\n" });
    expect(await asks()).toMatchObject({ isError: true, text: expect.stringContaining("polyfs grant") });
    const mine = await pages[0].events();
    const waiting = asks();
    await mine.next("question");
    mine.close();
    expect(await waiting).toMatchObject({ isError: true, text: expect.stringContaining("polyfs grant") });
  });

  it("sees the forks of its workspace at /review/w/NAME/, and no other workspace there", async () => {
    const { fixture, tokens, one, two, pages } = await tenants();
    await one.change("write_file", { path: "tulip.txt", content: "tulip\n" });
    await two.call("write_file", { path: "orchid.txt", content: "orchid\n" });
    expect((await one.call("workspace", { action: "fork", name: "task" })).isError).toBe(false);
    const inFork = await fixture.remote(tokens.agents[0], "/mcp/w/task");
    const fork = fixture.reviewed(tokens.reviewers[0], "w/task/");
    const stream = await fork.events();
    const change = await inFork.change("write_file", { path: "tulip.txt", content: "rose\n" });
    expect((await stream.next("change")).data.id).toBe(change);
    expect((await fork.get("api/changes")).json.changes.map(({ id }: { id: string }) => id)).toEqual([
      change,
    ]);
    // Its base is a workspace of its own, with a page of its own.
    expect((await pages[0].get(`api/changes/${change}`)).status).toBe(404);
    expect((await fork.post("api/undo", { change })).json.done).toBe(true);
    expect((await inFork.call("read_file", { path: "tulip.txt" })).text).toContain("tulip");
    for (const name of ["two", "nothing", ".."])
      expect(
        (await fixture.reviewed(tokens.reviewers[0], `w/${name}/`).get("api/changes")).text,
      ).not.toContain("orchid");
    for (const name of ["two", "nothing"])
      expect((await fixture.reviewed(tokens.reviewers[0], `w/${name}/`).get("api/session")).status).toBe(401);
    // A token for tools alone, and one for the fork's base where the fork is dropped.
    expect((await fixture.reviewed(tokens.agents[0], "w/task/").get("api/session")).status).toBe(401);
    fixture.run("workspace", "drop", "task", "--workspaces", fixture.workspaces);
    expect((await fork.get("api/session")).status).toBe(401);
  });

  it("signs in with a form, for its own page only, and is out when its workspace is dropped", async () => {
    const { fixture, tokens, pages } = await tenants();
    const form = async (path: string, token: string) =>
      await ask(`${fixture.address}/review/${path}signin`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ token }).toString(),
      });
    expect((await form("w/two/", tokens.reviewers[0])).status).toBe(401);
    const entered = await form("w/one/", tokens.reviewers[0]);
    expect([entered.status, entered.headers.location]).toEqual([303, "/review/w/one/"]);
    const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    const at = (path: string) => new Page(`${fixture.address}/review/${path}`, { cookie });
    expect((await at("w/one/").get("")).text).toContain("<title>polyfs review</title>");
    expect((await at("w/one/").get("api/session")).json.roots).toMatchObject([{ path: fixture.places.one }]);
    expect((await at("").get("api/session")).json.roots).toMatchObject([{ path: fixture.places.one }]);
    expect((await at("w/two/").get("api/session")).status).toBe(401);
    const location = (await ask(`${fixture.address}/review/w/one`)).headers.location;
    expect(location).toBe("/review/w/one/");
    fixture.run("workspace", "drop", "one", "--workspaces", fixture.workspaces);
    // Another workspace of the same name is not the token's.
    fixture.run("workspace", "create", "one", "--workspaces", fixture.workspaces);
    for (const path of ["", "w/one/"]) expect((await at(path).get("api/session")).status).toBe(401);
    expect((await pages[1].get("api/session")).status).toBe(200);
  });
});

describe("a server that serves one workspace at /mcp", () => {
  it("shows that workspace to no token for another", async () => {
    const fixture = await Tenants.make();
    const made = ["token", "add", "reviewer", "--workspace", "two", "--effects", "reviews"];
    const agent = fixture.token("agent", "one", "reads", "writes");
    const reviewer = fixture.run(...made, "--tokens", fixture.tokens, "--workspaces", fixture.workspaces);
    await fixture.serve("--workspace-name", "one");
    const change = await (await fixture.remote(agent)).change("write_file", { path: "a", content: "tulip" });
    const page = fixture.reviewed(reviewer);
    expect((await page.get("api/session")).json.roots).toMatchObject([{ path: fixture.places.two }]);
    expect((await page.get("api/changes")).json.changes).toEqual([]);
    expect((await page.get(`api/changes/${change}`)).status).toBe(404);
  });
});
