// Every option and operand that names a file or a directory, given a name that leads nowhere: the program ends, with
// one line that says what is wrong, and without a stack trace.
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Option } from "../../src/cli/option.ts";
import { options } from "../../src/cli/options.ts";
import { polyfs, tree } from "./program.ts";

const odd: Readonly<Record<string, (base: string) => string>> = {
  "a loop of links": base => linked(base, "loop"),
  "a link that leads below itself": base => linked(base, "loop/below"),
  "a path through a file": base => join(base, "file/below"),
  "a path of 5,000 characters": base => join(base, "x/".repeat(2500)),
};

function linked(base: string, target: string): string {
  symlinkSync(target, join(base, "loop"));
  return join(base, "loop");
}

/** How each is given; a server would start if the name were right. */
const given: Readonly<Record<string, (name: string, served: string) => readonly string[]>> = {
  DIR: name => [name],
  "--workspace": name => ["--workspace", name],
  "--allow-read": name => ["--allow-read", name],
  "--allow-write": name => ["--allow-write", name],
  "--sandbox-profile": (name, served) => ["--sandbox-profile", name, served],
  "--policy": (name, served) => ["--policy", name, served],
  "--config": (name, served) => ["--config", name, served],
  "--audit": (name, served) => ["--audit", name, served],
  "--store": (name, served) => ["--store", name, served],
  "--workspaces": name => ["--workspaces", name, "--workspace-name", "main"],
  "--tokens": (name, served) => ["--http", "0", "--tokens", name, served],
  "--tls-cert": (name, served) => ["--http", "0", "--tls-cert", name, "--tls-key", name, served],
  "--tls-key": (name, served) => [
    "--http",
    "0",
    "--tls-cert",
    join(served, "../file"),
    "--tls-key",
    name,
    served,
  ],
  "call --audit": (name, served) => ["call", "list_roots", "--audit", name, "--workspace", served],
  "audit verify": name => ["audit", "verify", name],
  "policy test": name => ["policy", "test", name],
  "policy explain --as": (name, served) => [
    "policy",
    "explain",
    "a",
    "--as",
    "x",
    "--tokens",
    name,
    "--workspace",
    served,
  ],
  "token list": name => ["token", "list", "--tokens", name],
  "token add": name => ["token", "add", "ann", "--tokens", name],
  "store check": name => ["store", "check", "--store", name],
  "workspace list": name => ["workspace", "list", "--workspaces", name],
};

/** A state directory that cannot be used refuses changes, not the start. */
const apart = ["--state-dir"];

describe("a name that leads nowhere", () => {
  it("is tried with every option that takes one", () => {
    const takesOne = ([, option]: [string, Option]) =>
      option.kind === "root" || (option.kind === "text" && /^(FILE|DIR|POLICY)$/.test(option.value));
    const all = Object.entries<Option>(options).filter(takesOne);
    const names = all.filter(([, { only }]) => only !== "not the command line").map(([name]) => `--${name}`);
    expect(names.filter(name => !(name in given) && !apart.includes(name))).toEqual([]);
  });

  describe.each(Object.entries(given))("after %s", (_, words) => {
    it.each(Object.entries(odd))("%s", (_, nameIn) => {
      const base = tree("served", "state");
      writeFileSync(join(base, "file"), "text\n");
      const args = [...words(nameIn(base), join(base, "served")), "--state-dir", join(base, "state")];
      const { code, stdout, stderr } = polyfs(args);
      expect(stderr).toMatch(/^polyfs: .*\n$/);
      expect([code === 1 || code === 2, stdout]).toEqual([true, ""]);
    });
  });
});

it("a state directory that cannot be looked at is reported in one line", () => {
  for (const nameIn of [odd["a link that leads below itself"], odd["a path of 5,000 characters"]]) {
    const base = tree("served");
    const { code, stderr } = polyfs([join(base, "served"), "--state-dir", nameIn?.(base) ?? ""]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^polyfs: .*\n$/)]);
  }
});

it("a tokens file that is none is reported by policy explain as by a server", () => {
  const base = tree("served");
  const tokens = join(base, "tokens.json");
  writeFileSync(tokens, '{"tokens":5}');
  const asked = ["policy", "explain", "a", "--as", "x", "--tokens", tokens];
  const { code, stderr } = polyfs(asked, { cwd: join(base, "served") });
  expect([code, stderr.split("\n").length]).toEqual([2, 2]);
  expect(stderr).toContain(tokens);
});

it("a file that never ends is not read to its end", () => {
  const { code, stderr } = polyfs(["--config", "/dev/zero", tree()]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("File too large: /dev/zero")]);
});

it("an option or an argument that has no effect in a command is refused", () => {
  for (const [line, said] of [
    ["policy schema extra", 'unexpected argument: "extra"'],
    ["policy test one two", 'unexpected argument: "two"'],
    ["policy test one --as ann", "--as has no effect with polyfs policy test"],
    ["token list ann --tokens t.json", 'unexpected argument: "ann"'],
    ["token list --read . --tokens t.json", "--read has no effect with polyfs token list"],
    ["store list --grace 7d --store s", "--grace has no effect with polyfs store list"],
    ["store gc s --store s", 'unexpected argument: "s"'],
    ["workspace list --from main --workspaces w", "--from has no effect with polyfs workspace list"],
    ["revoke a.txt --all", "name either a grant or a path, or give --all"],
    ["history --json --diff", "--diff has no effect with --json"],
    ["call list_roots --json --text", "--json and --text exclude each other"],
    ["setup cursor . --print --name=", "--name needs a value"],
    ["workspace drop task --json --workspaces w", "--json has no effect with polyfs workspace drop"],
  ] as const) {
    const { code, stderr } = polyfs(line.split(" "), { cwd: tree() });
    expect([line, code, stderr]).toEqual([line, 2, expect.stringContaining(said)]);
  }
});
