// The words of the command line: where commands and options may be, what a mistyped one was meant to be, and what
// happens to output without a reader.
import { spawnSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs, repository, tree } from "./program.ts";
import { project } from "./project.ts";

const program = `"${process.execPath}" "${join(repository, "dist/polyfs.cjs")}"`;

/** Runs it on a terminal of this width; its input ends at once. */
function onTerminal(line: string, cwd: string, columns = 80): string {
  const { stdout } = spawnSync("script", ["-qec", `stty cols ${columns}; ${program} ${line}`, "/dev/null"], {
    cwd,
    encoding: "utf8",
    input: "\x04",
    env: { ...process.env, POLYFS_STATE_DIR: tree() },
  });
  return stdout.replaceAll("\r\n", "\n");
}

describe("the command line", () => {
  it("takes options before the command as those of the command", () => {
    const { root } = project();
    const read = ["call", "read_file", '{"path":"a.txt"}'];
    const env = { POLYFS_STATE_DIR: tree() };
    for (const options of [
      ["--dialect", "fs"],
      ["--dialect=fs", "--read-only"],
      ["--text", "--dialect", "fs"],
    ]) {
      const { code, stdout } = polyfs([...options, ...read], { cwd: root, env });
      expect([code, stdout]).toEqual([0, expect.stringContaining("two")]);
    }
    expect(polyfs(["--help", "undo"]).stdout).toContain("Usage: polyfs undo");
    // The value of an option is not a command, and what follows -- is a directory.
    expect(polyfs(["--allow-read", "call", "call"], { cwd: root }).stderr).toContain("name a tool");
    expect(polyfs(["--", "call"], { cwd: root }).stderr).toBe(`polyfs: no such directory: ${root}/call\n`);
  });

  it("has help and version as commands", () => {
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    expect(polyfs(["version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(polyfs(["help"]).stdout).toBe(polyfs(["--help"]).stdout);
    expect(polyfs(["help", "undo"]).stdout).toBe(polyfs(["undo", "--help"]).stdout);
    expect(polyfs(["help", "udno"]).stderr).toContain("did you mean undo?");
  });

  it("suggests the command that was probably meant, and still serves a directory of any name", () => {
    const cwd = tree("stup");
    expect(polyfs(["setpu"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean setup?"),
    });
    expect(polyfs(["stup"], { cwd }).code).toBe(0);
    expect(polyfs(["stup"], { cwd: tree() }).stderr).toContain("did you mean setup?");
    expect(polyfs(["nothinglikeit"], { cwd }).stderr).toContain("see polyfs --help");
  });

  it("lists commands before options in --help, as wide as the terminal", () => {
    const { stdout } = polyfs(["--help"]);
    expect(stdout.indexOf("Commands:")).toBeLessThan(stdout.indexOf("Options:"));
    const widest = (text: string) => Math.max(...text.split("\n").map(line => line.length));
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(widest(onTerminal("undo --help", tree(), 110))).toBeGreaterThan(85);
    expect(widest(onTerminal("--help", tree(), 60))).toBeLessThanOrEqual(60);
  });

  it("says on a terminal that it waits for a client, and how to use it", () => {
    const { root } = project();
    const said = onTerminal(".", root);
    expect(said).toContain("waits for an MCP client on stdin");
    expect(said).toContain(root);
    expect(said).toContain("polyfs setup");
    expect(polyfs(["."], { cwd: root }).stderr).not.toContain("waits for");
  });
});

describe("a tool that cannot be called", () => {
  it("is reported with the nearest names", () => {
    const { run } = project();
    expect(run("call", "reed_file")).toMatchObject({ code: 2, stdout: "" });
    expect(run("call", "reed_file").stderr).toContain("did you mean read_file");
    expect(run("call", "file_read").stderr).toContain("read_file");
    expect(run("tools", "search").stderr).toContain("search_text");
  });

  it("is reported with the option that it needs", () => {
    const { run } = project();
    expect(run("call", "run_command", '{"command":"true"}').stderr).toContain("--allow-run");
    expect(run("tools", "run_command").stderr).toContain("--allow-run");
    expect(run("call", "--read-only", "write_file", "{}").stderr).toContain("--read-only");
  });
});

describe("output that cannot be written", () => {
  it.runIf(process.platform === "linux")("exits with 1 on a full device, and prints the reason", () => {
    for (const args of [["--help"], ["tools"], ["version"], ["history", "--all"]]) {
      const here = project();
      here.call("write_file", { path: "b.txt", content: "b" });
      const { status, stderr } = spawnSync(process.execPath, [join(repository, "dist/polyfs.cjs"), ...args], {
        cwd: here.root,
        env: { ...process.env, ...here.env },
        stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
        encoding: "utf8",
      });
      expect([args, status, stderr]).toEqual([args, 1, expect.stringContaining("no space left")]);
    }
  });

  it("exits with 1 on a pipe whose reader is gone, and prints nothing", () => {
    const line = `(sleep 0.2; ${program} tools --dialect polyfs --json; echo "code $?" >&2) | true`;
    const { stderr } = spawnSync("sh", ["-c", line], { encoding: "utf8", cwd: tree() });
    expect(stderr).toBe("code 1\n");
  });
});
