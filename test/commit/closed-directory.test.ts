import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byDescriptor } from "../../src/engine/workspace/system/descriptors.ts";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";

/** The id of an ordinary user without rights here. */
const otherUser = 65534;
const isRoot = process.getuid?.() === 0;

it.skipIf(!byDescriptor)(
  "a directory that cannot be listed is covered for commands, and its files are neither removed nor created",
  async () => {
    using script = await bundle("closed-directory.ts");
    using fixture = new Fixture({ "d/.env": "KEY=1", "d/f": "text" });
    const program = join(fixture.base, "script.mjs");
    cpSync(script.path, program);
    chmodSync(program, 0o644);
    // File permissions do not apply to root.
    if (isRoot)
      for (const at of ["", "inside", "inside/d"]) chownSync(join(fixture.base, at), otherUser, otherUser);
    const user = isRoot ? { uid: otherUser, gid: otherUser } : {};
    const { stdout, stderr } = spawnSync(process.execPath, [program, fixture.base], {
      encoding: "utf8",
      ...user,
    });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      closed: ["mode d"],
      covered: [["d", "nothing"]],
      opened: ["mode d"],
    });
  },
);
