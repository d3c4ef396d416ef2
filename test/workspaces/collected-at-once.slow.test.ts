// Several processes tidy one directory of workspaces at the same time: each server does, and each `polyfs workspace`.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { nextTurn } from "../../src/engine/turn.ts";
import { collect, tidy } from "../../src/engine/workspaces/collect.ts";
import type { CopyMethod } from "../../src/engine/workspaces/record.ts";
import { Fixture } from "./fixture.ts";

const content = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i % 20}/e/f${i}`, `${i}\n`]));

function expectNothingLeft({ workspaces: { layout } }: Fixture): void {
  expect(readdirSync(layout.trees)).toEqual([]);
  expect(readdirSync(layout.removing)).toEqual([]);
  if (process.platform === "linux")
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(layout.path);
}

it.each([undefined, "link"] as const)(
  "collections by several processes do not disturb each other (%s)",
  async method => {
    using fixture = new Fixture(method);
    await fixture.workspaces.adopt("main", fixture.files("base", content), "");
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++)
        await fixture.workspaces.drop(await fixture.workspaces.fork(`fork-${i}`, "main", ""));
      await Promise.all(Array.from({ length: 4 }, () => collect(fixture.open(method), 0)));
      expectNothingLeft(fixture);
    }
  },
);

it("a fork that is opened while it is removed is reported as gone, and not mounted again", async () => {
  using fixture = new Fixture();
  await fixture.workspaces.adopt("main", fixture.files("base", content), "");
  for (let round = 0; round < 5; round++) {
    const record = await fixture.workspaces.fork("fork", "main", "");
    await fixture.workspaces.drop(record);
    let isOver = false;
    const removed = collect(fixture.workspaces, 0).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await fixture.open().ready(record).catch(unlessGone);
      await nextTurn();
    }
    await removed;
    await tidy(fixture.workspaces);
    expectNothingLeft(fixture);
  }
});

function unlessGone(error: unknown): void {
  if (!Fault.is(error, "base_gone")) throw error;
}

it("a tree that was mounted after it was moved away is removed", async context => {
  using fixture = new Fixture();
  const { method }: { method: CopyMethod } = await fixture.workspaces.method();
  if (method !== "overlay") return context.skip("needs permission to mount");
  const place = join(fixture.workspaces.layout.removing, "tree-late-0123456789abcdef");
  for (const name of ["lower", "upper", "work", "tree"]) mkdirSync(join(place, name), { recursive: true });
  const layers = "lowerdir=lower,upperdir=upper,workdir=work";
  execFileSync("mount", ["-n", "-t", "overlay", "polyfs", "-o", layers, "tree"], { cwd: place });
  await tidy(fixture.workspaces);
  expectNothingLeft(fixture);
});
