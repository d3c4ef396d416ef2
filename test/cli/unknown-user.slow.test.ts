// A user that the user database does not know, as a container started with a number for its user has.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const unknown = 61_234;

describe.skipIf(process.getuid?.() !== 0)("a user without an entry in the user database", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "unknown-user-"));
    chmodSync(root, 0o777);
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
    rmSync(join(tmpdir(), `polyfs-${unknown}`), { recursive: true, force: true });
  });

  it.each([
    ["with a home", () => ({ HOME: root })],
    ["with a home that may not be written, as containers give", () => ({ HOME: "/" })],
    ["without a home", () => ({})],
  ])("changes files and takes the change back, %s", (_, home) => {
    const run = (...args: string[]) => {
      const env = { PATH: process.env.PATH, POLYFS_CODE_CACHE: "off", ...home() };
      const done = spawnSync(process.execPath, [program, ...args], {
        uid: unknown,
        gid: unknown,
        env,
        cwd: root,
      });
      return { status: done.status, said: `${done.stdout}${done.stderr}` };
    };
    const written = run("call", "--text", "write_file", '{"path":"a","content":"b"}');
    expect(written.said).toContain("created a");
    expect(written.status).toBe(0);
    expect(run("undo").said).toContain("removed a");
  });
});
