// Where the state directory may be, and what the person who starts the server hears about it.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isVolatile } from "../../src/engine/workspace/system/file-system.ts";
import { polyfs } from "./program.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-state-"));
  root = join(base, "root");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it("a state directory that is named inside a served directory is refused, and not created", () => {
  const state = join(root, ".state");
  for (const ending of [
    polyfs(["--state-dir", state, root]),
    polyfs([root], { env: { POLYFS_STATE_DIR: state } }),
  ]) {
    expect(ending.code).toBe(2);
    expect(ending.stderr).toContain(`state directory ${state} is inside ${root}`);
  }
  expect(existsSync(state)).toBe(false);
});

it.skipIf(!isVolatile("/dev/shm"))("a state directory in memory is named at the start", () => {
  const state = mkdtempSync("/dev/shm/polyfs-state-");
  try {
    expect(polyfs(["--state-dir", state, root]).stderr).toContain(
      "history and undo end when the machine is restarted",
    );
    expect(polyfs(["--state-dir", join(base, "state"), root]).stderr).not.toContain("history and undo end");
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
});

it("the tools are listed for a directory that may be written", () => {
  const { code, stdout } = polyfs(["tools", "--allow-write", root]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^write_file /m);
});
