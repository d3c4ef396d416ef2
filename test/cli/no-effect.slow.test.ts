// Options without effect in the chosen mode are refused at the start. The table says what each option needs; here every
// need of every option is left unmet once.
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readCommandLine } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/commands.ts";
import { configure } from "../../src/cli/config.ts";
import { needs, refuseWithoutEffect, unusedInDialect } from "../../src/cli/modes.ts";
import type { Option } from "../../src/cli/option.ts";
import { environmentName, type OptionName, optionNames, options } from "../../src/cli/options.ts";
import { refuseUnmatched } from "../../src/cli/unmatched-names.ts";
import type { Dialect } from "../../src/contract/dialect.ts";
import { dialects } from "../../src/dialects/index.ts";
import { polyfs, repository } from "./program.ts";

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
    expect(polyfs(["--read-only", root], { env: { POLYFS_HARD_LINKS: "keep" } }).code).toBe(0);
    expect(polyfs(["--dialect", "fs", root], { env: { POLYFS_MAX_OUTPUT_BYTES: "9999" } }).code).toBe(0);
    const args = ["--dialect", "agent-tools", "--no-run", root];
    expect(polyfs(args, { env: { BASH_TIMEOUT_MS: "5000", BASH_TIMEOUT_MAX_MS: "9000" } }).code).toBe(0);
    const env = { POLYFS_MAX_SESSIONS: "5" };
    const line = readCommandLine(["--http", "0", "--stateless"], root);
    expect(() => refuseWithoutEffect(configure(line, env, root))).not.toThrow();
  });
});

/** Whether a tool of the dialect reads this setting: found in its sources, by no table. */
function readsSetting({ name, resources }: Dialect, setting: string): boolean {
  const folder = join(repository, "src/dialects", name);
  const used = readdirSync(folder)
    .map(file => readFileSync(join(folder, file), "utf8"))
    .some(code =>
      new RegExp(`settings\\.${setting}|\\b${setting}\\b[^}=;]*\\}(: Settings| = .*settings)`).test(code),
    );
  return used || (setting === "maxFileBytes" && resources === true);
}

const has =
  (effect: "runs" | "writes") =>
  ({ tools }: Dialect): boolean =>
    tools.some(tool => tool.effect === effect);

/** The options whose effect depends on the dialect, with what else they need. In the others, all have an effect. */
const inDialects: Partial<Record<OptionName, readonly [more: string, has: (dialect: Dialect) => boolean]>> = {
  "plain-names": ["", ({ prefix }) => prefix !== undefined],
  structured: ["", ({ tools }) => tools.some(({ output }) => output !== undefined)],
  "allow-run": ["--policy none", has("runs")],
  "run-network": ["--allow-run", has("runs")],
  "policy-is-advisory": ["--allow-run=unsandboxed --policy default", has("runs")],
  "command-timeout-ms": [
    "--allow-run=unsandboxed --policy none",
    dialect => readsSetting(dialect, "commandTimeoutMs"),
  ],
  "command-timeout-max-ms": [
    "--allow-run=unsandboxed --policy none",
    dialect => readsSetting(dialect, "commandTimeoutMaxMs"),
  ],
  "hard-links": ["", dialect => readsSetting(dialect, "hardLinks")],
  "allow-irrevocable": ["", has("writes")],
  "max-output-bytes": ["", dialect => readsSetting(dialect, "maxOutputBytes")],
  "max-file-bytes": ["", dialect => readsSetting(dialect, "maxFileBytes")],
};

describe.each(Object.keys(dialects))("in the dialect %s, an option", name => {
  it("is warned about if and only if nothing in the dialect uses it, whichever option it is", async () => {
    const dialect = await dialects[name as keyof typeof dialects]?.();
    if (dialect === undefined) throw new Error(`no dialect ${name}`);
    const found: unknown[] = [];
    for (const option of optionNames.filter(one => (options[one] as Option).only === undefined)) {
      if (option === "sandbox-profile") continue; // a file, which has to be there
      const line = readCommandLine(lineOf(option), directory());
      const config = configure(line, {}, directory());
      const isUnused = [...unusedInDialect(config, dialect)].length > 0;
      const [, hasEffect = () => true] = inDialects[option] ?? [];
      found.push([option, isUnused, !hasEffect(dialect)]);
    }
    expect(found).toHaveLength(optionNames.length - 6);
    for (const [option, isUnused, isWithout] of found as [string, boolean, boolean][])
      expect([option, isUnused]).toEqual([option, isWithout]);
  });

  it("without effect is named when the server starts on stdio, and when a call is made", async () => {
    const dialect = await dialects[name as keyof typeof dialects]?.();
    const root = directory();
    const isUnused = dialect === undefined || !has("runs")(dialect);
    const unconfined = [
      "--dialect",
      name,
      "--allow-run=unsandboxed",
      "--policy",
      "none",
      "--state-dir",
      directory(),
    ];
    for (const args of [
      [...unconfined, root],
      ["call", ...unconfined, "no_such_tool"],
    ]) {
      const said = polyfs(args, { cwd: root }).stderr.includes("--allow-run has no effect in the dialect");
      expect([args[0], said]).toEqual([args[0], isUnused]);
    }
  });
});

describe("a command", () => {
  /** Options that mean something else to a command than to a server. */
  const other: Readonly<Record<string, readonly string[]>> = { policy: ["tokens"], token: ["tokens"] };

  it("refuses what has no effect, for each of its options", async () => {
    let tried = 0;
    for (const [name, command] of Object.entries(commands)) {
      const run = await command.load();
      const { about } = run;
      for (const option of about.options.filter(one => !other[name]?.includes(one)))
        for (const [more, reason] of without[option] ?? []) {
          const words = more.split(" ").filter(word => word !== "");
          const known = words.every(
            word => !word.startsWith("--") || about.options.some(one => word.includes(one)),
          );
          if (!known || (more.includes("--no-run") && !about.options.includes("run"))) continue;
          const verb = { store: ["check"], workspace: ["list"] }[name] ?? [];
          await expect(
            run([...verb, ...lineOf(option), ...words], {}),
            `${name} --${option} ${more}`,
          ).rejects.toThrow(`--${option} has no effect ${reason}`);
          tried++;
        }
    }
    expect(tried).toBeGreaterThan(10);
  });
});

it("a warning names a time limit of commands where none can be run", () => {
  const root = directory();
  const state = ["--state-dir", directory()];
  const args = ["--read-only", "--allow-run=unsandboxed", "--policy", "none", "--command-timeout-ms=5"];
  expect(polyfs([...args, ...state, root])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("runs no commands with these options"),
  });
});

describe("an option that could never do what it says is refused", () => {
  it("the key of the certificate in a served directory, also where a rule hides it or nothing may be written", () => {
    const root = directory();
    for (const name of ["key.pem", "plain"]) {
      writeFileSync(join(root, name), "no key");
      for (const access of ["--allow-write", "--allow-read"]) {
        const tls = ["--tls-key", join(root, name), "--tls-cert", join(directory(), "c")];
        const { code, stderr } = polyfs(["--http", "0", ...tls, access, root, "--state-dir", directory()]);
        expect([name, access, code, stderr]).toEqual([
          name,
          access,
          2,
          expect.stringContaining("callers may read"),
        ]);
      }
    }
  });

  it.each([
    ["https://example.org/", "did you mean https://example.org?"],
    ["https://example.org:443", "did you mean https://example.org?"],
    ["https://bücher.example", "did you mean https://xn--bcher-kva.example?"],
    ["https://user@example.org", "did you mean https://example.org?"],
    ["vscode-webview://abc/", "did you mean vscode-webview://abc?"],
    ["example.org", "without wildcards"],
    ["*", "without wildcards"],
    ["https://*.example.org", "without wildcards"],
  ])("--allow-origin %s", (origin, advice) => {
    const { code, stderr } = polyfs([
      "--http",
      "0",
      "--allow-origin",
      `https://a.example,${origin}`,
      directory(),
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(advice)]);
  });

  it.each(["https://example.org", "example.org/", "*.example.org", "::1", "a@b"])("--allow-host %s", host => {
    const { code, stderr } = polyfs(["--http", "0", "--allow-host", `a.example,${host}`, directory()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("matches no request")]);
  });

  it("but not a name that browsers send", () => {
    const origins = ["https://Example.org", "http://[::1]:3000", "chrome-extension://ABC", "null"];
    const hosts = ["Example.org", "example.org:80", "example.org:8443", "[::1]", "[::1]:80", "my_host"];
    expect(() => refuseUnmatched(hosts, origins)).not.toThrow();
  });
});
