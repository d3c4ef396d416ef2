// The net difference of changes is the difference between the tree before the first of them and the tree after the
// last, whatever they did in between: random programs of tools, commands, undos and redos, compared with real trees.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { type NetFile, netOf } from "../../src/engine/history/net.ts";
import { undo } from "../../src/engine/history/undo.ts";
import type { Objects } from "../../src/engine/workspace/archive/objects.ts";
import { listedIn, type Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";
import { isWithin } from "../../src/engine/workspace/root.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

/** By path: the content of a file, or "/" for a directory. */
type Tree = Map<string, string>;

const places = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "n", "n/a", "n/e", "n/e/a"];

function treeAt(root: string): Tree {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).map(name => join(root, name));
  return new Map(
    names.map(
      path =>
        [
          path,
          lstatSync(path).isDirectory() ? "/" : createHash("sha256").update(readFileSync(path)).digest("hex"),
        ] as const,
    ),
  );
}

class Program {
  readonly root: string;
  readonly workspace: Workspace;
  readonly told: string[] = [];
  readonly #base: string;
  readonly #chance: Chance;
  #count = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-net-")));
    this.root = join(this.#base, "root");
    for (const path of ["a", "d/a", "d/b", "d/e/a"]) {
      mkdirSync(join(this.root, path, ".."), { recursive: true });
      writeFileSync(join(this.root, path), `${path}\n`);
    }
    this.workspace = Workspace.open([{ path: this.root, access: "read-write" }], {
      state: join(this.#base, "state"),
    });
  }

  [Symbol.dispose](): void {
    this.workspace[Symbol.dispose]();
    rmSync(this.#base, { recursive: true });
  }

  async step(): Promise<void> {
    const { workspace } = this;
    const [one, other] = [this.#chance.pick(places), this.#chance.pick(places)];
    const [path, to] = [workspace.at(one), workspace.at(other)];
    const bytes = Buffer.from(`${++this.#count}\n`);
    const commit = (told: string, change: Change) => async () => {
      await workspace.commit([change], { parents: true });
      this.told.push(told);
    };
    const write = commit(`write ${one}`, { kind: "write", path, bytes });
    const remove = commit(`remove ${one}`, { kind: "remove", path, recursive: true });
    const move = commit(`move ${one} ${other}`, { kind: "move", from: path, to, overwrite: true });
    const copy = commit(`copy ${one} ${other}`, { kind: "copy", from: path, to });
    const make = commit(`mkdir ${one}`, { kind: "mkdir", path });
    const command = (line: string) => () => this.#run(line);
    const action = this.#chance.pick([
      write,
      write,
      remove,
      remove,
      move,
      move,
      copy,
      make,
      () => this.#undo(),
      () => this.#undo(),
      () => this.#undo(),
      () => this.#undo(),
      command(`rm -rf ${one}`),
      command(`rm -rf ${one}; mkdir -p ${one}; echo ${this.#count} > ${one}/a`),
      command(`rm -rf ${one}; echo ${this.#count} > ${one}`),
    ]);
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }

  async #undo(): Promise<void> {
    const records = await listChanges(this.workspace, { limit: 6 });
    if (records.length === 0) return;
    const { id } = this.#chance.pick(records);
    const { commit } = await undo(this.workspace, { change: id });
    if (commit !== undefined) this.told.push(`undo ${records.findIndex(one => one.id === id) + 1} back`);
  }

  async #run(line: string): Promise<void> {
    using before = await Before.look(this.workspace);
    execFileSync("/bin/sh", ["-c", `(${line}) 2>/dev/null || true`], { cwd: this.root });
    const recorded = await record(this.workspace, await before.compare(), { action: "run", client: "" });
    if (recorded !== undefined) this.told.push(line);
  }
}

function contentOf(snapshot: Snapshot | undefined): string | undefined {
  return snapshot?.kind === "file" ? snapshot.hash : snapshot && "/";
}

/** What a net difference makes of a tree. Fails if the tree is not what the difference starts from. */
function applied(before: Tree, after: Tree, net: readonly NetFile[], objects: Objects): Tree {
  const tree = new Map(before);
  const takeOut = (from: string, to?: string): Tree => {
    const taken: Tree = new Map();
    for (const [path, content] of [...tree]) {
      if (!isWithin(path, from)) continue;
      const below = path.slice(from.length);
      // Something in a directory that was moved is where it was, as after its undo: that is no difference.
      if (to !== undefined && below && after.get(path) === content && after.get(to + below) !== content)
        continue;
      taken.set(below, content);
      tree.delete(path);
    }
    return taken;
  };
  const moved = new Map<NetFile, Tree>();
  for (const one of net.toSorted((a, b) => (b.from ?? b.at).length - (a.from ?? a.at).length)) {
    const { at, from, before: old, after: made } = one;
    if (from !== undefined) moved.set(one, takeOut(from, at));
    else if (old !== undefined) {
      expect(tree.get(at), `before at ${at}`).toBe(contentOf(old));
      if (contentOf(old) !== "/") tree.delete(at);
      else if (made === undefined) takeOut(at);
    }
  }
  for (const one of net.toSorted((a, b) => a.at.length - b.at.length)) {
    const { at, before: old, after: made } = one;
    const taken = moved.get(one);
    if (taken === undefined && old === undefined) expect(tree.get(at), `before at ${at}`).toBe(undefined);
    for (const [below, content] of taken ?? []) tree.set(at + below, content);
    if (made === undefined) continue;
    tree.set(at, contentOf(made) ?? "");
    for (const [path, content] of entriesIn(made, at, objects)) tree.set(path, content);
  }
  return tree;
}

function isSame(one: Tree, other: Tree): boolean {
  return one.size === other.size && [...one].every(([path, content]) => other.get(path) === content);
}

/** What a directory held that was recorded as a whole. */
function entriesIn(snapshot: Snapshot, at: string, objects: Objects, found: Tree = new Map()): Tree {
  for (const entry of listedIn(snapshot, objects) ?? []) {
    found.set(`${at}/${entry.name}`, contentOf(entry) ?? "");
    entriesIn(entry, `${at}/${entry.name}`, objects, found);
  }
  return found;
}

/** Directories are made where files need them: only those that are not implied are compared. */
function filesOf(tree: Tree): string[] {
  return [...tree].flatMap(([path, content]) => (content === "/" ? [] : [`${path} ${content}`])).sort();
}

const programs = 60;

it("random changes come to the difference between the trees around them", async () => {
  const wrong: string[] = [];
  for (let seed = 1; seed <= programs; seed++) {
    using program = new Program(new Chance(seed));
    const { workspace, root, told } = program;
    const { objects } = workspace.archive;
    const trees = [treeAt(root)];
    for (let i = 0; i < 14; i++) {
      await program.step();
      const { length } = await listChanges(workspace, { limit: 100 });
      if (length === trees.length) trees.push(treeAt(root));
      told.length = length; // what had no effect is not recorded
    }
    const records = (await listChanges(workspace, { limit: 100 })).toReversed();
    for (let first = 0; first < records.length; first++)
      for (let last = first + 1; last <= records.length; last++) {
        const [before, after] = [trees[first] as Tree, trees[last] as Tree];
        const net = atOnce(netOf(records.slice(first, last).toReversed(), workspace));
        try {
          expect(filesOf(applied(before, after, net, objects))).toEqual(filesOf(after));
          if (isSame(before, after)) expect(net).toEqual([]);
        } catch (error) {
          const lines = net.map(({ from, at }) => `${from ?? ""} -> ${at}`);
          const story = `[${seed}] ${[...before.keys()].join(" ")}: ${told.slice(first, last).join("; ")}`;
          wrong.push([story, ...lines, String(error)].join("\n  ").replaceAll(`${root}/`, ""));
        }
      }
  }
  const shortest = wrong.sort((a, b) => a.length - b.length).slice(0, 3);
  expect(shortest.join("\n"), `${wrong.length} differences are wrong`).toBe("");
});
