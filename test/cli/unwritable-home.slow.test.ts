// A user whose home cannot be written, or who has none: where history goes, which answers say so, and what stays untouched.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const user = 61_235;
const temporary = join(tmpdir(), `polyfs-${user}`);

describe.skipIf(process.getuid?.() !== 0)("an ordinary user", () => {
  let [place, project, home] = ["", "", ""];
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "unwritable-home-"));
    [project, home] = [join(place, "project"), join(place, "home")];
    mkdirSync(project);
    mkdirSync(home);
    for (const directory of [place, home]) chmodSync(directory, 0o755);
    chmodSync(project, 0o777);
  });
  afterEach(() => {
    for (const path of [place, temporary]) rmSync(path, { recursive: true, force: true });
  });

  function run(env: Readonly<Record<string, string>>, args: readonly string[], input = "") {
    const done = spawnSync(process.execPath, [program, ...args], {
      uid: user,
      gid: user,
      env: { PATH: process.env.PATH, ...env },
      cwd: project,
      input,
      encoding: "utf8",
    });
    return { status: done.status, stdout: done.stdout, said: `${done.stdout}${done.stderr}` };
  }

  /** The answers to writing these files in one connection, as text. */
  function write(
    env: Readonly<Record<string, string>>,
    args: readonly string[],
    ...names: string[]
  ): string[] {
    const messages = [
      {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
      },
      ...names.map((path, at) => ({
        id: at + 1,
        method: "tools/call",
        params: { name: "write_file", arguments: { path, content: "new\n" } },
      })),
    ];
    const input = messages.map(message => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    const answers = run(env, [...args, "."], input)
      .stdout.trim()
      .split("\n");
    return answers.slice(1).sort();
  }

  it("whose home cannot be written is reported in the answer to the first change, and by doctor", () => {
    const answers = write({ HOME: home }, [], "a", "b");
    const [first = "", second = ""] = answers;
    const note = `${home}/.local/state/polyfs cannot be written, so history is kept in the temporary directory, in ${temporary}`;
    expect(first).toContain("created a");
    expect(first).toContain(note);
    expect(second).toContain("created b");
    expect(second).not.toContain("Note:");
    expect(existsSync(join(temporary, "key"))).toBe(true);
    const { said, status } = run({ HOME: home }, ["doctor"]);
    expect(said.replace(/\s+/g, " ")).toContain(note);
    expect(status).toBe(0);
    expect(run({ HOME: home }, ["."]).said).toContain(note); // at the start, in the log
    expect(run({ HOME: home }, ["history"]).said).toContain("write_file");
    expect(readdirSync(home)).toEqual([]);
  });

  it("is reported in every contract in the same way", () => {
    expect(write({ HOME: home }, ["--dialect", "agent-tools"], "a").join()).toContain("--state-dir");
  });

  it.each([
    ["no variables", {}],
    ["empty ones", { HOME: "", XDG_STATE_HOME: "", XDG_CONFIG_HOME: "", XDG_CACHE_HOME: "" }],
    [
      "relative ones",
      {
        HOME: ".",
        XDG_STATE_HOME: "state",
        XDG_CONFIG_HOME: "config",
        XDG_CACHE_HOME: "cache",
        TMPDIR: "tmp",
      },
    ],
  ])("with %s for directories gets nothing made in the project", (_, env) => {
    expect(write(env, [], "a").join()).toContain(`the user has no home directory, so history is kept`);
    for (const args of [["doctor"], ["history"], ["setup", "claude-code", "--yes"], ["grants"]])
      run(env, args);
    expect(readdirSync(project)).toEqual(["a"]);
  });

  it("a named state directory that cannot be written allows no change, and doctor says why", () => {
    const args = ["--state-dir", join(home, "state")];
    const [answer = ""] = write({ HOME: place }, args, "a");
    expect(answer).toContain('"isError":true');
    expect(readdirSync(project)).toEqual([]);
    const { said, status } = run({ HOME: place }, ["doctor", ...args]);
    expect(said.replace(/\s+/g, " ")).toContain("state cannot be written");
    expect(status).toBe(1);
  });

  it.skipIf(process.platform !== "linux")(
    "is reported by doctor as a server treats it, also where nothing says so before it is tried",
    () => {
      const { said, status } = run({ HOME: "/proc/nope" }, ["doctor"]);
      expect(said.replace(/\s+/g, " ")).toContain("so history is kept in the temporary directory");
      expect(said).not.toContain("Changes are refused");
      expect(status).toBe(0);
    },
  );

  it("is reported by doctor that another user's directory cannot be written, and what to do", () => {
    chmodSync(project, 0o755);
    const { said, status } = run({ HOME: place, POLYFS_STATE_DIR: temporary }, ["doctor"]);
    expect(said.replaceAll(/\s+/g, " ")).toMatch(
      /can be read but not written: permission denied.*--read-only/,
    );
    expect(status).toBe(0);
    const reading = run({ HOME: place, POLYFS_STATE_DIR: temporary }, ["doctor", "--read-only"]);
    expect(reading.said).not.toContain("not written");
  });

  it("is reported by doctor about a read-only mount, and doctor leaves nothing in a directory that it tried", () => {
    const mount = (...args: string[]) => spawnSync("mount", args).status === 0;
    if (!mount("--bind", project, project) || !mount("-o", "remount,bind,ro", project)) return;
    try {
      const { said } = run({ HOME: place, POLYFS_STATE_DIR: temporary }, ["doctor"]);
      expect(said.replaceAll(/\s+/g, " ")).toContain("the file system is mounted read-only");
    } finally {
      spawnSync("umount", [project]);
    }
    expect(run({ HOME: place, POLYFS_STATE_DIR: temporary }, ["doctor"]).said).not.toContain("not written");
    expect(readdirSync(project)).toEqual([]);
  });
});
