// While agents work: calls as they happen, questions of the policy answered at the page, notes that reach the agent.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { Session } from "../../src/contract/session.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { StateFolder } from "../../src/host/state-folder.ts";
import { Activity } from "../../src/review/activity.ts";
import { Fixture } from "./fixture.ts";

describe("calls", () => {
  it("are shown as they happen, with client, tool, path, time and outcome; never contents", async () => {
    const fixture = new Fixture();
    fixture.write("a.txt", "a\n");
    fixture.write(".ssh/id_rsa", "key\n");
    const [agent, other] = [await fixture.agent("alpha"), await fixture.agent("beta")];
    await agent.call("read_file", { path: "a.txt" });
    const page = await fixture.page(fixture.root);
    await expect.poll(async () => (await page.get("api/calls")).json.calls.length).toBe(1);
    const stream = await page.events();
    const change = await agent.change("write_file", { path: "b.txt", content: "a very secret content\n" });
    const written = await stream.next("call");
    expect(written.data).toMatchObject({
      agent: { client: expect.stringContaining("alpha") },
      tool: "write_file",
      effect: "writes",
      paths: ["b.txt"],
      outcome: "ok",
      changes: [change],
    });
    await other.call("read_file", { path: "missing.txt" });
    const failed = await stream.next("call", ({ agent: { client } }) => client.includes("beta"));
    expect(failed.data).toMatchObject({ outcome: "failed", fault: "not_found", paths: ["missing.txt"] });
    await other.call("read_file", { path: ".ssh/id_rsa" });
    expect((await stream.next("call")).data).toMatchObject({ outcome: "refused", fault: "forbidden" });
    const { text } = await page.get("api/calls");
    expect(text).not.toContain("secret");
    const { servers } = (await page.get("api/session")).json;
    expect(servers).toHaveLength(2);
    expect(servers[0]).toMatchObject({ transport: "stdio", dialect: "polyfs", roots: [fixture.root] });
    expect(JSON.stringify(servers)).not.toContain("secret");
    await other.client.close();
    expect((await stream.next("servers", list => list.length === 1)).data).toHaveLength(1);
  });

  it("with enormous paths are kept up to the length that a page shows", () => {
    const fixture = new Fixture();
    using engine = openEngine({
      roots: [{ path: fixture.root, access: "read-write" }],
      state: fixture.state,
    });
    const { workspace } = engine;
    const roots = () => [fixture.root];
    using activity = new Activity({
      workspace,
      state: fixture.state,
      transport: "stdio",
      dialect: "polyfs",
      roots,
    });
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const session = new Session();
    const heap = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    for (let n = 0; n < 100; n++) {
      const path = Buffer.alloc(1_000_000, String.fromCharCode(97 + (n % 26))).toString();
      const call = { tool: "read_file", effect: "reads", paths: [path], session, workspace } as const;
      activity.end(activity.begin(call), true, "not_found");
    }
    expect(heap() - before).toBeLessThan(20_000_000);
  });

  it("leave no file behind, and a server that was killed is forgotten", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent();
    await agent.change("write_file", { path: "a.txt", content: "a\n" });
    const servers = join(fixture.state, "review/servers");
    await expect.poll(() => readdirSync(servers).length).toBe(2);
    await agent.client.close();
    await expect.poll(() => readdirSync(servers).length).toBe(0);
  });
});

async function asking(rules: object[], capabilities = {}) {
  const fixture = new Fixture();
  fixture.write("migrations/1.sql", "one\n");
  fixture.write("migrations/2.sql", "two\n");
  const policy = join(fixture.base, "policy.json");
  writeFileSync(policy, JSON.stringify({ rules }));
  const agent = await fixture.agent("asker", ["--policy", policy, fixture.root], capabilities);
  const page = await fixture.page(fixture.root);
  return { fixture, agent, page, policy };
}

const rule = { name: "migrations", paths: ["migrations/**"], ask: ["write", "delete"] };

describe("questions of the policy", () => {
  it("appear on the page with the difference and the rule, and a yes applies once", async () => {
    const { fixture, agent, page } = await asking([rule]);
    const stream = await page.events();
    const call = agent.call("write_file", { path: "migrations/1.sql", content: "uno\n" });
    const { data } = await stream.next("question");
    expect(data).toMatchObject({
      tool: "write_file",
      agent: { client: expect.stringContaining("asker") },
      needs: [{ name: "migrations/1.sql", action: "write", rule: "migrations" }],
      difference: { files: [{ name: "migrations/1.sql", added: 1, removed: 1 }] },
    });
    expect(data.difference?.files[0]?.hunks[0]?.text).toContain("-one\n+uno");
    expect((await page.get("api/questions")).json.questions).toHaveLength(1);
    expect((await page.post(`api/questions/${data.id}`, { answer: "once" })).json).toMatchObject({
      outcome: "allowed",
    });
    expect((await call).isError).toBe(false);
    expect(fixture.read("migrations/1.sql")).toBe("uno\n");
    expect((await page.post(`api/questions/${data.id}`, { answer: "once" })).status).toBe(409);
    const again = agent.call("write_file", { path: "migrations/1.sql", content: "eins\n" });
    const second = await stream.next("question");
    await page.post(`api/questions/${second.data.id}`, {
      answer: "deny",
      reason: "Migrations are frozen until Monday.",
    });
    expect(await again).toMatchObject({
      isError: true,
      text: expect.stringContaining("Migrations are frozen until Monday."),
    });
    expect(fixture.read("migrations/1.sql")).toBe("uno\n");
  });

  it("an answer for the task applies to questions of the same rule, and only to that connection", async () => {
    const { fixture, agent, page, policy } = await asking([rule]);
    const stream = await page.events();
    const call = agent.call("write_file", { path: "migrations/1.sql", content: "uno\n" });
    const { data } = await stream.next("question");
    await page.post(`api/questions/${data.id}`, { answer: "task" });
    expect((await call).isError).toBe(false);
    expect((await agent.call("write_file", { path: "migrations/2.sql", content: "dos\n" })).isError).toBe(
      false,
    );
    const deletion = agent.call("delete_path", { path: "migrations/2.sql" });
    const third = await stream.next("question");
    expect(third.data.needs[0]).toMatchObject({ action: "delete" });
    await page.post(`api/questions/${third.data.id}`, { answer: "deny" });
    expect((await deletion).isError).toBe(true);
    const other = await fixture.agent("asker", ["--policy", policy, fixture.root]);
    const foreign = other.call("write_file", { path: "migrations/2.sql", content: "zwei\n" });
    const fourth = await stream.next("question");
    await page.post(`api/questions/${fourth.data.id}`, { answer: "deny" });
    expect((await foreign).isError).toBe(true);
  });

  // The second is a notation of other globs, unless it is escaped.
  it.each(["1.sql", "@(1).sql"])(
    "an answer about %s can be made a rule, which is added to the file",
    async name => {
      const { agent, page, policy } = await asking([rule]);
      const stream = await page.events();
      const call = agent.call("write_file", { path: `migrations/${name}`, content: "uno\n" });
      const { data } = await stream.next("question");
      const settled = await page.post(`api/questions/${data.id}`, { answer: "rule" });
      expect(settled.json).toMatchObject({ outcome: "allowed", rule: { file: policy } });
      expect((await call).isError).toBe(false);
      const { rules } = JSON.parse(readFileSync(policy, "utf8"));
      expect(rules).toMatchObject([rule, { ask: ["delete"] }]);
    },
  );

  it("answers that several servers make rules at the same time are all added to the file", async () => {
    const { fixture, agent, page, policy } = await asking([rule]);
    const agents = [agent];
    while (agents.length < 6)
      agents.push(await fixture.agent(`asker${agents.length}`, ["--policy", policy, fixture.root]));
    const stream = await page.events();
    const names = agents.map((_, i) => `migrations/${i}.sql`);
    const calls = agents.map((one, i) => one.call("write_file", { path: names[i], content: "uno\n" }));
    const ids: string[] = [];
    while (ids.length < agents.length) ids.push((await stream.next("question")).data.id);
    await Promise.all(ids.map(id => page.post(`api/questions/${id}`, { answer: "rule" })));
    for (const call of calls) expect((await call).isError).toBe(false);
    const { rules } = JSON.parse(readFileSync(policy, "utf8"));
    const allowed = rules.flatMap(({ paths }: { paths: string[] }) => paths);
    expect(allowed).toEqual(expect.arrayContaining(names.map(name => expect.stringContaining(name))));
  });

  it("without a page the client is asked, and if it cannot be, the answer names the command that grants", async () => {
    const { fixture, agent, page, policy } = await asking([rule]);
    const refused = await agent.call("write_file", { path: "migrations/1.sql", content: "uno\n" });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("polyfs grant") });
    const able = await fixture.agent("able", ["--policy", policy, fixture.root], { elicitation: {} });
    able.client.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { allow: true },
    }));
    expect((await able.call("write_file", { path: "migrations/1.sql", content: "uno\n" })).isError).toBe(
      false,
    );
    // A page that goes away while a question waits leaves it to the client.
    const stream = await page.events();
    const call = able.call("write_file", { path: "migrations/1.sql", content: "dos\n" });
    await stream.next("question");
    stream.close();
    expect((await call).isError).toBe(false);
  });

  it("no call hangs: a cancelled question ends, and so does an unanswered one", async () => {
    const { fixture, agent, page } = await asking([rule]);
    const stream = await page.events();
    const stop = new AbortController();
    const params = { name: "write_file", arguments: { path: "migrations/1.sql", content: "uno\n" } };
    const call = agent.client.callTool(params, undefined, { signal: stop.signal });
    const { data } = await stream.next("question");
    stop.abort();
    await expect(call).rejects.toThrow();
    expect((await stream.next("settled")).data).toEqual({ id: data.id, outcome: "gone" });
    expect((await page.get("api/questions")).json.questions).toEqual([]);
    using engine = openEngine({
      roots: [{ path: fixture.root, access: "read-write" }],
      state: fixture.state,
    });
    const { workspace } = engine;
    using activity = new Activity({
      workspace,
      state: fixture.state,
      transport: "stdio",
      dialect: "polyfs",
      roots: () => [fixture.root],
      patienceMs: 3000,
    });
    const need = { at: join(fixture.root, "migrations/1.sql"), question: "write" } as const;
    const answer = await activity.ask({
      needs: [need],
      tool: "write_file",
      proposal: { changes: [] },
      session: new Session(),
      workspace,
      signal: new AbortController().signal,
    });
    expect(answer).toMatchObject({ allowed: false, reason: expect.stringContaining("in time") });
    expect((await stream.next("settled")).data).toMatchObject({ outcome: "expired" });
  });

  it("a masked value is never shown", async () => {
    const { agent, page, fixture } = await asking([{ paths: [".env"], access: "mask", ask: ["write"] }]);
    fixture.write(".env", "KEY=hush-hush\n");
    const stream = await page.events();
    const call = agent.call("write_file", { path: ".env", content: "KEY=••••\nMORE=new-secret\n" });
    const { data } = await stream.next("question");
    expect(JSON.stringify(data)).not.toMatch(/hush|new-secret/);
    await page.post(`api/questions/${data.id}`, { answer: "once" });
    expect((await call).isError).toBe(false);
    expect(fixture.read(".env")).toBe("KEY=hush-hush\nMORE=new-secret\n");
  });
});

describe("notes", () => {
  it("are sent with the next answer, come with list_changes, and are marked as read", async () => {
    const fixture = new Fixture();
    const [agent, other] = [await fixture.agent("alpha"), await fixture.agent("beta")];
    const change = await agent.change("write_file", { path: "a.txt", content: "one\ntwo\n" });
    const page = await fixture.page(fixture.root);
    const stream = await page.events();
    const path = join(fixture.root, "a.txt");
    const note = await page.post("api/notes", { change, path, line: 2, text: "Please say <b>three</b>." });
    expect(note.json).toMatchObject({ change, name: "a.txt", line: 2, side: "new", read: false });
    expect((await stream.next("note")).data.id).toBe(note.json.id);
    await expect
      .poll(async () => (await agent.call("read_file", { path: "a.txt" })).text)
      .toContain("1 note from a reviewer");
    expect((await agent.call("read_file", { path: "a.txt" })).text).not.toContain("from a reviewer");
    expect((await other.call("read_file", { path: "a.txt" })).text).not.toContain("from a reviewer");
    const listed = await agent.call("list_changes", {});
    expect(listed.text).toContain(`note from a reviewer on ${change} a.txt:2: Please say <b>three</b>.`);
    expect((await stream.next("note", ({ read }) => read)).data.id).toBe(note.json.id);
    expect((await page.get(`api/changes/${change}`)).json).toMatchObject({
      change: { notes: 1 },
      notes: [{ read: true }],
    });
    await page.post(`api/notes/${note.json.id}/remove`, {});
    expect((await stream.next("unnote")).data).toEqual({ id: note.json.id });
    expect((await page.get("api/notes")).json.notes).toEqual([]);
  });

  it("reach a later connection of the same client, and leave other dialects' answers as they are", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent("alpha");
    const change = await agent.change("write_file", { path: "a.txt", content: "one\n" });
    const page = await fixture.page(fixture.root);
    await page.post("api/notes", { change, text: "Start again." });
    await agent.client.close();
    const literal = await fixture.agent("alpha", ["--dialect", "reference", fixture.root]);
    const read = await literal.call("read_text_file", { path: join(fixture.root, "a.txt") });
    expect(read.text).toBe("one\n");
    const again = await fixture.agent("alpha");
    expect((await again.call("list_changes", {})).text).toContain("Start again.");
    expect(StateFolder.at(fixture.state, "review", "notes").names()).toHaveLength(2);
  });
});
