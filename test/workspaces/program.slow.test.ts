// Workspaces as people and clients use them: the commands, stdio with --workspace-name, HTTP by path and by token.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs } from "../cli/program.ts";
import { startWith } from "../http/started-program.ts";
import { initialize, legacy, modern } from "../http/wire.ts";
import { Fixture, treeOf } from "./fixture.ts";

class ProgramFixture extends Fixture {
  readonly all = join(this.path, "all");
  readonly env = { POLYFS_STATE_DIR: join(this.path, "state-of-program") };

  /** Runs `polyfs workspace …`; throws if that fails. */
  run(...args: string[]): string {
    const { code, stdout, stderr } = this.attempt(...args);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  attempt(...args: string[]) {
    return polyfs(["workspace", ...args, "--workspaces", this.all], { env: this.env });
  }

  /** One call in a workspace, as a server on stdio answers it. */
  call(name: string, tool: string, params: unknown, ...args: string[]) {
    const given = ["--workspaces", this.all, "--workspace-name", name, ...args];
    const ending = polyfs(["call", tool, JSON.stringify(params), "--json", ...given], { env: this.env });
    if (ending.stdout === "") throw new Error(ending.stderr);
    const { content, isError = false } = JSON.parse(ending.stdout);
    return { text: content[0].text as string, isError: isError as boolean };
  }
}

describe("polyfs workspace", () => {
  it("adopts, forks, compares, merges, drops and restores", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a.txt": "1\n2\n3\n" });
    expect(fixture.run("adopt", "main", base)).toContain(base);
    fixture.run("fork", "task", "--from", "main");
    expect(fixture.run("list")).toMatch(/^main +adopted[\s\S]*^task +fork of main/m);
    fixture.call("task", "write_file", { path: "b.txt", content: "b\n" });
    expect(fixture.run("diff", "task")).toBe("A b.txt (+1 -0)\n@@ -0,0 +1 @@\n+b\n");
    expect(existsSync(join(base, "b.txt"))).toBe(false);
    expect(fixture.run("merge", "task")).toMatch(/^A b\.txt\nchange m\w+\n$/);
    expect(readFileSync(join(base, "b.txt"), "utf8")).toBe("b\n");
    fixture.run("drop", "task");
    expect(fixture.run("list")).not.toContain("task");
    expect(fixture.run("list", "--dropped")).toContain("task");
    fixture.run("restore", "task");
    expect(fixture.call("task", "read_file", { path: "b.txt" }).text).toContain("1: b");
    fixture.run("drop", "task");
    fixture.run("collect", "--workspace-keep-dropped", "0s");
    expect(treeOf(join(fixture.all, "trees"))).toEqual({});
    expect(fixture.attempt("restore", "task")).toMatchObject({ code: 1 });
  });

  it("shows a name with a line break in one line", () => {
    using fixture = new ProgramFixture();
    const name = "a\nchange m0";
    fixture.run("adopt", "main", fixture.files("base", {}));
    fixture.run("fork", "task", "--from", "main");
    fixture.call("task", "write_file", { path: name, content: "b\n" });
    expect(fixture.run("diff", "task")).toMatch(/^A a\\x0achange m0 /);
    expect(fixture.run("merge", "task")).toMatch(/^A a\\x0achange m0\nchange m\w+\n$/);
  });

  it("collects forks with read-only directories in them, also for an ordinary user", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "modules/a/b/file": "x\n", "modules/c/file": "y\n" });
    for (const name of ["modules/a/b", "modules/a", "modules/c", "modules"])
      chmodSync(join(base, name), 0o555);
    const user = process.getuid?.() === 0 ? 65534 : undefined;
    if (user !== undefined) execFileSync("chown", ["-R", `${user}:${user}`, fixture.path]);
    const run = (...args: string[]) => {
      const all = ["workspace", ...args, "--workspaces", fixture.all];
      return polyfs(all, { env: { ...fixture.env, HOME: fixture.path }, ...(user && { uid: user }) });
    };
    expect(run("adopt", "main", base)).toMatchObject({ code: 0 });
    expect(run("fork", "task", "--from", "main")).toMatchObject({ code: 0 });
    expect(run("drop", "task")).toMatchObject({ code: 0 });
    expect(run("collect", "--workspace-keep-dropped", "0s")).toMatchObject({ code: 0, stderr: "" });
    for (const folder of ["trees", "removing"]) expect(treeOf(join(fixture.all, folder))).toEqual({});
  });

  it("creates empty workspaces and copies of directories, and leaves an adopted directory when it is dropped", () => {
    using fixture = new ProgramFixture();
    const from = fixture.files("from", { "a/b.txt": "b\n" });
    fixture.run("create", "empty");
    fixture.run("create", "copied", from);
    expect(fixture.call("empty", "list_directory", {}).text).not.toContain("b.txt");
    fixture.call("copied", "write_file", { path: "a/b.txt", content: "changed\n" });
    expect(treeOf(from)).toEqual({ "a/b.txt": "b\n" });
    fixture.run("adopt", "main", from);
    fixture.run("drop", "main");
    expect(treeOf(from)).toEqual({ "a/b.txt": "b\n" });
  });

  it("reports an overlap with both sides, and takes a side on request", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a.txt": "1\n" });
    fixture.run("adopt", "main", base);
    fixture.run("fork", "task", "--from", "main");
    fixture.call("task", "write_file", { path: "a.txt", content: "fork\n" });
    writeFileSync(join(base, "a.txt"), "base\n");
    const { code, stderr } = fixture.attempt("merge", "task");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /a\.txt: both changed the same lines\n {2}base:\n {4}1: base\n {2}fork:\n {4}1: fork/,
    );
    fixture.run("merge", "task", "--prefer", "fork");
    expect(treeOf(base)).toEqual({ "a.txt": "fork\n" });
  });

  it("refuses nested directories, a second name, a base with forks, and a workspace that is not a fork", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a/b.txt": "b\n" });
    expect(fixture.attempt("adopt", "whole", fixture.path).stderr).toContain("are nested");
    fixture.run("adopt", "main", base);
    expect(fixture.attempt("adopt", "inner", join(base, "a")).stderr).toContain("are nested");
    fixture.run("fork", "task", "--from", "main");
    expect(fixture.attempt("fork", "task", "--from", "main").stderr).toContain("already");
    expect(fixture.attempt("drop", "main").stderr).toContain("has forks: task");
    expect(fixture.attempt("merge", "main").stderr).toContain("not a fork");
    expect(fixture.attempt("fork", "other", "--from", "nothing").stderr).toContain("no workspace");
  });
});

describe("the tool workspace", () => {
  it("forks, compares, merges in two steps and drops, and each workspace has its own history", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a.txt": "1\n2\n3\n" });
    fixture.run("adopt", "main", base);
    expect(fixture.call("main", "workspace", { action: "fork", name: "task" }).text).toMatch(
      /^forked main as task.*\n.*This connection stays in main\.$/,
    );
    const nameless = fixture.call("main", "workspace", { action: "merge" });
    expect(nameless.text).toContain("name one. workspace with action list shows them");
    fixture.call("task", "edit_file", { path: "a.txt", edits: [{ old: "2", new: "fork" }] });
    fixture.call("main", "edit_file", { path: "a.txt", edits: [{ old: "2", new: "base" }] });
    expect(fixture.call("task", "list_changes", {}).text.match(/a\.txt/g)).toHaveLength(1);
    const refused = fixture.call("task", "workspace", { action: "merge" });
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/^conflict: nothing was merged[\s\S]*2: base[\s\S]*2: fork/);
    fixture.call("task", "edit_file", { path: "a.txt", edits: [{ old: "fork", new: "fork and base" }] });
    expect(fixture.call("main", "workspace", { action: "merge", name: "task" }).text).toMatch(
      /^merged task: 1 file, change m/,
    );
    expect(treeOf(base)).toEqual({ "a.txt": "1\nfork and base\n3\n" });
    expect(fixture.call("main", "undo", {}).isError).toBe(false);
    expect(treeOf(base)).toEqual({ "a.txt": "1\nbase\n3\n" });
    expect(fixture.call("main", "workspace", { action: "drop", name: "task" }).text).toMatch(/^dropped task/);
    expect(fixture.call("main", "workspace", { action: "list" }).text).not.toContain("task");
  });

  it("reaches the workspace that it is in and the forks of it, and no others", () => {
    using fixture = new ProgramFixture();
    fixture.run("create", "main");
    fixture.run("fork", "one", "--from", "main");
    fixture.run("fork", "two", "--from", "main");
    for (const action of ["diff", "merge", "drop"] as const) {
      for (const name of ["main", "two"])
        expect(fixture.call("one", "workspace", { action, name }).text).toMatch(/^denied: /);
    }
    expect(fixture.call("one", "workspace", { action: "fork", name: "x", from: "two" }).text).toMatch(
      /^denied: /,
    );
    expect(fixture.call("one", "workspace", { action: "fork", name: "x" }).isError).toBe(false);
    expect(fixture.call("main", "workspace", { action: "diff", name: "x" }).isError).toBe(false);
    const other = join(fixture.all, "trees");
    expect(fixture.call("one", "list_directory", { path: other }).text).toMatch(/^outside_roots/);
    expect(fixture.call("one", "read_file", { path: "../../../store" }).text).toMatch(/^outside_roots/);
  });

  it("shows in a diff what is new, counts what is deleted, and says what it leaves out", () => {
    using fixture = new ProgramFixture();
    const long = "a line of some length\n".repeat(4000);
    const base = fixture.files("base", { "a/long.txt": long, "a/short.txt": "short\n", "b.txt": "b\n" });
    fixture.run("adopt", "main", base);
    fixture.run("fork", "task", "--from", "main");
    const change = (tool: string, params: object) =>
      expect(fixture.call("task", tool, params).isError).toBe(false);
    const diff = () => fixture.call("main", "workspace", { action: "diff", name: "task" }).text.split("\n");
    change("delete_path", { path: "a", recursive: true });
    change("write_file", { path: "b.txt", content: "B\n" });
    const shown = [
      "3 files and 1 directory of task differ from its base",
      "D a (directory)",
      "D a/long.txt (+0 -4000)",
      "D a/short.txt (+0 -1)",
      "M b.txt (+1 -1)",
      "",
      "b.txt",
      "@@ -1 +1 @@",
      "-b",
      "+B",
    ];
    expect(diff()).toEqual(shown);
    change("write_file", { path: "new.txt", content: long });
    const more = diff();
    expect(more[0]).toBe("4 files and 1 directory of task differ from its base");
    expect(more.at(-1)).toBe("[some diffs are left out: read the files]");
  });

  it("is not offered where no workspaces are served, and every dialect works in a fork", () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a.txt": "a\n" });
    fixture.run("adopt", "main", base);
    fixture.run("fork", "task", "--from", "main");
    expect(polyfs(["call", "workspace", '{"action":"list"}', base], { env: fixture.env }).code).not.toBe(0);
    for (const dialect of ["fs", "agent-tools"])
      expect(fixture.call("task", "read_file", { path: "a.txt" }, "--dialect", dialect).text).toContain("a");
  });
});

describe("over HTTP", () => {
  const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } });
  const textOf = (reply: { message: { result?: Record<string, unknown> } }) =>
    (reply.message.result?.content as { text: string }[] | undefined)?.[0]?.text ?? "";

  it("serves each workspace at /mcp/w/NAME, for both eras, and a dialect behind it", async () => {
    using fixture = new ProgramFixture();
    const base = fixture.files("base", { "a.txt": "a\n" });
    fixture.run("adopt", "main", base);
    fixture.run("fork", "task", "--from", "main");
    const { url } = await startWith(fixture.env, "--workspaces", fixture.all);
    const listed = await modern(`${url}/mcp/w/task`, "tools/call", {
      name: "workspace",
      arguments: { action: "list" },
    });
    expect(textOf(listed)).toContain("* task");
    await modern(`${url}/mcp/w/task`, "tools/call", write("b.txt", "b\n"));
    const session = await initialize(`${url}/mcp/w/task`);
    const read = { id: 1, method: "tools/call", params: { name: "read_file", arguments: { path: "b.txt" } } };
    expect(textOf(await legacy(`${url}/mcp/w/task`, read, session))).toContain("1: b");
    // A session belongs to its workspace.
    expect((await legacy(`${url}/mcp/w/main`, read, session)).status).toBe(404);
    expect(textOf(await modern(`${url}/mcp/w/main`, "tools/call", read.params))).toMatch(/^not_found/);
    const other = await modern(`${url}/mcp/w/task/fs`, "tools/list");
    expect(JSON.stringify(other.message.result)).toContain("fs.");
    expect((await modern(`${url}/mcp`, "tools/list")).status).toBe(404);
    expect((await modern(`${url}/mcp/w/nothing`, "tools/list")).status).toBe(404);
    expect((await modern(`${url}/mcp/w/..%2Ftask`, "tools/list")).status).toBe(404);
    const fork = { name: "workspace", arguments: { action: "fork", name: "next" } };
    expect(textOf(await modern(`${url}/mcp/w/task`, "tools/call", fork))).toMatch(/^forked task as next/);
    expect(textOf(await modern(`${url}/mcp/w/next`, "tools/call", read.params))).toContain("1: b");
  });

  it("lets a token into its workspace and the forks of it, and nowhere else", async () => {
    using fixture = new ProgramFixture();
    fixture.run("create", "main");
    fixture.run("fork", "mine", "--from", "main");
    fixture.run("fork", "other", "--from", "main");
    const file = join(fixture.path, "tokens.json");
    const added = polyfs(["token", "add", "ann", "--tokens", file, "--workspace", "mine"], {
      env: fixture.env,
    });
    const secret = added.stdout
      .trim()
      .split(/\s+/)
      .find(word => word.startsWith("pfs_"));
    const { url } = await startWith(fixture.env, "--workspaces", fixture.all, "--tokens", file);
    const headers = { authorization: `Bearer ${secret}` };
    const ask = (path: string, params: Record<string, unknown>) =>
      modern(url + path, "tools/call", params, headers);
    expect(textOf(await ask("/mcp", write("a.txt", "a\n")))).toContain("created a.txt");
    expect(textOf(await ask("/mcp/w/mine", { name: "read_file", arguments: { path: "a.txt" } }))).toContain(
      "1: a",
    );
    for (const name of ["main", "other", "nothing"])
      expect((await ask(`/mcp/w/${name}`, write("a.txt", "b\n"))).status).toBe(403);
    await ask("/mcp", { name: "workspace", arguments: { action: "fork", name: "child" } });
    expect(textOf(await ask("/mcp/w/child", { name: "read_file", arguments: { path: "a.txt" } }))).toContain(
      "1: a",
    );
    const listed = textOf(await ask("/mcp", { name: "workspace", arguments: { action: "list" } }));
    expect(listed).toContain("child");
    expect(listed).not.toContain("other");
    expect((await modern(`${url}/mcp/w/mine`, "tools/list")).status).toBe(401);
  });

  it("binds a token to a workspace and not to its name, and reveals nothing about others", async () => {
    using fixture = new ProgramFixture();
    fixture.run("create", "main");
    for (const name of ["used", "named", "other"]) fixture.run("fork", name, "--from", "main");
    const file = join(fixture.path, "tokens.json");
    const token = (name: string, workspace: string, ...args: string[]) => {
      const given = ["token", "add", name, "--tokens", file, "--workspace", workspace, ...args];
      const { stdout } = polyfs(given, { env: fixture.env });
      return { authorization: `Bearer ${stdout.trim()}` };
    };
    const [first, second, attacker] = [
      token("first", "used"),
      token("second", "named", "--workspaces", fixture.all),
      token("attacker", "other"),
    ];
    const { url } = await startWith(fixture.env, "--workspaces", fixture.all, "--tokens", file);
    const ask = (headers: Record<string, string>, params: Record<string, unknown>) =>
      modern(`${url}/mcp`, "tools/call", params, headers);
    const act = async (headers: Record<string, string>, params: Record<string, unknown>) =>
      textOf(await ask(headers, { name: "workspace", arguments: params }));
    await ask(attacker, write("secret.txt", "secret\n"));
    expect(textOf(await ask(first, write("a.txt", "a\n")))).toContain("created a.txt");
    // No tool drops the workspace that the caller's token is for.
    expect(await act(first, { action: "drop", name: "used" })).toMatch(/^denied: /);
    const answers = await Promise.all(
      ["other", "nope1"].map(async name =>
        (await act(first, { action: "diff", name })).replaceAll(name, "X"),
      ),
    );
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).not.toMatch(/named|other|main/);
    expect(await act(first, { action: "fork", name: "other" })).toMatch(/^exists: the name other is taken/);
    fixture.run("drop", "used");
    fixture.run("drop", "named");
    // The name of a dropped workspace is reserved against agents of another one ...
    for (const name of ["used", "named"])
      expect(await act(attacker, { action: "fork", name })).toMatch(/^exists: the name \w+ is taken/);
    // ... and where a person gives it to another workspace, the old tokens do not come along.
    for (const name of ["used", "named"]) fixture.run("fork", name, "--from", "other");
    const read = { name: "read_file", arguments: { path: "secret.txt" } };
    for (const headers of [first, second]) expect((await ask(headers, read)).status).toBe(403);
    // A dropped workspace comes back by its id, and its token with it.
    for (const name of ["used", "named"]) fixture.run("drop", name);
    const dropped = JSON.parse(fixture.run("list", "--dropped", "--json")) as Record<string, string>[];
    const [earliest, ...later] = dropped
      .filter(({ name }) => name === "used")
      .sort((a, b) => Number(a.created) - Number(b.created));
    expect(later).toHaveLength(1);
    expect(fixture.run("list", "--dropped")).toContain(earliest?.id);
    fixture.run("restore", earliest?.id ?? "");
    expect(textOf(await ask(first, { name: "read_file", arguments: { path: "a.txt" } }))).toContain("1: a");
  });
});
