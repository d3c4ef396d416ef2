// The program under a policy: which one holds, what is refused at the start, and what every dialect shows.
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const run = promisify(execFile);

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-policy-"));
  root = join(base, "root");
  mkdirSync(root);
  writeFileSync(join(root, ".env"), "TOKEN=hunter2\nPORT=80\n");
  writeFileSync(join(root, "server.pem"), "CANARY");
  writeFileSync(join(root, "plain.txt"), "plain hunter3\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function call(args: readonly string[], tool: string, params: object) {
  const environment = {
    ...process.env,
    HOME: base,
    XDG_CONFIG_HOME: join(base, "config"),
    XDG_STATE_HOME: join(base, "state"),
  };
  const line = [program, "call", "--text", ...args, "--allow-write", root, tool, JSON.stringify(params)];
  try {
    const { stdout, stderr } = await run(process.execPath, line, { env: environment });
    return { code: 0, out: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout + stderr };
  }
}

function policy(text: string | object): string {
  const file = join(base, "policy.json");
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text));
  return file;
}

describe("where the agent chooses the directory", () => {
  it("a rule with a slash holds wherever the agent begins", async () => {
    const file = policy({ rules: [{ paths: ["conf/*.ini"], access: "deny" }] });
    mkdirSync(join(root, "conf"));
    writeFileSync(join(root, "conf/a.ini"), "password = hunter4\n");
    for (const [workspace, path] of [
      [root, "conf/a.ini"],
      [join(root, "conf"), "a.ini"],
    ] as const) {
      const lines = [
        [
          "initialize",
          { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
        ],
        ["tools/call", { name: "set_workspace", arguments: { path: workspace } }],
        ["tools/call", { name: "read_files", arguments: { path } }],
      ].map(([method, params], id) => JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const { stdout } = spawnSync(
        process.execPath,
        [program, "--dialect", "file-editor", "--policy", file],
        {
          encoding: "utf8",
          input: `${lines.join("\n")}\n`,
          env: { ...process.env, HOME: base, XDG_STATE_HOME: join(base, "state") },
        },
      );
      expect(stdout).toContain("Successfully set workspace");
      expect(stdout).toContain("denied by the policy");
      expect(stdout).not.toContain("hunter4");
    }
  });
});

describe("the built-in rules", () => {
  it("hold in the polyfs dialect: keys without values, and a key can be added", async () => {
    const read = await call([], "read_file", { path: ".env" });
    expect(read.out).toContain("TOKEN=••••");
    expect(read.out).not.toContain("hunter2");
    const pem = await call([], "read_file", { path: "server.pem" });
    expect(pem.out).toMatch(/^denied: .*private keys/);
    const edit = await call([], "edit_file", { path: ".env", edits: [{ insert_after: -1, new: "ADDED=1" }] });
    expect(edit.out).not.toContain("hunter2");
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=hunter2\nPORT=80\nADDED=1\n");
  });
  it("do not hold in the contract dialects unless they are asked for", async () => {
    const args = ["--dialect", "agent-tools"];
    expect((await call(args, "read_file", { path: ".env" })).out).toContain("hunter2");
    const asked = await call([...args, "--policy", "default"], "read_file", { path: ".env" });
    expect(asked.out).toContain("TOKEN=••••");
    expect((await call(["--policy", "none"], "read_file", { path: ".env" })).out).toContain("hunter2");
  });
});

describe("a policy file", () => {
  it("is taken from the option, or from the configuration directory", async () => {
    const file = policy({ rules: [{ name: "no plain text", paths: ["*.txt"], access: "deny" }] });
    expect((await call(["--policy", file], "read_file", { path: "plain.txt" })).out).toContain(
      "no plain text",
    );
    mkdirSync(join(base, "config/polyfs"), { recursive: true });
    writeFileSync(join(base, "config/polyfs/policy.json"), readFileSync(file));
    expect((await call([], "read_file", { path: "plain.txt" })).out).toContain("no plain text");
  });
  it.each([
    ["not JSON", "{", /not JSON/],
    ["an unknown key", { rules: [], deny: [] }, /'deny' is not a key/],
    ["an unknown access", { rules: [{ paths: ["a"], access: "hide" }] }, /rules\[0\]\.access/],
    ["a glob that matches nothing", { rules: [{ paths: ["a/../b"], access: "deny" }] }, /can match nothing/],
    ["a glob of another tool", { rules: [{ paths: ["@(a|b)"], access: "deny" }] }, /write \{a,b\}/],
    ["a rule that says nothing", { rules: [{ paths: ["a"] }] }, /neither access nor ask/],
  ])("with %s is refused at the start", async (_, text, message) => {
    const { code, out } = await call(["--policy", policy(text)], "list_roots", {});
    expect(code).toBe(2);
    expect(out).toMatch(message);
  });
  it("that is missing, or inside a served directory, is refused", async () => {
    expect((await call(["--policy", join(base, "none.json")], "list_roots", {})).out).toMatch(
      /does not exist/,
    );
    writeFileSync(join(root, "policy.json"), '{"rules": []}');
    expect((await call(["--policy", join(root, "policy.json")], "list_roots", {})).out).toMatch(
      /which is served/,
    );
  });
  it("that forbids everything, or has ten thousand rules, is accepted", async () => {
    const nothing = policy({ rules: [{ paths: ["**"], access: "deny" }] });
    expect((await call(["--policy", nothing], "read_file", { path: "plain.txt" })).out).toMatch(/^denied/);
    const many = Array.from({ length: 10_000 }, (_, i) => ({ paths: [`dir${i}/**`], access: "deny" }));
    expect(
      (await call(["--policy", policy({ rules: many })], "read_file", { path: "plain.txt" })).out,
    ).toContain("hunter3");
  });
  it("is refused beside commands without a sandbox unless that is accepted", async () => {
    const file = policy({ rules: [{ paths: ["a"], access: "deny" }] });
    const loose = ["--policy", file, "--allow-run=unsandboxed"];
    expect((await call(loose, "list_roots", {})).out).toMatch(/--policy-is-advisory/);
    expect((await call([...loose, "--policy-is-advisory"], "list_roots", {})).code).toBe(0);
  });
});
