// What one caller does, keeps and leaves behind never reaches another.
import { linkSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defaultSettings } from "../../src/contract/settings.ts";
import type { Commit } from "../../src/engine/workspace/commit/change.ts";
import { odd, running } from "../shell/fixture.ts";
import { byTokens, serve, tokenFile, tree } from "./fixture.ts";
import { initialize, legacy, modern, send } from "./wire.ts";

const run = { settings: () => ({ ...defaultSettings, commands: "unsandboxed" as const }) };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
  expect(condition()).toBe(true);
}

/** The command lines of all processes that this one has started, and theirs. */
function descendants(): string[] {
  const processes = new Map<string, { parent: string; command: string }>();
  for (const pid of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
    try {
      const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
      processes.set(pid, { parent, command: readFileSync(`/proc/${pid}/cmdline`, "utf8") });
    } catch {
      // It has ended meanwhile.
    }
  }
  const ours = (pid: string): boolean => {
    for (let at = processes.get(pid)?.parent; at !== undefined; at = processes.get(at)?.parent)
      if (at === String(process.pid)) return true;
    return false;
  };
  return [...processes].filter(([pid]) => ours(pid)).map(([, { command }]) => command);
}

describe("the state of a caller", () => {
  it("a chosen workspace belongs to its session alone, and ends with it", async () => {
    const root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" });
    const { url } = await serve([root]);
    const editor = `${url}/mcp/file-editor`;
    const call = async (session: Record<string, string>, name: string, args: unknown) => {
      const message = { id: 1, method: "tools/call", params: { name, arguments: args } };
      return (await legacy(editor, message, session)).body;
    };
    const [ann, bob, eve] = await Promise.all([initialize(editor), initialize(editor), initialize(editor)]);
    await call(ann, "set_workspace", { path: join(root, "a") });
    await call(bob, "set_workspace", { path: join(root, "b") });
    const read = { path: "x.txt" };
    expect(await call(ann, "read_files", read)).toContain("in a");
    expect(await call(bob, "read_files", read)).toContain("in b");
    expect(await call(eve, "read_files", read)).toContain("Workspace not set");
    // A stateless request has no place to keep a choice in.
    const alone = await modern(editor, "tools/call", {
      name: "set_workspace",
      arguments: { path: join(root, "a") },
    });
    expect(alone.body).toContain("keeps nothing between calls");
  });

  it("cannot be chosen outside of the caller's own directories", async () => {
    const root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" });
    const tokens = tokenFile();
    const { ann } = tokens.write({ name: "ann", roots: [{ path: join(root, "a"), access: "read-only" }] });
    const { url } = await serve([root], { access: byTokens(tokens) });
    const session = await initialize(`${url}/mcp/file-editor`, ann);
    for (const path of [join(root, "b"), root, "/"]) {
      const params = { name: "set_workspace", arguments: { path } };
      const { body } = await legacy(
        `${url}/mcp/file-editor`,
        { id: 1, method: "tools/call", params },
        session,
      );
      expect(body).not.toContain("in b");
      expect(body).toMatch(/isError":true|"error"/);
    }
  });

  it("history says whose token made a change, whatever the client calls itself", async () => {
    const root = tree({ "a.txt": "1" });
    const tokens = tokenFile();
    const { ann, bob } = tokens.write({ name: "ann" }, { name: "bob" });
    const { url, engine } = await serve([root], { access: byTokens(tokens) });
    const commits: Commit[] = [];
    engine.workspace.onCommit(commit => void commits.push(commit));
    const write = (content: string) => ({
      name: "write_file",
      arguments: { path: join(root, "a.txt"), content },
    });
    await modern(`${url}/mcp/replay`, "tools/call", write("2"), ann);
    const session = await initialize(`${url}/mcp/replay`, bob);
    await legacy(`${url}/mcp/replay`, { id: 1, method: "tools/call", params: write("3") }, session);
    expect(commits.map(({ by }) => by)).toMatchObject([
      { action: "write_file", client: "ann (wire/2)" },
      { action: "write_file", client: "bob (wire/1)" },
    ]);
  });

  it("jobs belong to their session alone, and end with it", async () => {
    const { url } = await serve([tree()], run);
    const own = `${url}/mcp/polyfs`;
    const [ann, bob] = await Promise.all([initialize(own), initialize(own)]);
    const call = async (session: Record<string, string>, name: string, args: unknown) => {
      const message = { id: 1, method: "tools/call", params: { name, arguments: args } };
      return (await legacy(own, message, session)).body;
    };
    const mark = `${700 + Math.random()}`;
    const command = `echo secret of ann; exec sleep ${mark}`;
    expect(await call(ann, "run_command", { command, background: true })).toContain("job 1");
    await expect.poll(() => call(ann, "command_output", { job: "1" })).toContain("secret of ann");
    for (const name of ["command_output", "stop_command"]) {
      const answer = await call(bob, name, { job: "1" });
      expect(answer).toContain('"isError":true');
      expect(answer).not.toContain("secret");
    }
    const sleeping = () => descendants().some(line => line.startsWith(`sleep\0${mark}`));
    expect(sleeping()).toBe(true);
    await send(own, { method: "DELETE", headers: ann });
    await until(() => !sleeping());
  });

  it.each(["taken out", "expired"])("jobs end when their token is %s, without another request", async how => {
    const effects = ["reads", "writes", "runs"] as const;
    const tokens = tokenFile();
    const expires = how === "expired" ? new Date(Date.now() + 12_000).toISOString() : undefined;
    const { ann, bob } = tokens.write({ name: "ann", effects, expires }, { name: "bob", effects });
    const { url } = await serve([tree()], { access: byTokens(tokens), ...run });
    const own = `${url}/mcp/polyfs`;
    const marks = [ann, bob].map(() => `${700 + Math.random()}`);
    for (const [at, who] of [ann, bob].entries()) {
      const params = {
        name: "run_command",
        arguments: { command: `exec sleep ${marks[at]}`, background: true },
      };
      const { body } = await legacy(own, { id: 1, method: "tools/call", params }, await initialize(own, who));
      expect(body).toContain("job 1");
    }
    const sleeping = (mark = "") => descendants().some(line => line.startsWith(`sleep\0${mark}`));
    await until(() => marks.every(sleeping));
    if (how === "taken out") tokens.write({ name: "bob", effects });
    await until(() => !sleeping(marks[0]));
    expect(sleeping(marks[1])).toBe(true);
  });

  it.each([
    ["agent-tools", "bash"],
    ["replay", "execute_command"],
  ])(
    "what a command of %s left in the background ends when its token is taken out",
    async (dialect, name) => {
      const effects = ["reads", "writes", "runs"] as const;
      const tokens = tokenFile();
      const { ann, bob } = tokens.write({ name: "ann", effects }, { name: "bob", effects });
      const { url } = await serve([tree()], { access: byTokens(tokens), ...run });
      const naps = [odd(), odd()];
      for (const [i, who] of [ann, bob].entries()) {
        const call = { name, arguments: { command: `sleep ${naps[i]} > /dev/null 2>&1 &` } };
        await modern(`${url}/mcp/${dialect}`, "tools/call", call, who);
      }
      const counts = () => naps.map(nap => running(nap).length > 0);
      expect(counts()).toEqual([true, true]);
      tokens.write({ name: "bob", effects });
      await until(() => !counts()[0]);
      expect(counts()).toEqual([false, true]);
      tokens.write();
      await until(() => !counts()[1]);
    },
  );

  it("a version belongs to one file, even if another caller has seen the same bytes elsewhere", async () => {
    const names = ["a/x.txt", "a/y.txt", "b/x.txt", "b/y.txt"];
    const root = tree(Object.fromEntries(names.map(name => [name, `first of ${name}\n`])));
    const tokens = tokenFile();
    const grant = (name: string) => [{ path: join(root, name), access: "read-write" as const }];
    const { ann, bob, all } = tokens.write(
      { name: "ann", roots: grant("a") },
      { name: "bob", roots: grant("b") },
      { name: "all" },
    );
    const { url } = await serve([root], { access: byTokens(tokens) });
    const call = async (who: object | undefined, name: string, args: unknown) =>
      (await modern(`${url}/mcp/polyfs`, "tools/call", { name, arguments: args }, { ...who })).body;
    // Each file has versions: one that was read, one that was written and then replaced.
    const versions = new Map<string, { file: string; text: string }>();
    for (const file of names) {
      const path = join(root, file);
      const text = `second of ${file}\n`;
      const read = await call(all, "read_file", { path });
      versions.set(/v:[0-9a-f]{12}/.exec(read)?.[0] ?? "", { file, text: `first of ${file}` });
      const written = await call(all, "write_file", { path, content: text });
      versions.set(/v:[0-9a-f]{12}/.exec(written)?.[0] ?? "", { file, text: `second of ${file}` });
      await call(all, "write_file", { path, content: `third of ${file}\n` });
    }
    expect(versions.size).toBe(8);
    for (const [who, reach] of [
      [ann, "a/"],
      [bob, "b/"],
      [all, ""],
    ] as const)
      for (const [since, { file, text }] of versions)
        for (const path of names.filter(name => name.startsWith(reach))) {
          const told = await call(who, "read_file", { path: join(root, path), since });
          expect([path, since, told.includes(text)]).toEqual([path, since, path === file]);
          const edits = [{ start_line: 1, end_line: 1, new: "x" }];
          const edit = { path: join(root, path), if_version: since, edits, dry_run: true };
          expect(await call(who, "edit_file", edit)).not.toContain(path === file ? "never" : text);
        }
  });

  it("changes in another caller's directories can be neither seen nor undone", async () => {
    const root = tree({ "a/x.txt": "old of ann\n", "b/x.txt": "old of bob\n" });
    const tokens = tokenFile();
    const { ann, bob } = tokens.write(
      { name: "ann", roots: [{ path: join(root, "a"), access: "read-write" }] },
      { name: "bob", roots: [{ path: join(root, "b"), access: "read-write" }] },
    );
    const { url, engine } = await serve([root], { access: byTokens(tokens) });
    const ids: string[] = [];
    engine.workspace.onCommit(({ id }) => void ids.push(id));
    const call = async (who: object | undefined, name: string, args: unknown) =>
      (await modern(`${url}/mcp/polyfs`, "tools/call", { name, arguments: args }, { ...who })).body;
    await call(ann, "write_file", { path: "x.txt", content: "new of ann\n" });
    expect(readFileSync(join(root, "a/x.txt"), "utf8")).toBe("new of ann\n");
    expect(await call(ann, "list_changes", {})).toContain(ids[0]);
    const seen = await call(bob, "list_changes", {});
    expect(seen).not.toContain(ids[0]);
    expect(seen).not.toContain("ann");
    expect(await call(bob, "undo", { change: ids[0] })).toContain('"isError":true');
    expect(readFileSync(join(root, "a/x.txt"), "utf8")).toBe("new of ann\n");
    await call(ann, "undo", { change: ids[0] });
    expect(readFileSync(join(root, "a/x.txt"), "utf8")).toBe("old of ann\n");
  });

  it("without a sandbox, callers that are limited to some directories cannot run commands", async () => {
    const root = tree({ "a/x.txt": "" });
    const tokens = tokenFile();
    const effects = ["reads", "writes", "runs"] as const;
    const { whole, part, plain } = tokens.write(
      { name: "whole", effects },
      { name: "part", effects, roots: [{ path: join(root, "a"), access: "read-write" }] },
      { name: "plain" },
    );
    const { url } = await serve([root], { access: byTokens(tokens), ...run });
    const tools = async (who = {}) => (await modern(`${url}/mcp/agent-tools`, "tools/list", {}, who)).body;
    expect(await tools(whole)).toContain('"bash"');
    expect(await tools(part)).not.toContain('"bash"');
    expect(await tools(plain)).not.toContain('"bash"');
  });
});

describe("a client that disconnects", () => {
  it.each(["modern", "legacy"])("in the middle of a command leaves no process behind (%s)", async era => {
    const { url } = await serve([tree()], run);
    const agent = `${url}/mcp/agent-tools`;
    const mark = `${600 + Math.random()}`;
    const params = { name: "bash", arguments: { command: `sleep ${mark} & sleep ${mark}; wait` } };
    const leave = new AbortController();
    const session = era === "legacy" ? await initialize(agent) : undefined;
    const answer =
      session === undefined
        ? modern(agent, "tools/call", params, {}, leave.signal)
        : legacy(agent, { id: 1, method: "tools/call", params }, session, leave.signal);
    const left = answer.catch(() => "left");
    const sleeping = () => descendants().filter(command => command.startsWith(`sleep\0${mark}`)).length;
    await until(() => sleeping() === 2);
    leave.abort();
    expect(await left).toBe("left");
    await until(() => sleeping() === 0);
  });

  it("in the middle of a search leaves no process behind", async () => {
    const root = tree();
    // One large file under many names: a search that takes minutes, for the room of one.
    writeFileSync(join(root, "0.txt"), `${"abcdefghij klmnopqrst ".repeat(20)}\n`.repeat(60_000));
    for (let n = 1; n < 300; n++) linkSync(join(root, "0.txt"), join(root, `${n}.txt`));
    const { url } = await serve([root]);
    const pattern = "(?i)(\\pL+\\s+){15,19}\\pL{3,9}(\\pL|\\d){90}\\d$";
    const leave = new AbortController();
    const left = modern(
      `${url}/mcp/agent-tools`,
      "tools/call",
      { name: "grep", arguments: { pattern } },
      {},
      leave.signal,
    ).catch(() => "left");
    const searching = () => descendants().filter(command => /\brg\0/.test(command)).length;
    await until(() => searching() > 0);
    leave.abort();
    expect(await left).toBe("left");
    await until(() => searching() === 0);
  });

  it("in the middle of writing leaves no lock behind, and a complete file", async () => {
    const root = tree({ "a.txt": "old\n" });
    const { url, engine } = await serve([root]);
    const path = join(root, "a.txt");
    const write = (content: string, signal?: AbortSignal) =>
      modern(
        `${url}/mcp/replay`,
        "tools/call",
        { name: "write_file", arguments: { path, content } },
        {},
        signal,
      );
    // The server does not read from a request while its tools load, so it does not see that the client has left.
    await write("old\n");
    const contents = new Set(["old\n"]);
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const content = `${n}\n`.repeat(100_000);
        contents.add(content);
        const leave = new AbortController();
        const writing = write(content, leave.signal).catch(() => {});
        await sleep(n * 3);
        leave.abort();
        await writing;
      }),
    );
    // A write whose request had arrived may still be made, whole: that it has not begun yet is no sign that it won't.
    const isQuiet = async () => {
      const { body } = await send(`${url}/metrics`);
      return body.includes("\npolyfs_calls_running 0\n") && body.includes("\npolyfs_requests_open 0\n");
    };
    for (let n = 0, quiet = 0; n < 1000 && quiet < 20; n++) {
      quiet = (await isQuiet()) ? quiet + 1 : 0;
      await sleep(10);
    }
    expect(contents).toContain(readFileSync(path, "utf8"));
    const { status, message } = await write("last\n");
    expect([status, message]).toMatchObject([
      200,
      { result: { content: [{ text: expect.stringMatching(/^Successfully/) }] } },
    ]);
    expect(readFileSync(path, "utf8")).toBe("last\n");
    await engine.workspace.settled();
    expect(readdirSync(root)).toEqual(["a.txt"]);
  });
});
