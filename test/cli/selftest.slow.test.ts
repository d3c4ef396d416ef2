// `polyfs selftest`: passes on this machine, leaves nothing behind, and fails where a server does not do what it should.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-selftest-test-"));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

async function run(file: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [file, "selftest", "--seconds", "0.1", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", chunk => (output += chunk));
  const [code] = await once(child, "close");
  return { code, output };
}

interface Report {
  readonly facts: Record<string, string>;
  readonly sections: readonly { name: string; tried: number; failures: string[] }[];
}

it("passes here, describes the machine, and leaves nothing behind", async () => {
  const { code, output } = await run(program, "--json", base);
  const { facts, sections }: Report = JSON.parse(output);
  expect(sections.flatMap(({ failures }) => failures)).toEqual([]);
  expect(code).toBe(0);
  expect(facts).toMatchObject({ node: process.versions.node, directory: base });
  expect(facts["objects are held by"]).toMatch(/^(descriptor|working directory)$/);
  expect(sections.map(({ name }) => name)).toEqual([
    "round trip",
    "other spellings of a name",
    "escape by paths and links",
    "escape in a race",
    "two servers on one file",
    "killed in the middle of changes",
  ]);
  // Where the file system distinguishes spellings, there is nothing to try about them.
  const always = sections.filter(({ name }) => name !== "other spellings of a name");
  for (const { tried } of always) expect(tried).toBeGreaterThan(1);
  expect(readdirSync(base)).toEqual([]);
});

it("fails where a server misbehaves, and reports how", async () => {
  const broken = join(base, "broken.cjs");
  const serving = `if (process.argv[2] !== "selftest") process.argv.push("--read-only");`;
  writeFileSync(broken, `${serving}\nrequire(${JSON.stringify(program)});\n`);
  const { code, output } = await run(broken, base);
  expect(code).toBe(1);
  expect(output).toContain("FAIL  round trip");
  expect(output).toContain("a file is edited");
  expect(output).toMatch(/selftest: \d+ tried, [1-9]\d* failed\n$/);
});

it("says in one line that it cannot work in a directory", () => {
  writeFileSync(join(base, "file"), "");
  for (const name of ["missing", "file"]) {
    const { status, stderr } = spawnSync(process.execPath, [program, "selftest", join(base, name)], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, `polyfs: no such directory: ${join(base, name)}\n`]);
  }
});
