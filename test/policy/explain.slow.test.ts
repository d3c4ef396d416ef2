// What `polyfs policy explain` says is what happens, for random rules and paths; and what the program says about rules
// that never decide, a policy that is lost while it runs, and secrets that can be read.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { Fault } from "../../src/engine/fault.ts";
import { overriddenRules } from "../../src/engine/policy/overridden.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { PolicyRule } from "../../src/engine/policy/rule.ts";
import { profileOf } from "../../src/engine/shell/seatbelt.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { start } from "../mcp/wire.ts";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-explain-")));
  root = join(base, "root");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const environment = () => ({ ...process.env, HOME: base, XDG_CONFIG_HOME: join(base, "config") });

function policyFile(rules: readonly PolicyRule[]): string {
  const file = join(base, "policy.json");
  writeFileSync(file, JSON.stringify({ rules }));
  return file;
}

function open(rules: readonly PolicyRule[]): Workspace {
  const policies = [new Policy(rules)];
  const source = { current: () => policies };
  return Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: source,
  });
}

const names = ["a.d", "b.d", "keys.d", ".env", "c.txt", "caf\u00e9.json"];
const globs = [
  "a",
  "*.txt",
  "**",
  "**/b/**",
  "a/*",
  "keys/**",
  ".env",
  "CAFE\u0301.json",
  "{a,b}/c.txt",
  "/**/.env",
];
const taken = ["!a/b/**", "!.env", "!**/c.txt"];

function randomRules(chance: Chance): PolicyRule[] {
  return Array.from({ length: 1 + chance.below(5) }, () => ({
    paths: [chance.pick(globs), ...(chance.below(3) === 0 ? [chance.pick(taken)] : [])],
    access: chance.pick(["deny", "mask", "read", "write"] as const),
    ...(chance.below(4) === 0 && { ask: [chance.pick(["write", "delete"] as const)] }),
  }));
}

/** What reading and writing really do, in the words of explain. */
async function observed(workspace: Workspace, path: string, content: string) {
  let seen = "";
  try {
    using file = workspace.file(workspace.at(path));
    seen = (await file.bytes(1000)).toString();
  } catch (error) {
    if (Fault.is(error, "forbidden")) return { access: "deny", asks: false };
    throw error;
  }
  const isMasked = seen !== content;
  try {
    await workspace.commit([{ kind: "write", path: workspace.at(path), bytes: Buffer.from(seen) }]);
    return { access: isMasked ? "mask" : "write", asks: false };
  } catch (error) {
    if (Fault.is(error, "approval_needed")) return { access: isMasked ? "mask" : "write", asks: true };
    if (Fault.is(error, "forbidden")) return { access: "read", asks: false };
    throw error;
  }
}

it("explain says what reading and writing do, for 1,000 random rules and paths", async () => {
  const chance = new Chance(4711);
  const content = "password=hunter2hunter2\n";
  for (let round = 0; round < 5; round++) {
    const rules = randomRules(chance);
    const paths = Array.from({ length: 200 }, () => {
      const above = Array.from({ length: chance.below(3) }, () => chance.pick(["a", "b", "Keys", "d"]));
      return join(root, ...above, chance.pick(names));
    });
    for (const path of new Set(paths)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, path.endsWith(".json") ? '{"password": "hunter2hunter2"}' : content);
    }
    const args = [
      program,
      "policy",
      "explain",
      "--json",
      "--policy",
      policyFile(rules),
      "--allow-write",
      root,
    ];
    const said = JSON.parse(
      execFileSync(process.execPath, [...args, ...paths], { encoding: "utf8", env: environment() }),
    ) as { path: string; access: string; ask: string[] }[];
    using workspace = open(rules);
    for (const { path, access, ask } of said) {
      const real = path.endsWith(".json") ? '{"password": "hunter2hunter2"}' : content;
      const isChangeable = access === "write" || access === "mask";
      expect({ path, ...(await observed(workspace, path, real)) }, JSON.stringify(rules)).toEqual({
        path,
        access,
        asks: isChangeable && ask.includes("write"),
      });
    }
    await workspace.settled();
  }
});

it("a rule that never decides is named", () => {
  const all = { name: "all", paths: ["**"], access: "write" } as const;
  const mask = { name: "mine", paths: [".env"], access: "mask" } as const;
  const ask = { name: "asks", paths: ["a"], ask: ["write"] } as const;
  const deny = { name: "keys", paths: ["*.pem"], access: "deny" } as const;
  expect(overriddenRules([mask, ask, deny, all])).toEqual([{ rule: "mine", by: "all" }]);
  expect(overriddenRules([all, mask, ask])).toEqual([]);
  expect(overriddenRules([mask, { ...all, paths: ["**", "!.env"] }])).toEqual([]);
  const { stderr, status } = spawnSync(
    process.execPath,
    [program, "policy", "test", policyFile([mask, all])],
    {
      encoding: "utf8",
    },
  );
  expect(stderr).toContain("warning: mine never decides, because all matches every path and wins");
  expect(status).toBe(0);
});

it("a policy that is deleted or broken while the server runs leaves the old rules in force, and is logged", async () => {
  writeFileSync(join(root, "a.txt"), "CANARY\n");
  const file = policyFile([{ name: "no text", paths: ["*.txt"], access: "deny" }]);
  await using wire = await start({ roots: [root], args: ["--policy", file], env: { HOME: base } });
  await wire.initialize();
  const read = async () => JSON.stringify(await wire.call("read_file", { path: "a.txt" }));
  const readUntilSaid = async (text: string) => {
    await expect
      .poll(
        async () => {
          expect(await read()).toContain("no text");
          return wire.stderr;
        },
        { timeout: 20_000 },
      )
      .toContain(text);
    expect(await read()).not.toContain("CANARY");
  };
  rmSync(file);
  await readUntilSaid("it does not exist");
  writeFileSync(file, "{");
  await readUntilSaid("not JSON");
  policyFile([]);
  await expect.poll(read, { timeout: 20_000 }).toContain("CANARY");
});

it("doctor names secrets that the policy in force shows", () => {
  mkdirSync(join(root, "deep"));
  writeFileSync(join(root, "deep/.env"), "A=1\n");
  writeFileSync(join(root, "server.pem"), "x");
  const doctor = (...args: string[]) => {
    const line = [program, "doctor", "--json", "--state-dir", join(base, "state"), ...args, root];
    const { stdout } = spawnSync(process.execPath, line, { encoding: "utf8", env: environment() });
    const { findings } = JSON.parse(stdout) as { findings: { what: string; is: string; found: string }[] };
    return findings.find(({ what }) => what === "Readable secrets");
  };
  expect(doctor()).toMatchObject({ is: "fine" });
  const open = doctor("--policy", "none");
  expect(open).toMatchObject({ is: "notable" });
  expect(open?.found).toContain(join(root, "deep/.env"));
  expect(open?.found).toContain(join(root, "server.pem"));
});

it("the profile for macOS keeps commands from what is denied, masked or protected", () => {
  mkdirSync(join(root, "app/free"), { recursive: true });
  for (const name of [".env", "server.pem", "app/a.txt"]) writeFileSync(join(root, name), "x");
  using workspace = open([
    { paths: [".env"], access: "mask" },
    { paths: ["*.pem"], access: "deny" },
    { paths: ["app/**"], access: "read" },
    { paths: ["app/free/**"], access: "write" },
  ]);
  const lines = profileOf({ workspace, network: false }).split("\n");
  const at = (name: string) => `(subpath "${root}/${name}")`;
  expect(lines).toContain(`(deny file-read* file-write* ${at(".env")})`);
  expect(lines).toContain(`(deny file-read* file-write* ${at("server.pem")})`);
  const order = [`(deny file-write* ${at("app")})`, `(allow file-write* ${at("app/free")})`];
  expect(lines.filter(line => order.includes(line))).toEqual(order);
  expect(lines.indexOf(order[0] ?? "")).toBeGreaterThan(
    lines.indexOf(`(allow file-write* (subpath "${root}"))`),
  );
});
