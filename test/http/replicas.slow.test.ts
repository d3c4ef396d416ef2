// The program with --store, as two machines would start it, and the commands that look after a store.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs } from "../cli/program.ts";
import { tree } from "./fixture.ts";
import { startOverHttp } from "./started-program.ts";
import { modern } from "./wire.ts";

async function says(url: string, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { message } = await modern(`${url}/mcp`, "tools/call", { name, arguments: args });
  const { content } = message.result as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}

describe("servers that share a store", () => {
  it("an edit on one is read on the other, undone there, and in the history of both", async () => {
    const [base, store] = [tree(), join(tree(), "store")];
    for (const name of ["a", "b"]) mkdirSync(join(base, name));
    writeFileSync(join(base, "a/f.txt"), "one\ntwo\n");
    const options = ["--store", store, "--store-workspace", "w", "--allow-run=unsandboxed"];
    const a = await startOverHttp(...options, "--state-dir", join(base, "state-a"), join(base, "a"));
    const b = await startOverHttp(...options, "--state-dir", join(base, "state-b"), join(base, "b"));
    const edited = await says(a.url, "edit_file", { path: "f.txt", edits: [{ old: "two", new: "2" }] });
    expect(await says(b.url, "read_file", { path: "f.txt" })).toContain("2: 2");
    const change = /^change (\w+)/m.exec(edited)?.[1] ?? "";
    expect(await says(b.url, "list_changes")).toContain(change);
    await says(b.url, "run_command", { command: "echo made > made.txt" });
    expect(await says(a.url, "read_file", { path: "made.txt" })).toContain("1: made");
    await says(b.url, "undo", { change });
    expect(await says(a.url, "read_file", { path: "f.txt" })).toContain("2: two");
    const metrics = await (await fetch(`${a.url}/metrics`)).text();
    expect(metrics).toMatch(/^polyfs_store_up 1$/m);
    rmSync(join(store, "names"), { recursive: true }); // the store is damaged while they run
    expect(await says(a.url, "read_file", { path: "f.txt" })).toMatch(/2: two\n.*cannot be reached/s);
    const refused = await says(a.url, "read_file", { path: "absent.txt" });
    expect(refused).toMatch(/^not_found: .*cannot be reached. This is the copy of this server/s);
    expect(await says(a.url, "write_file", { path: "g.txt", content: "x" })).toMatch(/^io: The shared store/);
  });

  it("changes that a killed process answered and could not send are sent by the next one", async () => {
    const [base, store] = [tree(), join(tree(), "store")];
    for (const name of ["a", "b"]) mkdirSync(join(base, name));
    writeFileSync(join(base, "a/f.txt"), "1\n-\n2\n");
    const start = (name: string) => {
      const state = ["--state-dir", join(base, `state-${name}`)];
      return startOverHttp("--store", store, "--store-durability", "local", ...state, join(base, name));
    };
    const a = await start("a");
    const b = await start("b");
    // Nothing can be put into the store.
    renameSync(join(store, "objects"), join(base, "objects"));
    writeFileSync(join(store, "objects"), "");
    const patch =
      "*** Begin Patch\n*** Update File: f.txt\n@@\n-1\n+one\n*** Add File: new/h\n+h\n*** End Patch\n";
    expect(await says(a.url, "apply_patch", { patch })).toContain("change");
    a.signal("SIGKILL");
    await a.ended;
    rmSync(join(store, "objects"));
    renameSync(join(base, "objects"), join(store, "objects"));
    await says(b.url, "edit_file", { path: "f.txt", edits: [{ old: "2", new: "two" }] });
    const again = await start("a");
    for (const { url } of [again, b]) {
      await expect
        .poll(() => says(url, "read_file", { path: "f.txt" }), { timeout: 20_000 })
        .toMatch(/1: one\n2: -\n3: two/);
      expect(await says(url, "read_file", { path: "new/h" })).toContain("1: h");
    }
  });

  it("a start that cannot share says why, in one line", () => {
    const [root, base] = [tree(), tree()];
    const start = (...args: readonly string[]) =>
      polyfs(["--http", "0", "--state-dir", join(base, "s"), ...args, root]);
    expect(start("--store", "postgres://nobody@127.0.0.1:1/x")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("cannot be reached"),
    });
    expect(start("--store", "redis://x").stderr).toContain("postgres://");
  });
});

describe("polyfs store", () => {
  it("lists, checks, collects, and copies a store to and from a directory", async () => {
    const [base, store] = [tree(), join(tree(), "store")];
    mkdirSync(join(base, "a"));
    writeFileSync(join(base, "a/f.txt"), "precious\n");
    const state = ["--state-dir", join(base, "state-a")];
    const a = await startOverHttp("--store", store, ...state, join(base, "a"));
    await says(a.url, "write_file", { path: "f.txt", content: "more\n" });
    a.signal("SIGTERM");
    await a.ended;
    const run = (...args: readonly string[]) => polyfs(["store", ...args]);
    expect(run("list", "--store", store).stdout).toMatch(/^main\trevision 2/);
    expect(run("check", "--store", store)).toMatchObject({ code: 0, stdout: "no damage found\n" });
    expect(run("gc", "--store", store).stdout).toContain("removed 0 dropped workspaces and 0 objects");
    expect(run("gc", "--grace", "1s", "--store", store).code).toBe(2);
    expect(run("export", join(base, "copy"), "--store", store).stdout).toContain("1 workspaces, 2 entries");
    expect(run("import", join(base, "copy"), "--store", join(base, "third")).stdout).toContain("2 objects");
    mkdirSync(join(base, "b"));
    const b = await startOverHttp(
      "--store",
      join(base, "third"),
      "--state-dir",
      join(base, "state-b"),
      join(base, "b"),
    );
    expect(await says(b.url, "read_file", { path: "f.txt" })).toContain("1: more");
    expect(readFileSync(join(base, "b/f.txt"), "utf8")).toBe("more\n");
    rmSync(join(store, "objects"), { recursive: true });
    const checked = run("check", "--store", store);
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining("missing object")]);
    expect(run("check").stderr).toContain("POLYFS_STORE");
  });

  it("finds no undamaged store, and no backup, in a directory that has none, and makes none there", () => {
    const base = tree();
    mkdirSync(join(base, "files"));
    const run = (...args: readonly string[]) => polyfs(["store", ...args]);
    for (const name of ["missing", "files"]) {
      const at = join(base, name);
      const there = { code: 1, stdout: "", stderr: expect.stringContaining(`there is no store in ${at}`) };
      for (const verb of ["check", "list", "gc"]) expect(run(verb, "--store", at)).toMatchObject(there);
      expect(run("export", join(base, "copy"), "--store", at)).toMatchObject(there);
      expect(run("import", at, "--store", join(base, "copy"))).toMatchObject(there);
    }
    expect(readdirSync(base, { recursive: true })).toEqual(["files"]);
  });

  it("copies to and from no directory that is not named, and names the one that cannot be one", () => {
    const base = tree();
    const store = join(base, "store");
    writeFileSync(join(base, "file"), "");
    const run = (...args: readonly string[]) => polyfs(["store", ...args, "--store", store], { cwd: base });
    for (const verb of ["export", "import"])
      expect(run(verb, "")).toMatchObject({ code: 2, stderr: expect.stringContaining("needs a DIR") });
    expect(readdirSync(base)).toEqual(["file"]);
    mkdirSync(join(store, "workspaces"), { recursive: true });
    const refused = { code: 1, stderr: expect.stringContaining(join(base, "file")) };
    for (const verb of ["export", "import"]) expect(run(verb, join(base, "file"))).toMatchObject(refused);
  });
});
