// What people with an old Node see: one line that says what to do, and no stack trace.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { tooOld } from "../../src/cli/node-version.ts";

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Runs a script of this repository with a Node that says that it is another version. */
function run(script: string, version: string, ...args: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const disguise = join(directory, "disguise.cjs");
  const versions = JSON.stringify({ ...process.versions, node: version });
  writeFileSync(disguise, `Object.defineProperty(process, "versions", { value: ${versions} });`);
  return spawnSync(process.execPath, ["--require", disguise, inRepository(script), ...args], {
    encoding: "utf8",
    input: "",
  });
}

it.each(["18.20.8", "20.9.0", "20.18.3"])("refuses Node %s in one line", version => {
  for (const script of ["dist/polyfs.cjs", "tools/start.mjs", "tools/test.mjs"]) {
    const { status, stdout, stderr } = run(script, version, "--version");
    expect(stderr, script).toBe(`polyfs: Node ${version} is too old. Install Node 20.19 or later.\n`);
    expect([status, stdout]).toEqual([1, ""]);
  }
});

it.each(["20.19.0", "22.0.0", "100.1.0"])("runs on Node %s", version => {
  const { status, stdout } = run("dist/polyfs.cjs", version, "--version");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
});

it("names the version that package.json asks for", () => {
  const { engines } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));
  expect(tooOld("18.0.0")).toContain(`Node ${engines.node.replace(">=", "")} `);
});
