// A process that died while it worked on a disk that is away when the next one starts, or that has another disk in its
// place: what it left waits for its own disk.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { topOf } from "../../src/engine/workspace/disk/disk-top.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "./bundle.ts";
import { errno } from "./failing.ts";
import { Fixture } from "./fixture.ts";
import { LoopDisk, mayMount } from "./loop-disk.ts";
import { reboot } from "./reboot.ts";
import { scenarios } from "./scenarios.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const index = scenarios.findIndex(({ name }) => name === "a patch over four files");
const files = scenarios[index]?.files ?? {};
const whole = Object.fromEntries(Object.keys(files).map(name => [name, `new ${name}`]));

const run = (fixture: Fixture, task: string, given: string) =>
  spawnSync(process.execPath, [worker.path, task, fixture.base, given]).signal;

describe.skipIf(!mayMount())("a disk that is away (needs permission to mount loop devices)", () => {
  let fixture: Fixture;
  let disk: LoopDisk;

  beforeEach(() => {
    fixture = new Fixture();
  });
  afterEach(() => {
    disk[Symbol.dispose]();
    fixture[Symbol.dispose]();
  });

  /** Mounts it in the fixture, with these files. */
  function plug(at: string, held: Record<string, string> = {}): void {
    disk = new LoopDisk(join(fixture.base, "image"), join(fixture.inside, at));
    rmSync(join(fixture.inside, at, "lost+found"), { recursive: true });
    for (const [path, text] of Object.entries(held)) fixture.put(join(at, path), text);
  }

  function open(): Workspace {
    return Workspace.open([{ path: fixture.inside, access: "read-write" }], { state: fixture.state });
  }

  it("half a patch is completed when the disk is back", () => {
    plug(".", files);
    expect(run(fixture, "scenario", `${index}:4:rename`)).toBe("SIGKILL");
    const torn = fixture.tree();
    disk.unmount();
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({});
    disk.mount();
    expect(fixture.tree()).toEqual(torn);
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual(whole);
  });

  it("a process whose root is below the mount does not try to recover at each look", async () => {
    plug(".", files);
    expect(run(fixture, "scenario", `${index}:4:rename`)).toBe("SIGKILL");
    disk.unmount();
    using workspace = open();
    disk.mount();
    const look = async () => {
      await setTimeout(10);
      workspace.lstat(workspace.at("."));
      return statSync(join(fixture.state, "processes"), { bigint: true }).ctimeNs;
    };
    await look();
    const before = await look();
    for (let i = 0; i < 5; i++) expect(await look()).toBe(before);
  });

  it("what was answered before a power cut is restored by a process that serves what is above, before it reads", () => {
    plug("disk");
    expect(run(fixture, "writesAll", "disk/x")).toBe("SIGKILL");
    rmSync(join(fixture.inside, "disk/x"));
    disk.unmount();
    reboot(fixture);
    using workspace = open();
    expect(readdirSync(join(fixture.state, "locks"))).toEqual([]);
    disk.mount();
    expect(fixture.tree()).toEqual({ "disk/": "/" });
    expect(workspace.lstat(workspace.at("disk/x")).kind).toBe("file");
    expect(fixture.text("disk/x")).toBe("disk/x");
  });

  it("what was answered before a power cut is restored when the disk is back", () => {
    plug("disk");
    expect(run(fixture, "writesAll", "disk/x,disk/d/y,z")).toBe("SIGKILL");
    for (const name of ["disk/x", "disk/d", "z"]) rmSync(join(fixture.inside, name), { recursive: true });
    disk.unmount();
    reboot(fixture);
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({ "disk/": "/", z: "z" });
    disk.mount();
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({
      "disk/": "/",
      "disk/d/": "/",
      "disk/d/y": "disk/d/y",
      "disk/x": "disk/x",
      z: "z",
    });
    expect(readdirSync(join(fixture.state, "processes"))).toHaveLength(1); // that of this process
  });

  it("nothing is written to another disk in its place, and the own one gets what is its own", () => {
    plug("disk");
    expect(run(fixture, "writesAll", "disk/x")).toBe("SIGKILL");
    rmSync(join(fixture.inside, "disk/x"));
    disk.unmount();
    reboot(fixture);
    using other = new LoopDisk(join(fixture.base, "other"), join(fixture.inside, "disk"), 1_700_000_000);
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({ "disk/": "/", "disk/lost+found/": "/" });
    other.unmount();
    disk.mount();
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({ "disk/": "/", "disk/x": "disk/x" });
  });

  // The other disk gets the device number of the first one, because that is free again.
  const names = ["disk/d/f0", "disk/d/f1", "disk/d/f2", "disk/d/f3"];
  for (const [what, there] of [
    ["nothing on it", []],
    ["the same names on it", names],
  ] as const)
    it(`half a patch waits while another disk, with ${what}, is in the place of its disk`, () => {
      using other = new LoopDisk(join(fixture.base, "other"), join(fixture.inside, "disk"), 1_700_000_000);
      rmSync(join(fixture.inside, "disk/lost+found"), { recursive: true });
      for (const name of there) fixture.put(name, "other");
      const before = fixture.tree();
      other.unmount();
      plug("disk");
      for (const name of names) fixture.put(name, "old");
      expect(run(fixture, "patch", names.join())).toBe("SIGKILL");
      disk.unmount();
      expect(other.mount()).toBe(true);
      open()[Symbol.dispose]();
      expect(fixture.tree()).toEqual(before);
      other.unmount();
      disk.mount();
      open()[Symbol.dispose]();
      expect(fixture.tree()).toEqual({
        "disk/": "/",
        "disk/d/": "/",
        ...Object.fromEntries(names.map(name => [name, "new"])),
      });
    });

  it("a directory that was removed from a disk that is there is not waited for", () => {
    plug("disk");
    mkdirSync(join(fixture.inside, "disk/d"));
    expect(run(fixture, "writesAll", "disk/d/x,disk/y")).toBe("SIGKILL");
    rmSync(join(fixture.inside, "disk/d"), { recursive: true });
    rmSync(join(fixture.inside, "disk/y"));
    reboot(fixture);
    open()[Symbol.dispose]();
    expect(fixture.tree()).toEqual({ "disk/": "/", "disk/y": "disk/y" });
    expect(readdirSync(join(fixture.state, "processes"))).toHaveLength(1); // that of this process
  });
});

it("that the machine was off for a month does not count as attempts to recover", () => {
  using fixture = new Fixture();
  expect(run(fixture, "writesAll", "x")).toBe("SIGKILL");
  rmSync(join(fixture.inside, "x"));
  reboot(fixture);
  const [dead = ""] = readdirSync(join(fixture.state, "processes"));
  const monthAgo = new Date(Date.now() - 31 * 24 * 3_600_000);
  utimesSync(join(fixture.state, "processes", dead, "owner"), monthAgo, monthAgo);
  const { open } = sys;
  sys.open = (address, ...rest) => {
    if (/\.tmp$/.test(String(address))) throw errno("ENOSPC", "open");
    return open(address, ...rest);
  };
  try {
    fixture.workspace.at("x");
  } finally {
    sys.open = open;
  }
  expect(existsSync(join(fixture.inside, "x"))).toBe(false);
  fixture.reopen();
  fixture.workspace.at("x");
  expect(fixture.text("x")).toBe("x");
});

it("that the clock was wrong when recovery was left to later attempts does not count either", () => {
  using fixture = new Fixture();
  expect(run(fixture, "writesAll", "x")).toBe("SIGKILL");
  rmSync(join(fixture.inside, "x"));
  reboot(fixture);
  const { open } = sys;
  sys.open = (address, ...rest) => {
    if (/\.tmp$/.test(String(address))) throw errno("ENOSPC", "open");
    return open(address, ...rest);
  };
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      fixture.workspace.at("x");
      fixture.reopen();
      const processes = join(fixture.state, "processes");
      const marks = readdirSync(processes).map(id => join(processes, id, "left"));
      expect(marks.filter(existsSync)).toHaveLength(1);
      for (const mark of marks.filter(existsSync)) utimesSync(mark, 1, 1);
    }
  } finally {
    sys.open = open;
  }
  fixture.workspace.at("x");
  expect(fixture.text("x")).toBe("x");
});

it.skipIf(!existsSync("/dev/shm"))("a file system in memory is not waited for: it does not come back", () => {
  expect(topOf("/dev/shm", statSync("/dev/shm").dev)).toBeUndefined();
});
