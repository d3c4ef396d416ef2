// Options without effect in the chosen mode are refused at the start. The table says what each option needs; here every
// need of every option is left unmet once.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readCommandLine } from "../../src/cli/command-line.ts";
import { configure } from "../../src/cli/config.ts";
import { needs, refuseWithoutEffect } from "../../src/cli/modes.ts";
import type { Option } from "../../src/cli/option.ts";
import { environmentName, type OptionName, optionNames, options } from "../../src/cli/options.ts";
import { polyfs } from "./program.ts";

/** For each option that needs something: lines in which it has no effect, and what the refusal says. */
const without: Partial<Record<OptionName, readonly (readonly [more: string, reason: string])[]>> = {
  "allow-run": [["--no-run", "with --no-run"]],
  "run-network": [
    ["", "without --allow-run"],
    ["--allow-run=unsandboxed", "without --allow-run"],
    ["--no-run", "with --no-run"],
  ],
  "policy-is-advisory": [
    ["", "without --allow-run=unsandboxed"],
    ["--no-run", "with --no-run"],
    ["--allow-run=unsandboxed --policy none", "with --policy none"],
  ],
  "hard-links": [["--read-only", "with --read-only"]],
  "allow-irrevocable": [["--read-only", "with --read-only"]],
  "command-timeout-ms": [
    ["--no-run", "with --no-run"],
    ["--http 0", "without --allow-run"],
    ["--read-only", "without --allow-run"],
  ],
  "command-timeout-max-ms": [
    ["--no-run", "with --no-run"],
    ["--http 0", "without --allow-run"],
  ],
  "workspace-name": [["", "without --workspaces"]],
  "workspace-max-bytes": [["", "without --workspaces"]],
  "workspace-max-files": [["", "without --workspaces"]],
  "workspace-max-age": [["", "without --workspaces"]],
  "workspace-keep-dropped": [["", "without --workspaces"]],
  "store-objects": [["", "without --store"]],
  "store-workspace": [
    ["", "without --store"],
    ["--store S --workspaces W", "with --workspaces"],
  ],
  "store-durability": [["", "without --store"]],
  "store-max-bytes": [["", "without --store"]],
  "store-trust-ms": [["", "without --store"]],
  stateless: [["", "without --http"]],
  "tls-cert": [
    ["", "without --http"],
    ["--http 0", "without --tls-key"],
  ],
  "tls-key": [
    ["", "without --http"],
    ["--http 0", "without --tls-cert"],
  ],
  "metrics-listen": [["", "without --http"]],
  tokens: [["", "without --http"]],
  "oauth-issuer": [["", "without --http"]],
  "oauth-audience": [
    ["", "without --http"],
    ["--http 0", "without --oauth-issuer"],
  ],
  "oauth-roots-claim": [
    ["", "without --http"],
    ["--http 0", "without --oauth-issuer"],
  ],
  "oauth-workspace-claim": [
    ["", "without --http"],
    ["--http 0", "without --oauth-issuer"],
  ],
  "allow-host": [["", "without --http"]],
  "allow-origin": [["", "without --http"]],
  "audit-max-bytes": [["", "without --audit"]],
  "max-body-bytes": [["", "without --http"]],
  "max-sessions": [
    ["", "without --http"],
    ["--http 0 --stateless", "with --stateless"],
  ],
  "max-concurrent-calls": [["", "without --http"]],
  "max-requests-per-minute": [["", "without --http"]],
};

/** A value that the option takes and that is not its default. */
function exampleOf(name: OptionName): string {
  const option: Option = options[name];
  if (option.kind === "flag") return option.default ? "0" : "1";
  if (option.kind === "number") return "7";
  if (option.kind === "choice") return option.choices.find(one => one !== option.default) ?? "";
  return "7d";
}

function lineOf(name: OptionName): string[] {
  const option: Option = options[name];
  if (option.kind === "flag") return [`--${option.default ? "no-" : ""}${name}`];
  return [`--${name}=${exampleOf(name)}`];
}

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-modes-")));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe("an option that has no effect", () => {
  it("is in the table, whichever option it is, and each of its needs is tried here", () => {
    expect(Object.keys(needs).sort()).toEqual([...optionNames].sort());
    for (const name of optionNames) {
      const unmet = new Set(needs[name].map(need => need.unmet));
      const tried = new Set((without[name] ?? []).map(([, reason]) => reason));
      expect([name, tried]).toEqual([name, unmet]);
    }
  });

  it.each(Object.entries(without).flatMap(([name, lines]) => lines.map(line => [name, ...line] as const)))(
    "--%s with %j is refused: %s",
    (name, more, reason) => {
      const root = directory();
      const args = [...lineOf(name as OptionName), ...more.split(" ").filter(word => word !== "")];
      const { code, stderr } = polyfs([...args, root], { cwd: root });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`--${name} has no effect ${reason}`)]);
    },
  );

  it("is refused from the environment, too, but not where it is switched off", () => {
    const root = directory();
    for (const name of ["stateless", "store-trust-ms", "run-network"] as const)
      expect(polyfs([root], { env: { [environmentName(name)]: exampleOf(name) } }).stderr).toContain(
        `--${name} has no effect`,
      );
    expect(polyfs(["--no-stateless", root]).code).toBe(0);
    expect(polyfs([root], { env: { POLYFS_STATELESS: "0" } }).code).toBe(0);
  });

  it("is refused on the line of a command, too, but not in the environment there", () => {
    const root = directory();
    const call = ["call", "list_directory", "{}", "--state-dir", directory()];
    for (const option of [
      "--run-network",
      "--policy-is-advisory",
      "--workspace-name=w",
      "--store-objects=s",
    ]) {
      const { code, stderr } = polyfs([...call, option], { cwd: root });
      expect([option, code, stderr]).toEqual([option, 2, expect.stringContaining("has no effect")]);
    }
    expect(polyfs(call, { cwd: root, env: { POLYFS_RUN_NETWORK: "1" } }).stderr).not.toContain("no effect");
    const { code, stderr } = polyfs(["review", "--no-open", "--audit-max-bytes", "7000", root]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("without --audit")]);
  });

  it("is not refused if the command line overrides the environment, or a contract publishes the variable", () => {
    const root = directory();
    expect(polyfs(["--no-run", root], { env: { POLYFS_ALLOW_RUN: "unsandboxed" } }).code).toBe(0);
    const args = ["--dialect", "agent-tools", "--no-run", root];
    expect(polyfs(args, { env: { BASH_TIMEOUT_MS: "5000", BASH_TIMEOUT_MAX_MS: "9000" } }).code).toBe(0);
    const env = { POLYFS_MAX_SESSIONS: "5" };
    const line = readCommandLine(["--http", "0", "--stateless"], root);
    expect(() => refuseWithoutEffect(configure(line, env, root))).not.toThrow();
  });
});
