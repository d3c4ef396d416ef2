// A command's changes are found by looking at the tree twice, and each look takes time. What other callers change before,
// during and after each look is never taken for the command's: random programs, in which each part of the tree is seen
// at a moment of its own.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { clock } from "../../src/engine/clock.ts";
import { Fault } from "../../src/engine/fault.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { lookAt } from "../../src/engine/history/look.ts";
import { withoutOthers } from "../../src/engine/history/others-changes.ts";
import type { Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { compareTrees } from "../../src/engine/workspace/footprint/compare-trees.ts";
import {
  seenAt,
  snapshotTree,
  type TreeEntry,
  type TreeSnapshot,
} from "../../src/engine/workspace/footprint/tree-snapshot.ts";
import type { RelatedPaths } from "../../src/engine/workspace/within.ts";
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
  const look = (only?: RelatedPaths) =>
    snapshotTree(workspace.roots, {
      maxEntries: 100,
      ...(only && { only }),
      keeper: { maxBytes: 1e6, keep: async (_, __, open) => kept(open) },
    });
  const { objects } = workspace.archive;
  async function kept(open: () => { bytes(most: number): Promise<Buffer> } & Disposable) {
    using file = open();
    return objects.put(await file.bytes(1000));
  }
  /** As a look that comes to one part after the other. Where it looks again, others may have changed something again. */
  async function slowLook(only?: RelatedPaths): Promise<TreeSnapshot> {
    if (only !== undefined) {
      if (chance.below(3) === 0) await act(1);
      const part = await look(only);
      done.push("look again");
      if (chance.below(3) === 0) await act(1);
      return part;
    }
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
    const before = await lookAt(other, slowLook);
    await act(2);
    const own = parts[chance.below(parts.length + 1)];
    if (own !== undefined) appendFileSync(join(root, own, "own"), "more\n");
    await act(2);
    const after = await lookAt(other, slowLook);
    await act(2);
    const trees = withoutOthers(other, before, after);
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

/** What happens: a command looks, writes a line, looks again, and is recorded; others write a line each. */
type Event = `${"A" | "B" | "C"} ${"looks" | "writes" | "ends" | "is recorded"}` | "commit" | "save";

const commandA: readonly Event[] = ["A looks", "A writes", "A ends", "A is recorded"];
const commandB: readonly Event[] = ["B looks", "B writes", "B ends", "B is recorded"];
const commandC: readonly Event[] = ["C looks", "C writes", "C ends", "C is recorded"];

/** All orders of these events in which each list keeps its own. */
function* interleavings(lists: readonly (readonly Event[])[]): Generator<Event[]> {
  if (lists.every(list => list.length === 0)) yield [];
  for (const [i, [event, ...rest]] of lists.entries()) {
    if (event === undefined) continue;
    for (const more of interleavings(lists.with(i, rest))) yield [event, ...more];
  }
}

async function inThisOrder(events: readonly Event[]) {
  const base = mkdtempSync(join(tmpdir(), "polyfs-looks-"));
  const root = join(base, "root");
  mkdirSync(root);
  const path = join(root, "s");
  writeFileSync(path, "start\n");
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  const other = workspace.as({ action: "write_file", client: "other", connection: "other" });
  const looks = new Map<string, Before>();
  const shared = new Set<string>();
  const written = new Map<string, string>();
  try {
    for (const [i, event] of events.entries()) {
      const [who = "", what = ""] = event.split(/ (?:is )?/);
      const line = `${who} ${i}`;
      const by = { action: "run_command", client: who, connection: who };
      const look = looks.get(who);
      if (what === "looks") looks.set(who, await Before.look(workspace.as(by)));
      else if (what === "ends") await look?.end();
      else if (what === "recorded" && look !== undefined) {
        const footprint = await look.compare();
        if (footprint.shared.includes(path)) shared.add(who);
        await record(workspace.as(by), footprint, by);
        look[Symbol.dispose]();
      } else if (who === "commit") {
        const expected = readFileSync(path);
        const bytes = Buffer.concat([expected, Buffer.from(`${line}\n`)]);
        await other.commit([{ kind: "write", path: other.at(path), bytes, expect: expected }], {});
        written.set(line, "other");
      } else {
        appendFileSync(path, `${line}\n`);
        written.set(line, who);
      }
    }
    await workspace.allRecorded();
    const { objects, changes } = workspace.archive;
    const linesOf = (one: Snapshot | undefined) =>
      one?.kind === "file" && one.hash !== undefined ? String(objects.get(one.hash)).split("\n") : [];
    const wrong: string[] = [];
    const claims = new Map<string, string[]>();
    const records = [...changes.newest()];
    for (const { client, files } of records) {
      for (const { before, after } of files) {
        const [old, now] = [linesOf(before), linesOf(after)];
        for (const line of now)
          if (!old.includes(line)) claims.set(line, [...(claims.get(line) ?? []), client]);
        for (const line of old) if (!now.includes(line)) wrong.push(`${client} took ${line} away`);
      }
    }
    for (const [line, who] of written) {
      const by = claims.get(line) ?? [];
      if (by.length > 1) wrong.push(`${line} is recorded as ${by}`);
      if (who === "other" && by[0] !== who) wrong.push(`${line} is recorded as ${by}`);
      if (looks.has(who) && by.length === 0 && !shared.has(who)) wrong.push(`${line} is not recorded`);
    }
    return wrong;
  } finally {
    for (const look of looks.values()) look[Symbol.dispose]();
    await workspace.settled();
    rmSync(base, { recursive: true, force: true });
  }
}

/** Of many orders, every so many. */
const stories = [
  { story: "two commands and a commit", others: [["commit"]], every: 1 },
  { story: "two commands and two commits", others: [["commit", "commit"]], every: 11 },
  { story: "two commands, a commit and a save of an editor", others: [["commit"], ["save"]], every: 23 },
  { story: "three commands", others: [commandC], every: 29 },
] as const;

for (const { story, others, every } of stories)
  it(`each line is recorded once, in every order of ${story}`, async () => {
    // The commands do the same, so the first one that looks is A, and so on.
    const all = [...interleavings([commandA, commandB, ...others])]
      .filter(events => {
        const looks = events.filter(event => event.endsWith(" looks"));
        return looks.every((event, i) => i === 0 || event > (looks[i - 1] as Event));
      })
      .filter((_, i) => i % every === 0);
    const wrong: unknown[] = [];
    const run = async () => {
      for (let events = all.pop(); events !== undefined; events = all.pop()) {
        const found = await inThisOrder(events);
        if (found.length > 0) wrong.push({ events: events.join(", "), found });
      }
    };
    await Promise.all(Array.from({ length: 16 }, run));
    expect(wrong).toEqual([]);
  }, 600_000);

it("a command that ends alone is not the next one's, even if it is recorded after the next one has looked", async () => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-looks-"));
  const root = join(base, "root");
  mkdirSync(root);
  const path = join(root, "s");
  writeFileSync(path, "start\n");
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  const by = (client: string) => ({ action: "run_command", client, connection: client });
  const look = (client: string) => Before.look(workspace.as(by(client)));
  try {
    const first = await look("first");
    appendFileSync(path, "first\n");
    const footprint = await first.compare();
    using second = await look("second");
    await record(workspace.as(by("first")), footprint, by("first"));
    first[Symbol.dispose]();
    expect(footprint.changes.map(one => one.path)).toEqual([path]);
    const { changes, shared } = await second.compare();
    expect({ changes, shared }).toEqual({ changes: [], shared: [] });
  } finally {
    await workspace.settled();
    rmSync(base, { recursive: true, force: true });
  }
});

/** While a look is taken, others make and remove files. When was each one there, and what does the look say? */
async function namesWhileLooking(seed: number) {
  const chance = new Chance(seed);
  const base = mkdtempSync(join(tmpdir(), "polyfs-looks-"));
  const root = join(base, "root");
  mkdirSync(join(root, "d/e"), { recursive: true });
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  const other = workspace.as({ action: "write_file", client: "other", connection: "other" });
  const paths = ["", "d", "d/e", "d/new", "new"].flatMap(directory =>
    ["a", "b", "c"].map(name => join(root, directory, name)),
  );
  /** Each change of a path: when, and whether it was there afterwards. */
  const changes: {
    readonly path: string;
    readonly from: number;
    readonly to: number;
    readonly isThere: boolean;
  }[] = [];
  const change = async (path: string, isThere: boolean, make: () => unknown) => {
    const from = clock();
    await make();
    changes.push({ path, from, to: clock(), isThere });
  };
  async function act(): Promise<void> {
    for (let left = chance.below(4); left > 0; left--) {
      const path = chance.pick(paths);
      const isCommit = chance.below(2) === 0;
      if (existsSync(path)) {
        await change(path, false, () =>
          isCommit ? other.commit([{ kind: "remove", path: other.at(path) }], {}) : rmSync(path),
        );
      } else {
        await change(path, true, async () => {
          if (isCommit) {
            const write = {
              kind: "write",
              path: other.at(path),
              bytes: Buffer.from("x"),
              expect: "absent",
            } as const;
            await other.commit([write], { parents: true });
            return;
          }
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, "x");
        });
      }
      await pause(1);
    }
  }
  try {
    await act();
    const { snapshot } = await lookAt(other, async only => {
      await act();
      const taken = await snapshotTree(workspace.roots, { maxEntries: 100, ...(only && { only }) });
      await act();
      return taken;
    });
    const wrong = paths.filter(path => {
      const found = seenAt(snapshot, path);
      if (found === undefined) return true;
      const [since, until] = found.seen;
      const own = changes.filter(one => one.path === path);
      const before = own.findLast(({ to }) => to < since)?.isThere ?? false;
      const states = [
        before,
        ...own.filter(one => one.to >= since && one.from <= until).map(one => one.isThere),
      ];
      return !states.includes(found.entry !== undefined);
    });
    return wrong.map(path => path.slice(root.length));
  } finally {
    await workspace.settled();
    rmSync(base, { recursive: true, force: true });
  }
}

it("a look says of each path what was there when it says that it looked at it", async () => {
  for (let seed = 1; seed <= 60; seed++)
    expect({ seed, wrong: await namesWhileLooking(seed) }).toEqual({ seed, wrong: [] });
}, 200_000);
