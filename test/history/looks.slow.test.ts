// A command's changes are found by looking at the tree twice, and each look takes time. What other callers change before,
// during and after each look is never taken for the command's: random programs, in which each part of the tree is seen
// at a moment of its own.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { Fault } from "../../src/engine/fault.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { OthersChanges } from "../../src/engine/history/others-changes.ts";
import type { Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { compareTrees } from "../../src/engine/workspace/footprint/compare-trees.ts";
import {
  snapshotTree,
  type TreeEntry,
  type TreeSnapshot,
} from "../../src/engine/workspace/footprint/tree-snapshot.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const parts = ["p", "q"];
const names = ["d", "e", "d/f", "e/f", "f"];

async function program(seed: number) {
  const chance = new Chance(seed);
  const base = mkdtempSync(join(tmpdir(), "polyfs-looks-"));
  const root = join(base, "root");
  for (const part of parts) {
    mkdirSync(join(root, part, "d"), { recursive: true });
    writeFileSync(join(root, part, "d/f"), "f\n");
    writeFileSync(join(root, part, "own"), "own\n");
  }
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  const other = workspace.as({ action: "edit_file", client: "other", connection: "other" });
  const done: string[] = [];

  function change() {
    const path = () => other.at(join(root, chance.pick(parts), chance.pick(names)));
    const [from, to] = [path(), path()];
    const bytes = Buffer.from(`${chance.below(2)}\n`);
    return chance.pick<Change>([
      { kind: "remove", path: to, recursive: true },
      { kind: "mkdir", path: to },
      { kind: "write", path: to, bytes, expect: "absent" },
      { kind: "move", from, to },
      { kind: "move", from, to, overwrite: true },
    ]);
  }
  async function act(most: number): Promise<void> {
    for (let left = chance.below(most + 1); left > 0; ) {
      const one = change();
      try {
        await other.commit([one], { parents: true });
        const paths = [...("from" in one ? [one.from] : []), "to" in one ? one.to : one.path];
        done.push([one.kind, ...paths.map(({ absolute }) => absolute.slice(root.length))].join(" "));
        left--;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
      }
    }
  }
  const look = () =>
    snapshotTree(workspace.roots, {
      maxEntries: 100,
      keeper: { maxBytes: 1e6, keep: async (_, __, open) => kept(open) },
    });
  const { objects } = workspace.archive;
  async function kept(open: () => { bytes(most: number): Promise<Buffer> } & Disposable) {
    using file = open();
    return objects.put(await file.bytes(1000));
  }
  /** As a look that comes to one part after the other. */
  async function slowLook(): Promise<TreeSnapshot> {
    let whole: TreeSnapshot | undefined;
    const seen = new Map<string, TreeEntry>();
    for (const part of parts) {
      await act(2);
      whole = await look();
      done.push(`look ${part}`);
      const entry = whole.roots.get(root)?.get(part);
      if (entry !== undefined) seen.set(part, entry);
    }
    return { ...(whole as TreeSnapshot), roots: new Map([[root, seen]]) };
  }
  try {
    const others = await OthersChanges.watch(other);
    const before = await slowLook();
    await act(1);
    others.begin();
    await pause(2);
    await act(2);
    const own = parts[chance.below(parts.length + 1)];
    if (own !== undefined) appendFileSync(join(root, own, "own"), "more\n");
    await act(2);
    await others.end();
    const after = await slowLook();
    await act(2);
    const trees = await others.without(before, after);
    const { changes } = await compareTrees(trees.before, trees.after);
    const found = changes.map(one => `${one.change} ${one.path.slice(root.length)}`);
    return { found, wanted: own === undefined ? [] : [`modified /${own}/own`], done };
  } finally {
    await workspace.settled();
    rmSync(base, { recursive: true, force: true });
  }
}

it("what others change while a command's tree is looked at is not the command's", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { found, wanted, done } = await program(seed);
    expect({ seed, found, done }).toEqual({ seed, found: wanted, done });
  }
}, 200_000);

/** Two commands and another caller append lines to the same files. The commands' records come in either order. */
async function linesOfTwo(seed: number) {
  const chance = new Chance(seed);
  const base = mkdtempSync(join(tmpdir(), "polyfs-looks-"));
  const root = join(base, "root");
  mkdirSync(root);
  const files = ["s", "t"].map(name => join(root, name));
  for (const path of files) writeFileSync(path, "start\n");
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  const other = workspace.as({ action: "write_file", client: "other", connection: "other" });
  const done: string[] = [];
  const written: { readonly line: string; readonly path: string }[] = [];
  const shared = new Set<string>();

  async function append(who: string, count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const [path, line] = [chance.pick(files), `${who} ${written.length}`];
      if (who === "other") {
        const expected = readFileSync(path);
        const bytes = Buffer.concat([expected, Buffer.from(`${line}\n`)]);
        try {
          await other.commit([{ kind: "write", path: other.at(path), bytes, expect: expected }], {});
        } catch {
          continue; // a command was faster
        }
      } else appendFileSync(path, `${line}\n`);
      written.push({ line, path });
      done.push(`${line} in ${path.slice(-1)}`);
      await pause(chance.below(4));
    }
  }
  async function run(who: string): Promise<void> {
    const view = workspace.as({ action: "run_command", client: who, connection: who });
    await pause(chance.below(10));
    using before = await Before.look(view);
    done.push(`${who} has looked`);
    await pause(2); // a command takes longer to start
    await append(who, 1 + chance.below(2));
    await pause(chance.below(10));
    done.push(`${who} ends`);
    const footprint = await before.compare();
    for (const path of footprint.shared) shared.add(path);
    await pause(chance.below(4));
    await record(view, footprint, { action: "run_command", client: who, connection: who });
    done.push(`${who} is recorded`);
  }
  try {
    // A third command is being recorded: the others look, and wait for it.
    const third = workspace.as({ action: "run_command", client: "c", connection: "c" }).announceCommand();
    const all = [run("a"), run("b"), append("other", chance.below(3))];
    await third.recordAlone();
    await pause(25 + chance.below(20));
    third[Symbol.dispose]();
    await Promise.all(all);
    await workspace.settled();
    const { objects, changes } = workspace.archive;
    const linesOf = (one: Snapshot | undefined) =>
      one?.kind === "file" && one.hash !== undefined ? String(objects.get(one.hash)).split("\n") : [];
    const claims: string[] = [];
    const taken: string[] = [];
    for (const { files } of changes.newest()) {
      for (const { before, after } of files) {
        const [old, now] = [linesOf(before), linesOf(after)];
        claims.push(...now.filter(line => !old.includes(line)));
        taken.push(...old.filter(line => !now.includes(line)));
      }
    }
    const lost = written.filter(({ line, path }) => !claims.includes(line) && !shared.has(path));
    const twice = claims.filter((line, i) => claims.indexOf(line) < i);
    return { lost, twice, taken, done };
  } finally {
    await workspace.settled();
    rmSync(base, { recursive: true, force: true });
  }
}

it("each line of two commands that run at once is recorded once, and neither takes the other's away", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { done, ...found } = await linesOfTwo(seed);
    expect({ seed, done, ...found }).toEqual({ seed, done, lost: [], twice: [], taken: [] });
  }
}, 200_000);
