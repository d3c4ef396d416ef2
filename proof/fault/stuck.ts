// Trees of which something cannot be removed: a call is refused and leaves them as they are, or it is done and leaves
// nothing under a temporary name. Once that is over, the tree is deleted, and undo restores it.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import type { Trial } from "../suite.ts";
import { ServerUnderTest, told } from "./server-under-test.ts";

type Command = readonly string[];
type Kind = "file" | "directory" | "any";

/** How an entry gets stuck, which entries can, and how it is released. `other` is a place outside of the tree. */
const ways: Readonly<
  Record<string, [at: Kind, hold: (at: string, other: string) => Command, free: Command]>
> = {
  immutable: ["any", at => ["chattr", "+i", at], ["chattr", "-i"]],
  "append-only": ["any", at => ["chattr", "+a", at], ["chattr", "-a"]],
  "a mount point": ["directory", at => ["mount", "-t", "tmpfs", "tmpfs", at], ["umount"]],
  "a mounted file": ["file", (at, other) => ["mount", "--bind", join(other, "file"), at], ["umount"]],
  "a mount of the place itself": ["directory", at => ["mount", "--bind", at, at], ["umount"]],
};

const places = {
  "t/a": "file",
  "t/in/x": "file",
  t: "directory",
  "t/in": "directory",
  "t/in/deep": "directory",
};

const calls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  delete_path: { path: "t", recursive: true },
  move_path: { from: "t", to: "disk/t" },
  apply_patch: { patch: "*** Begin Patch\n*** Delete File: t/in/x\n*** Delete File: t/a\n*** End Patch\n" },
};

export async function removeStuck({ tally }: Trial): Promise<void> {
  if (!tally.wants("R140")) return;
  for (const [way, [kind, hold, free]] of Object.entries(ways))
    for (const [place, is] of Object.entries(places))
      for (const [tool, args] of Object.entries(calls)) {
        if (kind !== "any" && kind !== is) continue;
        const id = `R140 (${place} is ${way}: ${tool})`;
        await using server = new ServerUnderTest({
          "t/a": "a\n",
          "t/in/x": "x\n",
          "t/in/deep/y": "y\n",
          file: "",
        });
        const [disk, at] = [join(server.root, "disk"), join(server.root, place)];
        mkdirSync(disk);
        const run = ([command = "", ...words]: Command) => spawnSync(command, words).status === 0;
        if (!run(["mount", "-t", "tmpfs", "tmpfs", disk]))
          return tally.skipped("R140", "needs permission to mount");
        try {
          if (!run(hold(at, server.root))) {
            tally.skipped(id, "needs permission, or a file system that knows it");
            continue;
          }
          await tally.attempt(id, async () => {
            const wire = await server.serve();
            const before = server.tree();
            const answer = await told(wire, tool, args).then(() => "done", String);
            await told(wire, "list_changes", {}); // once it is recorded
            const after = server.tree();
            run([...free, at]);
            const left = Object.keys(after).filter(path => path.split("/").some(isTemporaryName));
            if (left.length > 0) throw new Error(`left behind: ${left.join(", ")} (${answer})`);
            if (answer === "done") return;
            if (JSON.stringify(after) !== JSON.stringify(before))
              throw new Error(`refused and done: ${answer}`);
            const whole = server.tree();
            await told(wire, "delete_path", { path: "t", recursive: true });
            await told(wire, "undo", {});
            if (JSON.stringify(server.tree()) !== JSON.stringify(whole))
              throw new Error("undo does not restore it");
          });
        } finally {
          run([...free, at]);
          run(["umount", "-l", disk]);
        }
      }
}
