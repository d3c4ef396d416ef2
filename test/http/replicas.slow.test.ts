// The program with --store, as two machines would start it, and the commands that look after a store.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
    expect(await says(a.url, "write_file", { path: "g.txt", content: "x" })).toMatch(/^io: The shared store/);
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
});
