// What the shells complete, each asked after it has sourced the script: commands, options and their values, clients,
// tools, dialects and the ids of changes.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs, repository } from "./program.ts";
import { project } from "./project.ts";

/** A shell in a project with one change, with polyfs in its PATH. */
function shell(name: string) {
  const here = project();
  here.call("write_file", { path: "b.txt", content: "b" });
  const { id } = JSON.parse(here.run("history", "--json").stdout);
  const bin = join(here.root, "../bin");
  mkdirSync(bin);
  const link = join(bin, "polyfs");
  writeFileSync(
    link,
    `#!/bin/sh\nexec "${process.execPath}" "${join(repository, "dist/polyfs.cjs")}" "$@"\n`,
  );
  chmodSync(link, 0o755);
  const script = join(bin, "script");
  writeFileSync(script, polyfs(["completion", name]).stdout);
  const run = (text: string) => {
    const { stdout } = spawnSync(name, ["-c", text], {
      encoding: "utf8",
      cwd: here.root,
      env: { ...process.env, ...here.env, PATH: `${bin}:${process.env.PATH}` },
    });
    return stdout.split("\n").filter(line => line !== "");
  };
  return { id, script, run };
}

const has = (name: string) => spawnSync(name, ["-c", "true"]).status === 0;

describe("completion", () => {
  it.runIf(has("bash"))("in bash", () => {
    const { id, script, run } = shell("bash");
    const complete = (...words: string[]) =>
      run(
        `source "${script}"; COMP_WORDS=(${words.map(word => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _polyfs; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
    expect(complete("polyfs", "hi")).toEqual(["history"]);
    expect(complete("polyfs", "undo", "--dr")).toEqual(["--dry-run"]);
    expect(complete("polyfs", "token", "add", "ci", "--to")).toEqual(["--tools", "--tokens"]);
    expect(complete("polyfs", "--dialect", "agent")).toEqual(["agent-tools"]);
    expect(complete("polyfs", "--read")).toEqual(["--read-only"]);
    expect(complete("polyfs", "setup", "cur")).toEqual(["cursor"]);
    expect(complete("polyfs", "call", "apply_pa")).toEqual(["apply_patch"]);
    expect(complete("polyfs", "--dialect", "fs", "call", "apply_pa")).toEqual(["apply_patch"]);
    expect(complete("polyfs", "token", "ad")).toEqual(["add"]);
    expect(complete("polyfs", "help", "und")).toEqual(["undo"]);
    expect(complete("polyfs", "undo", "m")).toContain(id);
    expect(complete("polyfs", "history", "--before", "")).toEqual([id]);
  });

  it.runIf(has("fish"))("in fish", () => {
    const { id, script, run } = shell("fish");
    const complete = (line: string) =>
      run(`source "${script}"; complete -C "${line}"`).map(one => one.split("\t")[0]);
    expect(complete("polyfs hi")).toContain("history");
    expect(complete("polyfs undo --dr")).toEqual(["--dry-run"]);
    expect(complete("polyfs --dialect agent")).toContain("agent-tools");
    expect(complete("polyfs setup cur")).toContain("cursor");
    expect(complete("polyfs call write_fi")).toContain("write_file");
    expect(complete("polyfs undo ")).toContain(id);
  });

  it.runIf(has("zsh"))("in zsh", () => {
    const { id, script, run } = shell("zsh");
    // The functions of the completion system are replaced by ones that print what they are given.
    const complete = (words: string, at: number) =>
      run(
        `compdef() { :; }; _describe() { print -rl -- "$@"; eval 'print -rl -- $'$2; }; _files() { :; }; compadd() { eval 'print -rl -- $'$2; }; _arguments() { print -rl -- "$@"; _polyfs_changes; }
        source "${script}"; words=(${words}); CURRENT=${at}; _polyfs`,
      ).join("\n");
    expect(complete("polyfs ''", 2)).toContain("history:");
    expect(complete("polyfs setup ''", 3)).toMatch(/1:word:\(.*cursor/);
    expect(complete("polyfs call ''", 3)).toMatch(/1:word:\(.*write_file/);
    expect(complete("polyfs undo ''", 3)).toContain("--dry-run");
    expect(complete("polyfs undo ''", 3)).toContain(id);
  });

  it("is refused for another shell", () => {
    expect(polyfs(["completion", "tcsh"]).code).toBe(2);
  });
});
