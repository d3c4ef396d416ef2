// A file whose directory may not be written to is written in place. In a fork by hard links, that must not reach what it
// shares with other forks.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byDescriptor } from "../../src/engine/workspace/system/descriptors.ts";
import { bundle } from "../commit/bundle.ts";

/** The id of an ordinary user without rights here: file permissions do not apply to root. */
const otherUser = 65534;
const isRoot = process.getuid?.() === 0;

it.skipIf(!byDescriptor)("no write in one fork reaches another through a closed directory", async () => {
  using script = await bundle("../workspaces/closed-directory.ts");
  const top = mkdtempSync(join(tmpdir(), "polyfs-closed-"));
  try {
    const program = join(top, "script.mjs");
    cpSync(script.path, program);
    chmodSync(program, 0o644);
    if (isRoot) chownSync(top, otherUser, otherUser);
    const user = isRoot ? { uid: otherUser, gid: otherUser } : {};
    const { stdout, stderr } = spawnSync(process.execPath, [program, top], { encoding: "utf8", ...user });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      wrote: { closed: "modified", later: "permission_denied" },
      contents: { one: ["new", "old"], other: ["old", "old"] },
      links: [1, 1],
      modes: ["555", "555"],
    });
  } finally {
    if (!isRoot) spawnSync("chmod", ["-R", "u+rwX", top]);
    rmSync(top, { recursive: true, force: true });
  }
});
