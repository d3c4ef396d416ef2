// From the first snapshot to the last file removed: what is reused, what is dropped and restored, what limits hold, and
// what a restart of the machine or a killed process leaves.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { noteOwn } from "../../src/engine/workspace/reserved.ts";
import { collect, dropUnused, expiring, tidy } from "../../src/engine/workspaces/collect.ts";
import { Workspaces } from "../../src/engine/workspaces/workspaces.ts";
import { errno, watching } from "../commit/failing.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture, treeOf } from "./fixture.ts";

/** mkfs and umount read /proc. */
const canMount = process.getuid?.() === 0 && process.platform === "linux" && hasProc;
const day = 86_400_000;

describe("a snapshot", () => {
  it.each(["copy", "link"] as const)("by %s has no copy of the program's own directories", async method => {
    using fixture = new Fixture(method);
    const base = fixture.files("base", { "a.txt": "a\n", "deep/state/key": "secret\n" });
    noteOwn([join(base, "deep/state")]);
    await fixture.workspaces.adopt("main", base, "");
    const first = await fixture.workspaces.fork("first", "main", "");
    expect(Object.values(treeOf(first.root))).not.toContain("secret\n");
    fixture.files("base", { "deep/state/key": "other\n" });
    const second = await fixture.workspaces.fork("second", "main", "");
    expect(second.snapshot).toBe(first.snapshot);
    const created = await fixture.workspaces.create("created", base, "");
    for (const { root } of [second, created]) expect(Object.keys(treeOf(root))).toEqual(["a.txt", "deep/"]);
  });

  it("is reused until the base changes; the next one links unchanged files", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n", "b.txt": "b\n" });
    const second = await fixture.workspaces.fork("second", "main", "");
    expect(second.snapshot).toBe(fork.snapshot);
    // In place, with the same size, and the old time put back.
    const { atimeMs, mtimeMs } = statSync(join(base, "a.txt"));
    writeFileSync(join(base, "a.txt"), "A\n");
    utimesSync(join(base, "a.txt"), atimeMs / 1000, mtimeMs / 1000);
    const third = await fixture.workspaces.fork("third", "main", "");
    expect(third.snapshot).not.toBe(fork.snapshot);
    expect(readFileSync(join(third.root, "a.txt"), "utf8")).toBe("A\n");
    const inode = (id = "") => statSync(join(fixture.workspaces.snapshots.treeOf(id), "b.txt")).ino;
    expect(inode(third.snapshot)).toBe(inode(fork.snapshot));
  });

  it.runIf(canMount)("taken before the base changed leaves nothing in a mounted fork", async () => {
    using fixture = new Fixture("overlay");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n", "gone.txt": "b\n" });
    fixture.files(base, { "a.txt": "A\n", "gone.txt": null, "new.txt": "n\n" });
    const second = await fixture.workspaces.fork("second", "main", "");
    expect(treeOf(second.root)).toEqual({ "a.txt": "A\n", "new.txt": "n\n" });
    expect(second.snapshot).not.toBe(fork.snapshot);
    const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
    expect(mounts.filter(line => line.includes(second.tree ?? "-"))).toHaveLength(1);
    expect(readdirSync(fixture.workspaces.layout.removing)).toEqual([]);
  });

  it("is consistent if the base changes while it is taken", async () => {
    using fixture = new Fixture("link");
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, "0\n"]));
    const base = fixture.files("base", files);
    await fixture.workspaces.adopt("main", base, "");
    // `1<>` writes without truncating first, so that no file is ever empty.
    const script = `for n in 1 2 3; do for i in $(seq 0 299); do echo $n 1<> f$i; done; done`;
    const writer = new Promise<void>(resolve => {
      import("node:child_process").then(({ spawn }) =>
        spawn("sh", ["-c", script], { cwd: base }).once("close", () => resolve()),
      );
    });
    const fork = await fixture.workspaces.fork("task", "main", "").catch(error => {
      expect(error).toMatchObject({ code: "base_changing" });
      return undefined;
    });
    await writer;
    if (fork === undefined) return;
    // The writer goes through the files in order: at one moment those before it are one step ahead of those behind.
    const values = Array.from({ length: 300 }, (_, i) =>
      Number(readFileSync(join(fork.root, `f${i}`), "utf8")),
    );
    expect([...values].sort((a, b) => b - a)).toEqual(values);
    expect((values[0] ?? 0) - (values.at(-1) ?? 0)).toBeLessThanOrEqual(1);
  });
});

describe("an unused fork", () => {
  const droppingAfterTenDays = ({ path }: Fixture) =>
    new Workspaces({
      directory: join(path, "all"),
      store: directory => new DirectoryStore(directory),
      unusedMs: 10 * day,
    });

  it("is announced, dropped, can be restored, and is then removed completely", async () => {
    using fixture = new Fixture();
    const { fork } = await fixture.forked({ "a.txt": "a\n" });
    const workspaces = droppingAfterTenDays(fixture);
    const place = join(workspaces.layout.trees, fork.tree ?? "");
    const unusedFor = (ms: number) => utimesSync(place, new Date(Date.now() - ms), new Date(Date.now() - ms));
    expect(await expiring(workspaces)).toEqual([]);
    unusedFor(9 * day);
    expect((await expiring(workspaces)).map(({ record }) => record.name)).toEqual(["task"]);
    expect(await dropUnused(workspaces)).toEqual([]);
    unusedFor(11 * day);
    expect(await dropUnused(workspaces)).toEqual([]); // announced a moment ago
    const yesterday = new Date(Date.now() - day);
    utimesSync(join(workspaces.layout.announced, fork.tree ?? ""), yesterday, yesterday);
    expect((await dropUnused(workspaces)).map(({ name }) => name)).toEqual(["task"]);
    await collect(workspaces, day);
    await workspaces.restore("task");
    expect(treeOf(fork.root)).toEqual({ "a.txt": "a\n" });
    expect(await expiring(workspaces)).toEqual([]);
    await workspaces.drop(await workspaces.find("task"));
    await collect(workspaces, 0);
    expect(existsSync(place)).toBe(false);
    await expect(workspaces.restore("task")).rejects.toMatchObject({ code: "unknown_workspace" });
    expect(readdirSync(workspaces.layout.sizes)).toEqual([]);
    expect(readdirSync(workspaces.layout.announced)).toEqual([]);
  });

  it("is not dropped without notice, if no server ran while its time was running out, or it was used since", async () => {
    using fixture = new Fixture();
    const { fork } = await fixture.forked({ "a.txt": "a\n" });
    const workspaces = droppingAfterTenDays(fixture);
    const at = (path: string, ago: number) =>
      utimesSync(path, new Date(Date.now() - ago), new Date(Date.now() - ago));
    const [place, mark] = ["trees", "announced"].map(name =>
      join(workspaces.layout.path, name, fork.tree ?? ""),
    ) as [string, string];
    at(place, 40 * day);
    expect(await dropUnused(workspaces)).toEqual([]);
    const [{ expires = 0 } = {}] = await expiring(workspaces);
    expect(expires).toBeGreaterThan(Date.now() + 0.9 * day);
    at(mark, 50 * day); // of before it was last used
    expect(await dropUnused(workspaces)).toEqual([]);
    at(mark, 2 * day);
    expect(await dropUnused(workspaces)).toHaveLength(1);
  });
});

describe("a fork that is dropped or restored while another process tidies up", () => {
  it.each(["drop", "restore"] as const)("keeps its files: %s", async what => {
    using fixture = new Fixture();
    const { fork } = await fixture.forked({ "a.txt": "a\n" });
    if (what === "restore") await fixture.workspaces.drop(fork);
    const other = fixture.open();
    const list = other.list.bind(other);
    let looks = 0;
    other.list = async options => {
      // Between its looks at those that live and at those that were dropped.
      if (++looks === 2)
        await (what === "drop" ? fixture.workspaces.drop(fork) : fixture.workspaces.restore("task"));
      return await list(options);
    };
    await tidy(other);
    if (what === "drop") await fixture.workspaces.restore("task");
    expect(treeOf(fork.root)).toEqual({ "a.txt": "a\n" });
  });
});

describe("the leftovers of a dead process", () => {
  it("are removed: trees and snapshots without a record, half of a removal, claims", async () => {
    using fixture = new Fixture();
    const { fork } = await fixture.forked({ "a.txt": "a\n" });
    const { layout } = fixture.workspaces;
    mkdirSync(join(layout.trees, "stray-0123456789abcdef/tree"), { recursive: true });
    mkdirSync(join(layout.snapshots, "0123456789abcdef/tree"), { recursive: true });
    mkdirSync(join(layout.removing, "tree-x/tree/deep"), { recursive: true });
    writeFileSync(
      join(layout.claims, "tree-stray-0123456789abcdef"),
      '{"pid":4194000,"start":"1","world":"x"}',
    );
    utimesSync(join(layout.claims, "tree-stray-0123456789abcdef"), 1, 1);
    await tidy(fixture.workspaces);
    expect(readdirSync(layout.trees)).toEqual([fork.tree]);
    expect(readdirSync(layout.snapshots)).toEqual([fork.snapshot]);
    expect(readdirSync(layout.removing)).toEqual([]);
    expect(readdirSync(layout.claims)).toEqual([]);
  });

  it.runIf(canMount)(
    "a mounted fork is gone once it is collected, even if one of its files is being flushed",
    async () => {
      using fixture = new Fixture("overlay");
      const { fork } = await fixture.forked({ "a.txt": "a\n" });
      const flushed = openSync(join(fork.root, "a.txt"), "r");
      await fixture.workspaces.drop(fork);
      const collected = collect(fixture.workspaces, 0);
      await setTimeout(100);
      closeSync(flushed);
      await collected;
      expect(readdirSync(fixture.workspaces.layout.trees)).toEqual([]);
    },
  );

  it.runIf(canMount)("a mounted fork is mounted again after a reboot", async () => {
    using fixture = new Fixture("overlay");
    const { fork } = await fixture.forked({ "a.txt": "a\n" });
    fixture.files(fork.root, { "b.txt": "b\n" });
    execFileSync("umount", [fork.root]);
    expect(treeOf(fork.root)).toEqual({});
    const again = fixture.open();
    await Promise.all([again.ready(fork), again.ready(fork), fixture.workspaces.ready(fork)]);
    expect(treeOf(fork.root)).toEqual({ "a.txt": "a\n", "b.txt": "b\n" });
    execFileSync("umount", [fork.root]);
    expect(treeOf(fork.root)).toEqual({});
    await again.ready(fork);
  });
});

describe("a limit", () => {
  it("counts a workspace's own bytes and files, and no longer those that were deleted", async () => {
    using fixture = new Fixture();
    const base = fixture.files("base", { "large.txt": "x".repeat(50_000) });
    const workspaces = new Workspaces({
      directory: join(fixture.path, "all"),
      store: path => new DirectoryStore(path),
      limits: { maxBytes: 10_000, maxFiles: 3 },
    });
    await workspaces.adopt("main", base, "");
    const fork = await workspaces.fork("task", "main", "");
    using engine = openEngine({ roots: [], state: join(fixture.path, "state-2"), workspaces });
    using tree = workspaces.openTree(fork, engine.workspace, "read-write");
    const write = (path: string, size: number) =>
      tree.commit([{ kind: "write", path: tree.at(path), bytes: Buffer.alloc(size, 97) }]);
    await write("a.txt", 4000);
    await write("b.txt", 4000);
    await expect(write("c.txt", 4000)).rejects.toMatchObject({ code: "over_quota", data: { what: "bytes" } });
    await write("c.txt", 10);
    await expect(write("d.txt", 10)).rejects.toMatchObject({ code: "over_quota", data: { what: "files" } });
    await tree.commit([{ kind: "remove", path: tree.at("a.txt") }]);
    await workspaces.usage.measure(fork.tree ?? "");
    await write("d.txt", 10);
    expect(existsSync(join(fork.root, "large.txt"))).toBe(true);
    expect((await workspaces.described()).find(({ record }) => record.name === "task")?.size).toBeLessThan(
      10_000,
    );
  });
});

it("forks work after a claim could not be removed, and such a failure is reported as a disk error", async () => {
  using fixture = new Fixture("copy");
  await fixture.workspaces.adopt("main", fixture.files("base", { "a.txt": "a\n" }), "me");
  const failures: unknown[] = [];
  for (let failing = 1, failed = true; failed; failing++) {
    failed = false;
    let removals = 0;
    const onCall = (_: number, name: string, [path]: readonly unknown[]) => {
      if (name !== "unlink" || !String(path).startsWith(fixture.workspaces.layout.claims)) return;
      if (++removals !== failing) return;
      failed = true;
      throw errno("EIO", name);
    };
    const fork = () => fixture.workspaces.fork(`task-${failing}`, "main", "me");
    await watching(onCall, fork).catch(error => failures.push(error));
  }
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) expect(failure).toMatchObject({ code: "io", data: { errno: "EIO" } });
});
