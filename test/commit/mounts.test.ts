// Moves from one mount to another, also of the same device: what cannot be renamed is copied, verified and removed.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";
import { unmount } from "./small-disk.ts";

/** Whether this user may mount here. */
function mayMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-mount-"));
  try {
    execFileSync("mount", ["--bind", directory, directory], { stdio: "ignore" });
    execFileSync("umount", [directory], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

describe.skipIf(!mayMount())("a move into a bind mount inside of a root (needs permission to mount)", () => {
  for (const kind of ["file", "tree"] as const)
    it(`takes a ${kind} there with its mode, and undo brings it back`, async () => {
      const base = mkdtempSync(join(tmpdir(), "polyfs-mounts-"));
      const root = join(base, "root");
      mkdirSync(join(root, "mounted"), { recursive: true });
      mkdirSync(join(base, "elsewhere"));
      execFileSync("mount", ["--bind", join(base, "elsewhere"), join(root, "mounted")]);
      const workspace = Workspace.open([{ path: root, access: "read-write" }], {
        state: join(base, "state"),
      });
      try {
        const inner = kind === "file" ? "" : "/x";
        if (kind === "tree") mkdirSync(join(root, "a"));
        writeFileSync(join(root, `a${inner}`), "content");
        chmodSync(join(root, `a${inner}`), 0o640);
        await workspace.commit([{ kind: "move", from: workspace.at("a"), to: workspace.at("mounted/b") }]);
        expect(readFileSync(join(base, `elsewhere/b${inner}`), "utf8")).toBe("content");
        expect(statSync(join(root, `mounted/b${inner}`)).mode & 0o777).toBe(0o640);
        expect(() => statSync(join(root, "a"))).toThrow();
        await undo(workspace);
        expect(readFileSync(join(root, `a${inner}`), "utf8")).toBe("content");
        expect(() => statSync(join(root, "mounted/b"))).toThrow();
      } finally {
        workspace[Symbol.dispose]();
        await unmount(join(root, "mounted"));
        rmSync(base, { recursive: true, force: true });
      }
    });
});

describe.skipIf(!mayMount())(
  "a state directory that is in a root by another path (needs permission to mount)",
  () => {
    it.runIf(hasProc)(
      "is refused, existing or not, also where the root is the one that is mounted elsewhere",
      () => {
        const base = mkdtempSync(join(tmpdir(), "polyfs-mounted state-"));
        const [root, other] = [join(base, "root"), join(base, "other")];
        mkdirSync(join(root, "deep/state"), { recursive: true });
        mkdirSync(join(base, "beside"));
        mkdirSync(other);
        const open = (path: string, state: string) =>
          openEngine({ roots: [{ path, access: "read-write" }], state })[Symbol.dispose]();
        const refused = expect.objectContaining({ code: "state_in_root" });
        try {
          execFileSync("mount", ["--bind", join(root, "deep"), other]);
          expect(() => open(root, other)).toThrow(refused);
          expect(() => open(root, join(other, "state"))).toThrow(refused);
          expect(() => open(root, join(other, "not/yet"))).toThrow(refused);
          expect(() => open(other, join(root, "deep/state"))).toThrow(refused);
          expect(() => open(other, join(base, "beside"))).not.toThrow();
          expect(() => open(root, join(base, "beside"))).not.toThrow();
        } finally {
          execFileSync("umount", ["-l", other]); // a root may still be held for a moment
          rmSync(base, { recursive: true, force: true });
        }
      },
    );

    it.runIf(hasProc)(
      "is refused in memory as on a disk, and allowed on another file system than the root",
      () => {
        const base = mkdtempSync(join(tmpdir(), "polyfs-mounted state-"));
        const [memory, second, third] = ["memory", "second", "third"].map(name => join(base, name)) as [
          string,
          string,
          string,
        ];
        for (const directory of [memory, second, third]) mkdirSync(directory);
        const open = (path: string, state: string) =>
          openEngine({ roots: [{ path, access: "read-write" }], state })[Symbol.dispose]();
        const refused = expect.objectContaining({ code: "state_in_root" });
        try {
          for (const at of [memory, third])
            execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", at]);
          mkdirSync(join(memory, "root/deep"), { recursive: true });
          mkdirSync(join(third, "state"));
          execFileSync("mount", ["--bind", join(memory, "root"), second]);
          expect(() => open(join(memory, "root"), join(second, "deep/not/yet"))).toThrow(refused);
          expect(() => open(second, join(memory, "root/deep"))).toThrow(refused);
          expect(() => open(second, join(third, "state"))).not.toThrow();
          expect(() => open(second, join(base, "beside"))).not.toThrow();
          expect(() => open(base, join(third, "state"))).toThrow(refused);
        } finally {
          for (const at of [second, third, memory]) spawnSync("umount", ["-l", at]);
          rmSync(base, { recursive: true, force: true });
        }
      },
    );
  },
);
