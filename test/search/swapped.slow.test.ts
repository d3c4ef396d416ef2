// Directories that are swapped while a tree that has been at rest is walked: for a link that leads outside, or for another
// tree with such links, made long before. Whenever it happens, nothing from outside is listed.
//
// `SWAP_SEED` repeats a run.
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { walkGroups } from "../../src/engine/search/walk.ts";
import { byDescriptor } from "../../src/engine/workspace/system/descriptors.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const seed = Number(process.env.SWAP_SEED ?? Date.now() % 1_000_000);
const trees = 60;
const settledMs = 2100;
const base = realpathSync(mkdtempSync(join(tmpdir(), "swapped-")));
const names = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);
const middle = names("q", 2).flatMap(q => names("p", 2).map(p => `${q}/${p}`));
const leaves = middle.flatMap(path => names("d", 6).map(d => `${path}/${d}`));
const directories = [...names("q", 2), ...middle, ...leaves];

/** A tree of these directories. Each leaf has a file that names who made it. */
function plant(root: string, owner: string): void {
  for (const path of leaves) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, `${owner}.txt`), "");
  }
}

/** A tree of the same names, in which the leaves are links that lead outside. */
function plantDecoy(root: string): void {
  for (const path of middle) mkdirSync(join(root, path), { recursive: true });
  for (const path of leaves) symlinkSync(join(base, "outside", path), join(root, path));
}

function* numbers(from: number): Generator<number, never> {
  for (let state = from; ; ) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    yield state >>> 8;
  }
}

beforeAll(async () => {
  plant(join(base, "outside"), "outside");
  for (let i = 0; i < trees; i++) {
    plant(join(base, `root${i}`), "inside");
    plantDecoy(join(base, `decoy${i}`));
  }
  plant(join(base, "resting"), "inside");
  mkdirSync(join(base, "other"));
  await sleep(settledMs); // only a tree at rest is read in the way that this is about
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("a tree in which directories are swapped during a walk", () => {
  it("shows nothing of what the links lead to", async () => {
    const random = numbers(seed);
    const below = (limit: number) => random.next().value % limit;
    let swaps = 0;
    for (let i = 0; i < trees; i++) {
      const root = join(base, `root${i}`);
      using workspace = Workspace.open([{ path: root, access: "read-only" }]);
      using start = workspace.directory(workspace.at("."));
      // What is above the leaves is known by then.
      if (i % 4 >= 2) await walkGroups(start, { maxDepth: 2 }, () => true);
      const isDecoy = i % 2 === 0;
      const path = directories[below(isDecoy ? 2 : directories.length)] as string;
      let left = below(middle.length + 4);
      const shown: string[] = [];
      await walkGroups(start, { order: i % 3 === 0 ? "tree" : "paths" }, ({ prefix, entries }) => {
        if (left-- === 0) {
          renameSync(join(root, path), join(base, `moved${i}`));
          if (isDecoy) renameSync(join(base, `decoy${i}`, path), join(root, path));
          else symlinkSync(join(base, "outside", path), join(root, path));
          swaps++;
        }
        for (const { name } of entries) shown.push(prefix + name);
        return true;
      });
      const foreign = shown.filter(name => name.includes("outside"));
      expect(foreign, `seed ${seed}, tree ${i}: ${path} was swapped`).toEqual([]);
    }
    expect(swaps).toBeGreaterThan(trees / 2);
  });

  it.runIf(byDescriptor)("is not read under names that were swapped since its stamp was taken", () => {
    const root = join(base, "resting");
    using workspace = Workspace.open([{ path: root, access: "read-only" }]);
    using parent = workspace.directory(workspace.at("q0/p0"));
    const stamp = parent.mark();
    const entries = [...parent.entries()];
    expect(parent.listedBelow(entries, stamp, 1000)).toHaveLength(6);
    renameSync(join(root, "q0/p0/d3"), join(base, "taken"));
    renameSync(join(base, "other"), join(root, "q0/p0/d3"));
    expect(parent.listedBelow(entries, stamp, 1000)).toBeUndefined();
  });
});
