// Commands: only where they are allowed, in the sandbox that was asked for, and what they change can be undone.
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasProc } from "../../setup/proc.ts";
import { changeIn, Fixture, numbered } from "./fixture.ts";

const bubblewrap = "/usr/bin/bwrap";
const openly = { args: ["--allow-run=unsandboxed"] };
const hasSandbox = process.platform === "linux" && spawnSync(bubblewrap, ["--version"]).status === 0;

describe("run_command", () => {
  it("answers exit code and output, both streams in order; failing is no error", async () => {
    await using fixture = new Fixture({ "a.txt": "a\n", "sub/b.txt": "" });
    const server = await fixture.serve(openly);
    expect(
      await server.says("run_command", { command: "echo out; echo err >&2; cat a.txt; exit 3" }),
    ).toMatch(/^exit 3 · [\d.]+ m?s\nout\nerr\na$/);
    expect(await server.says("run_command", { command: "ls", cwd: "sub" })).toMatch(/^exit 0 · .*\nb\.txt$/);
    expect(await server.says("run_command", { command: "true" })).toMatch(/^exit 0 · .*\n\[no output\]$/);
    expect(await server.says("run_command", { command: "kill -9 $$" })).toMatch(/^ended by SIGKILL · /);
    expect((await server.refuses("run_command", { command: " " }))[0]).toMatch(/^invalid_input: /);
    expect((await server.refuses("run_command", { command: "ls", cwd: "a.txt" }))[0]).toMatch(
      /^not_a_directory: /,
    );
  });

  it("names a directory that is too large to compare once", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const fill = "mkdir -p .git/objects; cd .git/objects; seq 1 6000 | xargs touch";
    await server.says("run_command", { command: fill });
    const note = "[too large to compare, so changes inside are not listed, now and later: .git/]";
    expect(await server.says("run_command", { command: "true" })).toContain(note);
    expect(await server.says("run_command", { command: "true" })).not.toContain(note);
  });

  it("promises to undo only named paths where another connection's command ran at the same time", async () => {
    await using fixture = new Fixture();
    const [server, other] = [await fixture.serve(openly), await fixture.serve(openly)];
    const endless = other.says("run_command", {
      command: "echo > theirs; until [ -e end ]; do sleep .1; done",
    });
    const said = await server.says("run_command", {
      command: "until [ -e theirs ]; do sleep .1; done; echo > mine",
    });
    fixture.write("end", ""); // not before: of two commands that end together, one records the work of both
    await endless;
    const change = changeIn(said);
    expect(said).toContain(`change ${change} (undo with change and path reverts what is yours)`);
    expect((await server.refuses("undo", {}))[0]).toMatch(/^ambiguous: commands of others ran/);
    await server.says("undo", { change, path: "mine" });
    expect(["mine", "theirs"].map(name => existsSync(fixture.path(name)))).toEqual([false, true]);
  });

  it("names its change for undo, where the caller changed what it had made before it ended", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const running = server.says("run_command", {
      command: "echo one > n.txt; until [ -e end ]; do sleep .1; done; rm end",
    });
    await expect.poll(() => existsSync(fixture.path("n.txt")), { timeout: 60_000 }).toBe(true);
    const edit = { path: "n.txt", edits: [{ old: "one", new: "two" }] };
    const edited = changeIn(await server.says("edit_file", edit));
    fixture.write("end", "");
    const said = await running;
    const change = changeIn(said);
    expect(said).toContain(`change ${change} (undo with change: "${change}" reverts it)`);
    expect(await server.says("list_changes", { since: edited })).toContain(change);
    expect(await server.says("undo")).toContain(`undid ${edited} (edit_file)`);
    expect(await server.says("undo")).toContain(`undid ${change} (run_command)`);
    const alone = await server.says("run_command", { command: "echo > m.txt" });
    expect(alone).toContain(`change ${changeIn(alone)} (undo reverts it)`);
  });

  it("is stopped at its timeout, with its output so far", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const lines = await server.refuses("run_command", { command: "echo begun; sleep 60", timeout_ms: 3000 });
    expect(lines[0]).toBe("timeout: the command took longer than 3,000 ms and was stopped");
    expect(lines[1]).toContain("background: true");
    expect(lines[2]).toBe("begun");
  });

  it("keeps head and tail of a long output, and saves all of it in a file that read_file reads", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const said = await server.says("run_command", { command: "seq 1 50000" });
    expect(Buffer.byteLength(said)).toBeLessThan(40_000);
    expect(said).toMatch(/^exit 0 · [^\n]*\n1\n2\n3\n/);
    expect(said).toMatch(/\n49999\n50000$/);
    const file = /\[…[\d,]+ bytes left out; all of it: (\.polyfs\/\S+)\]/.exec(said)?.[1] ?? "";
    expect(fixture.read(file)).toBe(numbered(50_000));
    expect(await server.says("read_file", { path: file, offset: -1 })).toContain("50000: 50000");
    expect(fixture.read(".polyfs/.gitignore")).toBe("*\n");
  });

  it("reports what it changed, and undo restores every byte", async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`d/f${i}.txt`, `file ${i}\n`]));
    await using fixture = new Fixture({
      ...files,
      "tree/x/y": "deep\n",
      "mode.sh": "#!/bin/sh\n",
      "same.txt": "same\n",
    });
    chmodSync(fixture.path("mode.sh"), 0o644);
    const server = await fixture.serve(openly);
    const command =
      "for i in $(seq 0 49); do echo changed >> d/f$i.txt; done; for i in $(seq 50 59); do rm d/f$i.txt; done; " +
      "rm -r tree; mkdir made; echo new > made/n; chmod 755 mode.sh; touch same.txt; cp same.txt s2 && mv s2 same.txt";
    const said = await server.says("run_command", { command });
    expect(said).toContain("\nM d/f0.txt\n");
    expect(said).toMatch(/\[\d+ more changes\]/);
    expect(said).not.toContain("same.txt");
    await server.says("undo", { change: changeIn(said) });
    for (const [path, content] of Object.entries(files)) expect(fixture.read(path)).toBe(content);
    expect(fixture.read("tree/x/y")).toBe("deep\n");
    expect(fixture.has("made")).toBe(false);
    expect(statSync(fixture.path("mode.sh")).mode & 0o777).toBe(0o644);
  });

  it("lists the changes of existing files before created ones, if there are many", async () => {
    await using fixture = new Fixture({ "src/main.c": "int x;\n", "src/zlib.c": "int z;\n" });
    const server = await fixture.serve(openly);
    const said = await server.says("run_command", {
      command: "cd src; for i in $(seq 10 49); do echo > a$i.o; done; rm main.c; echo >> zlib.c",
    });
    const listed = said.split("\n").filter(line => /^[AMD] /.test(line));
    expect(listed).toHaveLength(20);
    expect(listed.slice(-3)).toEqual(["A src/a27.o", "D src/main.c", "M src/zlib.c"]);
    expect(said).toContain("\n[22 more changes]\n");
  });

  it.runIf(hasSandbox && process.geteuid?.() === 0)(
    "says why root's commands cannot change files of other owners",
    async () => {
      await using fixture = new Fixture({ "theirs/a.txt": "a\n" });
      chownSync(fixture.path("theirs"), 65534, 65534);
      const server = await fixture.serve({ args: ["--allow-run"] });
      expect(await server.says("run_command", { command: "touch theirs/b.txt" })).toContain(
        "\n[commands run as root without its capabilities: ",
      );
      expect(await server.says("write_file", { path: "theirs/b.txt", content: "" })).toMatch(/^created /);
    },
  );

  it("can be undone even if it left something that history does not keep, which the answer names", async () => {
    const kept = { "notes.txt": "precious\n", "old/a.txt": "a\n" };
    await using fixture = new Fixture({ ...kept, "old/large.bin": "x".repeat(5 * 1024 * 1024) });
    const server = await fixture.serve(openly);
    const command =
      "rm -r notes.txt old; mkfifo pipe; mkdir made; head -c 5000000 /dev/zero > made/large.bin; echo > new";
    const said = await server.says("run_command", { command });
    expect(said).toContain("[not kept, so undo does not cover it: made, old/large.bin, pipe]");
    expect(await server.says("list_changes")).toContain("D notes.txt");
    await server.says("undo", { change: changeIn(said) });
    for (const [path, content] of Object.entries(kept)) expect(fixture.read(path)).toBe(content);
    const exists = (path: string) => existsSync(join(fixture.root, path));
    expect(["new", "pipe", "made/large.bin", "old/large.bin"].map(exists)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("is undone with the edits of other programs while it ran, and undo says so", async () => {
    await using fixture = new Fixture({ "a.txt": "one\n", "b.txt": "one\n" });
    const server = await fixture.serve(openly);
    const command = "echo two >> a.txt; until grep -q three a.txt; do sleep 0.02; done";
    const running = server.says("run_command", { command });
    while (!fixture.read("a.txt").includes("two")) await new Promise(resolve => setTimeout(resolve, 5));
    appendFileSync(fixture.path("a.txt"), "three\n"); // an editor
    const change = changeIn(await running);
    const warning = "[the change of a command is all that changed while it ran, by other programs too]";
    expect(await server.says("undo", { change, dry_run: true })).toContain(warning);
    expect(await server.says("undo")).toContain(warning);
    expect(fixture.read("a.txt")).toBe("one\n");
    await server.says("write_file", { path: "b.txt", content: "two\n" });
    expect(await server.says("undo")).not.toContain(warning);
  });

  it("is in the history under its own name, after the file that holds its output", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    await server.says("run_command", { command: "seq 1 50000; echo x > made.txt" });
    await server.says("undo");
    expect(fixture.has("made.txt")).toBe(false);
    expect(await server.says("list_changes")).toMatch(/ · run_command · you\n {2}A made\.txt/);
  });

  it("does not take the place of the edit before it for undo, if it only printed a long output", async () => {
    await using fixture = new Fixture({ "a.txt": "one\n" });
    const server = await fixture.serve(openly);
    await server.says("write_file", { path: "a.txt", content: "two\n" });
    const said = await server.says("run_command", { command: "seq 1 50000" });
    const [, file = ""] = /all of it: (\.polyfs\/\S+)\]/.exec(said) ?? [];
    await server.says("undo");
    expect(fixture.read("a.txt")).toBe("one\n");
    expect(fixture.has(file)).toBe(true);
    const [, saved] = /^(\S+) · \S+ \S+ · save_output · /m.exec(await server.says("list_changes")) ?? [];
    await server.says("undo", { change: saved });
    expect(fixture.has(file)).toBe(false);
  });

  it("is no part of what changes come to, unless it is all there is", async () => {
    await using fixture = new Fixture({ "a.txt": "one\n" });
    const server = await fixture.serve(openly);
    await server.says("run_command", { command: "seq 1 50000" });
    const only = await server.says("list_changes", { diff: true });
    expect(only).toContain("+5\n");
    await server.says("write_file", { path: "a.txt", content: "two\n" });
    const said = await server.says("list_changes", { diff: true });
    expect(said).toMatch(
      /\n\[net difference of this change, saved output left out\]\nM a\.txt \+1 -1\n\[1\] @@ -1 \+1 @@\n-one\n\+two$/,
    );
    await server.says("undo", { hunks: [1] });
    expect(fixture.read("a.txt")).toBe("one\n");
  });
});

describe("a command in the background", () => {
  it("returns a job, whose output and exit can be queried", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const command = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 4";
    expect(await server.says("run_command", { command, background: true })).toMatch(/^job 1\n/);
    expect(await server.says("command_output", { job: "1", wait_ms: 5000 })).toBe(
      "job 1 · running · 4 bytes written\none\n[go on with offset=4]",
    );
    fixture.write("go", "");
    const rest = await server.says("command_output", { job: "1", offset: 4, wait_ms: 5000 });
    expect(rest).toMatch(/^job 1 · .*\ntwo/);
    for (let said = rest; !said.includes("exit 4"); )
      said = await server.says("command_output", { job: "1", offset: 8, wait_ms: 500 });
  });

  it("that ends right after its last output has both in one answer", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const command = "sleep 0.5; echo one; sleep 0.05; echo two; sleep 0.05; exit 4";
    const answers: string[] = [];
    // On a busy machine, its end may take longer than a reader waits for it.
    for (let job = 1; job <= 10 && !answers.at(-1)?.includes("exit"); job++) {
      await server.says("run_command", { command, background: true });
      answers.push(await server.says("command_output", { job: `${job}`, wait_ms: 20_000 }));
    }
    expect(answers.at(-1)).toMatch(/^job \d+ · exit 4 · 8 bytes written\none\ntwo$/);
  });

  it("that keeps printing does not block a waiting reader", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const command = "while :; do echo x; sleep 0.05; done";
    await server.says("run_command", { command, background: true });
    const start = performance.now();
    expect(await server.says("command_output", { job: "1", wait_ms: 40_000 })).toContain("running");
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it("is ended by stop_command, and with its caller", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve(openly);
    const command = "echo $$ > pid; exec sleep 600";
    await server.says("run_command", { command, background: true });
    expect(await server.says("stop_command", { job: "1" })).toMatch(/^job 1 · ended by SIG/);
    for (const tool of ["stop_command", "command_output"])
      expect((await server.refuses(tool, { job: "7" }))[0]).toBe("not_found: there is no job 7");
    await server.says("run_command", {
      command: "echo $$ > second; mv second pid2; exec sleep 600",
      background: true,
    });
    await expect.poll(() => fixture.has("pid2")).toBe(true);
    const pid = fixture.read("pid2").trim();
    await server.wire.close();
    const isAlive = () =>
      existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    await expect.poll(isAlive).toBe(false);
  });
});

describe.runIf(hasSandbox)("with --allow-run", () => {
  it.runIf(hasProc)(
    "commands see the roots and no network, and cannot request it unless it was allowed",
    async () => {
      await using fixture = new Fixture({ "a.txt": "inside\n" });
      const server = await fixture.serve({ args: ["--allow-run"] });
      const outside = `${fixture.base}/outside.txt`;
      const said = await server.says("run_command", {
        command: `cat a.txt; echo x > ${outside}; echo made > b.txt; ls /sys/class/net 2>/dev/null`,
      });
      expect(said).toContain("inside");
      expect(said).toContain("A b.txt");
      expect(existsSync(outside)).toBe(false);
      const lines = await server.refuses("run_command", { command: "true", network: true });
      expect(lines[0]).toMatch(/^denied: .*--run-network/);
      const search = { command: "echo 'curl: (6) Could not resolve host: example.com'" };
      expect(await server.says("run_command", search)).toContain(
        "\n[commands have no network; the user can allow it with --run-network]",
      );
      const allowed = await fixture.serve({ args: ["--allow-run", "--run-network"] });
      expect(await allowed.says("run_command", search)).toContain(
        "\n[commands have no network, unless network is true]",
      );
      expect(await allowed.says("run_command", { ...search, network: true })).not.toContain("\n[commands");
      expect(await allowed.says("run_command", { command: "echo yes", network: true })).toContain("yes");
    },
  );
});

describe("without permission to run commands", () => {
  it("commands are not offered by default, or with --no-run", async () => {
    await using fixture = new Fixture();
    for (const args of [[], ["--no-run"]]) {
      const names = (await (await fixture.serve({ args })).tools()).map(tool => tool.name);
      expect(names).not.toContain("run_command");
    }
  });

  it.runIf(hasSandbox && hasProc)(
    "--allow-run refuses to start where there is no sandbox, and says what to install",
    async () => {
      await using fixture = new Fixture();
      // A machine without bubblewrap: ours, with nothing at its path.
      const machine = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", bubblewrap];
      const program = join(import.meta.dirname, "../../../dist/polyfs.cjs");
      const server = [process.execPath, program, "--allow-run", fixture.root];
      const { status, stderr } = spawnSync(bubblewrap, [...machine, ...server], {
        input: "",
        encoding: "utf8",
      });
      expect(status).toBe(2);
      expect(stderr).toMatch(/no sandbox.*bubblewrap.*--allow-run=unsandboxed/s);
    },
  );
});
