// A process that was killed in the middle of a commit on a disk that is mounted again before the next process looks, as
// the file system of a container is: the machine has not been started again, and the device has another number.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "./bundle.ts";
import { errno } from "./failing.ts";
import { Fixture } from "./fixture.ts";
import { mountAgain } from "./reboot.ts";
import { scenarios } from "./scenarios.ts";

let worker: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  worker = await bundle("worker.ts");
});

afterAll(() => worker[Symbol.dispose]());

const index = scenarios.findIndex(({ name }) => name === "a patch over four files");

/** Killed in one of its system calls. Whether it was killed. */
function kill(fixture: Fixture, call: string): boolean {
  const { signal } = spawnSync(process.execPath, [worker.path, "scenario", fixture.base, `${index}:${call}`]);
  return signal === "SIGKILL";
}

function recover(fixture: Fixture): void {
  Workspace.open([{ path: fixture.inside, access: "read-write" }], { state: fixture.state })[
    Symbol.dispose
  ]();
}

it("what it left is completed or rolled back", () => {
  const found = new Set<string>();
  for (let call = 1; ; call += 9) {
    using fixture = new Fixture(scenarios[index]?.files);
    if (!kill(fixture, String(call))) break;
    mountAgain(fixture);
    recover(fixture);
    const tree = fixture.tree();
    const versions = new Set(Object.values(tree).map(text => text.slice(0, 3)));
    expect([call, Object.keys(tree), versions.size]).toEqual([call, ["f0", "f1", "f2", "f3"], 1]);
    for (const version of versions) found.add(version);
  }
  expect([...found].sort()).toEqual(["new", "old"]);
});

it("what it left stays where another disk is mounted in its place", () => {
  using fixture = new Fixture(scenarios[index]?.files);
  expect(kill(fixture, "4:rename")).toBe(true);
  const torn = fixture.tree();
  mountAgain(fixture, "another disk");
  recover(fixture);
  expect(fixture.tree()).toEqual(torn);
});

it("what cannot be completed yet keeps its locks", async () => {
  using fixture = new Fixture(scenarios[index]?.files);
  expect(kill(fixture, "4:rename")).toBe(true);
  const locks = () => readdirSync(join(fixture.state, "locks")).sort();
  const held = locks();
  expect(held).toHaveLength(4);
  mountAgain(fixture);
  const { rename } = sys;
  sys.rename = (from, to) => {
    if (/\/f\d$/.test(String(to))) throw errno("EIO", "rename");
    rename(from, to);
  };
  try {
    recover(fixture);
  } finally {
    sys.rename = rename;
  }
  expect(locks()).toEqual(held);
  const afterwards = () => {
    recover(fixture);
    return locks();
  };
  await expect.poll(afterwards, { timeout: 20_000 }).toEqual([]);
});
