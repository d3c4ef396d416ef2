// What people do with the program besides serving, as they do it: in a shell, in a directory.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { polyfs, repository, tree } from "./program.ts";
import { project } from "./project.ts";

describe("polyfs call", () => {
  it("prints the protocol's result for a program, and the exit code says how the call ended", () => {
    const { call } = project();
    const good = call("read_file", { path: "a.txt" });
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout).content[0].text).toContain("2: two");
    const bad = call("read_file", { path: "b.txt" });
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ isError: true });
  });

  it("prints text for people, with colours only on a terminal that wants them", () => {
    const { root, run } = project();
    const text = run("call", "--text", "read_file", '{"path":"a.txt","numbers":false}').stdout;
    expect(text).toContain("\none\ntwo\nthree\n");
    expect(text).not.toContain("\x1b");
    const onTerminal = (env: NodeJS.ProcessEnv) => {
      const line = `"${process.execPath}" "${join(repository, "dist/polyfs.cjs")}" call --dialect polyfs read_file '{"path":"no.txt"}'`;
      return spawnSync("script", ["-qec", line, "/dev/null"], {
        cwd: root,
        encoding: "utf8",
        env: { ...process.env, TERM: "xterm", NO_COLOR: "", ...env },
      }).stdout;
    };
    expect(onTerminal({})).toMatch(/\x1b\[31m.*not_found/);
    expect(onTerminal({ NO_COLOR: "1" })).not.toContain("\x1b");
    expect(onTerminal({ TERM: "dumb" })).not.toContain("\x1b");
  });

  it("strips control sequences in file contents from terminal output", () => {
    const { root, path } = project();
    writeFileSync(path("evil.txt"), "\x1b]0;owned\x07\x9b31m\n");
    const line = `"${process.execPath}" "${join(repository, "dist/polyfs.cjs")}" call --dialect polyfs read_file '{"path":"evil.txt"}'`;
    const { stdout } = spawnSync("script", ["-qec", line, "/dev/null"], { cwd: root, encoding: "utf8" });
    expect(stdout).toContain("owned");
    expect(stdout).not.toMatch(/[\x1b\x07\x9b]/);
  });

  it("reads parameters from stdin, for texts that a shell cannot pass on", () => {
    const { root, path } = project();
    const input = JSON.stringify({ path: "b.txt", content: 'it\'s "quoted" $HOME\n' });
    const ending = polyfs(["call", "--dialect=polyfs", "write_file", "-"], { cwd: root, input });
    expect(ending.code).toBe(0);
    expect(readFileSync(path("b.txt"), "utf8")).toBe('it\'s "quoted" $HOME\n');
  });

  it("stays in the working directory, or in the directories that are named", () => {
    const { root, run } = project();
    const elsewhere = tree();
    writeFileSync(join(elsewhere, "c.txt"), "see\n");
    const params = JSON.stringify({ path: join(elsewhere, "c.txt") });
    expect(run("call", "read_file", params).code).toBe(1);
    expect(run("call", "--allow-read", elsewhere, "read_file", params).code).toBe(0);
    const write = JSON.stringify({ path: join(root, "a.txt"), content: "" });
    expect(run("call", "--read-only", "write_file", write).code).toBe(1);
  });

  it("reports a failure of a contract with protocol errors in the same way", () => {
    const { run } = project();
    const ending = run("call", "--dialect=replay", "read_file", '{"path":"no.txt"}');
    expect(ending.code).toBe(1);
    expect(JSON.parse(ending.stdout)).toMatchObject({ error: { code: -32002 } });
    const text = run("call", "--dialect=replay", "--text", "read_file", '{"path":"no.txt"}');
    expect(text).toMatchObject({ code: 1, stdout: "" });
    expect(text.stderr).toContain("error -32002: ");
  });

  it("says what is wrong with the command line", () => {
    const { run } = project();
    expect(run("call")).toMatchObject({ code: 2, stdout: "" });
    expect(run("call", "read_file", "{path: a}").stderr).toContain("the parameters are not JSON");
    expect(run("call", "read_file", "{}", "more").stderr).toContain('unexpected argument: "more"');
    expect(run("call", "--http=1", "read_file").stderr).toContain("unknown option --http");
    expect(run("call", "--jsn", "read_file").stderr).toContain("did you mean --json?");
    expect(run("call", "--json=1", "read_file").stderr).toContain("--json takes no value");
  });
});

describe("polyfs tools", () => {
  it("describes one tool with all its parameters, and what it costs", () => {
    const { stdout } = polyfs(["tools", "--dialect", "agent-tools", "grep"]);
    expect(stdout).toMatch(/^grep {2}reads: .*\(~\d+ tokens\)$/m);
    expect(stdout).toMatch(/^ {2}pattern +string: /m);
    expect(stdout).toMatch(/^ {2}ignore_case\? +boolean \(default false\): /m);
    expect(polyfs(["tools", "--dialect", "polyfs", "edit_fil"]).stderr).toContain("did you mean edit_file?");
  });

  it("lists what is offered with these options, and names the rest", () => {
    const { stdout } = polyfs(["tools", "--dialect", "polyfs", "--read-only"]);
    expect(stdout).not.toMatch(/^write_file/m);
    expect(stdout).toMatch(/^Not offered with these options: .*write_file/m);
    const definitions = JSON.parse(polyfs(["tools", "--dialect", "polyfs", "--json"]).stdout);
    expect(definitions[0]).toMatchObject({ name: "read_file", inputSchema: { type: "object" } });
  });
});

describe("polyfs history and polyfs undo", () => {
  it("show what was done to a file line by line, take it back, and do it again", () => {
    const { path, run, call } = project();
    call("edit_file", { path: "a.txt", edits: [{ old: "two", new: "zwei" }] });
    const { stdout: before } = run("history", "--diff");
    expect(before).toMatch(
      /^\w+ · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d · edit_file · polyfs call\n {2}M a\.txt \+1 -1\n/,
    );
    expect(before).toContain("\n-two\n+zwei\n");
    const dry = run("undo", "--dry-run");
    expect(dry.stdout).toContain("\n-zwei\n+two\n");
    expect(readFileSync(path("a.txt"), "utf8")).toContain("zwei");
    expect(run("undo").stdout).toMatch(/Undone, as change \w+\.\n$/);
    expect(readFileSync(path("a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    run("redo");
    expect(readFileSync(path("a.txt"), "utf8")).toContain("zwei");
    const records = run("history", "--json")
      .stdout.trimEnd()
      .split("\n")
      .map(line => JSON.parse(line));
    expect(records.map(({ action }) => action)).toEqual(["undo", "undo", "edit_file"]);
    expect(records[0].undoes).toBe(records[1].id);
  });

  it("bring back a deleted tree, and one file of a change", () => {
    const { path, run, call } = project();
    mkdirSync(path("d/e"), { recursive: true });
    writeFileSync(path("d/e/f.sh"), "#!/bin/sh\n");
    chmodSync(path("d/e/f.sh"), 0o750);
    call("delete_path", { path: "d", recursive: true });
    expect(existsSync(path("d"))).toBe(false);
    expect(run("undo", "./d").stdout).toContain("restored d");
    expect(readFileSync(path("d/e/f.sh"), "utf8")).toBe("#!/bin/sh\n");
    // The later edit keeps a line between itself and the change: what adjoins it is a conflict.
    writeFileSync(path("a.txt"), "one\ntwo\nmiddle\nthree\n");
    call("replace_in_files", { paths: ["**"], old: "o", new: "0" });
    const { stdout } = run("history", "--limit", "1", "--json");
    const { id } = JSON.parse(stdout);
    call("edit_file", { path: "a.txt", edits: [{ old: "three", new: "3" }] });
    expect(run("undo", id, "a.txt").code).toBe(0);
    expect(readFileSync(path("a.txt"), "utf8")).toBe("one\ntwo\nmiddle\n3\n");
  });

  it("refuse what later edits overlap, and say so in one line", () => {
    const { path, run, call } = project();
    call("edit_file", { path: "a.txt", edits: [{ old: "two", new: "zwei" }] });
    writeFileSync(path("a.txt"), "one\ndeux\nthree\n");
    const { code, stderr } = run("undo");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^polyfs: .*a\.txt has changed.*\n$/);
    expect(readFileSync(path("a.txt"), "utf8")).toBe("one\ndeux\nthree\n");
  });

  it("handle changes elsewhere: history lists them, undo says which directory to name", () => {
    const { root, run, call } = project();
    call("write_file", { path: "sub/b.txt", content: "b\n" });
    call("write_file", { path: "c.txt", content: "c\n" });
    const [last = "", first = ""] = run("history", "--json").stdout.trimEnd().split("\n");
    expect(run("history", "sub").stdout).toContain("sub/b.txt");
    expect(run("history", "sub").stdout).not.toContain("c.txt");
    const env = { POLYFS_STATE_DIR: join(root, "../state") };
    const from = (...args: string[]) => polyfs(args, { cwd: join(root, "sub"), env });
    expect(from("history", "--all", "--limit=1").stdout).toContain(`A ${root}/c.txt`);
    const { code, stderr } = from("undo", JSON.parse(last).id);
    expect(code).toBe(2);
    expect(stderr).toContain(`--workspace ${root}`);
    expect(from("undo", JSON.parse(last).id, "--workspace", root).code).toBe(0);
    expect(existsSync(join(root, "c.txt"))).toBe(false);
    expect(from("undo", `${JSON.parse(first).id}x`).stderr).toContain("see polyfs history");
  });

  it("do not follow a link that was planted since", () => {
    const { root, path, run, call } = project();
    const outside = tree();
    mkdirSync(path("d"));
    writeFileSync(path("d/f.txt"), "x\n");
    call("delete_path", { path: "d/f.txt" });
    rmSync(path("d"), { recursive: true });
    spawnSync("ln", ["-s", outside, path("d")]);
    expect(run("undo").code).toBe(1);
    expect(existsSync(join(outside, "f.txt"))).toBe(false);
    expect(root).not.toBe(outside);
  });

  it("report that there are no changes", () => {
    const { root, run } = project();
    expect(run("history")).toEqual({ code: 0, stdout: "", stderr: "polyfs: no changes are recorded here\n" });
    expect(run("undo")).toMatchObject({
      code: 1,
      stderr: `polyfs: there is no change to undo in ${root}; --workspace DIR names another directory\n`,
    });
    expect(run("undo", "--since", "yesterday")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--since needs a time"),
    });
  });

  it("a path that does not exist and has no history is refused; a deleted one has a history", () => {
    const { call, path, run } = project();
    writeFileSync(path("f.txt"), "x\n");
    for (const args of [["nope"], ["nope", "--json"]])
      expect(run("history", ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("there is no"),
      });
    call("delete_path", { path: "f.txt" });
    expect(run("history", "f.txt")).toMatchObject({ code: 0, stdout: expect.stringContaining("D f.txt") });
    for (const id of ["nope", "zzzz-12"]) expect(run("undo", id).code).not.toBe(0);
  });
});

describe("polyfs doctor", () => {
  it("reports what the machine offers, and the file system of a directory", () => {
    const { root, run } = project();
    const { code, stdout } = run("doctor");
    expect(code).toBe(0);
    expect(stdout).toContain(`Node: ${process.versions.node}`);
    expect(stdout).toMatch(/ripgrep: ripgrep \d+/);
    expect(stdout).toContain("Sandbox for commands: ");
    expect(stdout).toContain(`Directory ${root}: `);
    expect(Math.max(...stdout.split("\n").map(line => line.length))).toBeLessThanOrEqual(120);
  });

  it("fails where a directory cannot be served", () => {
    const { run } = project();
    const { code, stdout } = run("doctor", "nowhere", "--json");
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout);
    expect(findings.filter(({ is }: { is: string }) => is === "broken")).toHaveLength(1);
  });
});

describe("a list that another program reads", () => {
  it("has a line for each token and grant, however long it is", () => {
    const root = tree("served");
    const tokens = ["--tokens", join(root, "tokens.json")];
    const name = "a-token-whose-name-and-rights-are-longer-than-a-line";
    polyfs(["token", "add", name, "--expires", "90d", "--write", join(root, "served"), ...tokens]);
    polyfs(["token", "add", "short", ...tokens]);
    const listed = polyfs(["token", "list", ...tokens]).stdout;
    expect(listed).toMatch(
      /^a-token\S+ {2}reads, writes; .*served \(read-write\); expires \S+\nshort +reads, writes.*\n$/,
    );
    const env = { XDG_CONFIG_HOME: join(root, "config") };
    polyfs(["grant", join(root, "served"), "--for", "1h"], { env });
    expect(polyfs(["grants"], { env }).stdout).toMatch(
      /^\w+ {2}write {2}\S+ {2}for all clients {2}until \S+\n$/,
    );
  });
});

describe("a command of several verbs", () => {
  it.each(["policy", "token", "workspace"])("polyfs %s alone prints its usage", name => {
    const { code, stderr, stdout } = polyfs([name]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(polyfs([name, "--help"]).stdout);
  });

  it("suggests the verb that was meant, and names all of them", () => {
    const { code, stderr } = polyfs(["workspace", "forc"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("workspace forc (did you mean fork?); there are list,"),
    ]);
    const help = polyfs(["workspace", "--help"]).stdout;
    for (const verb of ["list", "adopt", "create", "fork", "diff", "merge", "drop", "restore", "collect"])
      expect(help.split("\n\n")[0]).toContain(verb);
  });
});

describe("every command", () => {
  it.each(Object.keys(commands))("%s has a --help of its own, with examples, in 80 columns", async name => {
    const { code, stdout, stderr } = polyfs([name, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: polyfs ${name}`);
    const { about } = (await commands[name]?.load()) ?? {};
    if (about !== undefined) expect(stdout).toMatch(/Examples:[\s\S]*Exit codes:/);
    expect(Math.max(...stdout.split("\n").map(line => line.length))).toBeLessThanOrEqual(100);
  });
});
