// Directories whose names are not UTF-8, which systems without /proc cannot enter. Their contents are found, or the
// answer says that something was left out: it is never silently incomplete.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Chance } from "../../../proof/chance.ts";
import { Fixture, Server } from "./fixture.ts";

const hideProc = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4k,ro none /proc && exec "$@"', "sh"];
const canHide = spawnSync(hideProc[0] as string, [...hideProc.slice(1), "true"]).status === 0;
const surroundings = { "with /proc": undefined, "without /proc": hideProc };

/** A tree of some depth in which names are not UTF-8 now and then; returns how many files it has. */
function grow(root: string, chance: Chance, count: number): number {
  let directory = Buffer.from(root);
  for (let i = 0; i < count; i++) {
    const name = Buffer.from(chance.next() < 0.3 ? `d${i}\xff` : `d${i}`, "latin1");
    directory = Buffer.concat([chance.next() < 0.5 ? Buffer.from(root) : directory, Buffer.from("/"), name]);
    mkdirSync(directory, { recursive: true });
    writeFileSync(Buffer.concat([directory, Buffer.from(`/f${i}.txt`)]), `needle ${i}\n`);
  }
  return count;
}

for (const [where, through] of Object.entries(surroundings))
  describe.skipIf(through !== undefined && !canHide)(where, () => {
    it.each([
      [1, 12],
      [2, 12],
      [3, 300],
    ])("no answer is silently incomplete: seed %i, %i files", async (seed, count) => {
      await using fixture = new Fixture();
      const files = grow(fixture.root, new Chance(seed), count);
      const wire = await fixture.start({ through });
      await wire.initialize();
      const server = new Server(wire);
      const all = { limit: 1000 };
      const answers = {
        literal: await server.says("search_text", { pattern: "needle", output: "files", ...all }),
        expression: await server.says("search_text", { pattern: "ne[e]dle \\d", output: "files", ...all }),
        find: await server.says("find_files", { pattern: "**/f*.txt", ...all }),
        replace: await server.says("replace_in_files", {
          paths: ["."],
          old: "needle",
          new: "x",
          dry_run: true,
          max_files: 1000,
        }),
        list: await server.says("list_directory", { path: ".", depth: 10, ...all }),
      };
      for (const [tool, said] of Object.entries(answers)) {
        const found = new Set(said.match(/\bf\d+\.txt/g)).size;
        const isComplete = found === files || /\b(more|collapsed)\b/.test(said);
        expect(isComplete || /could not be read/.test(said), `${tool}: ${found} of ${files}\n${said}`).toBe(
          true,
        );
        if (through === undefined) expect(said).not.toMatch(/could not be read/);
      }
    });
  });
