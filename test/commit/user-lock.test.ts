// The place that all servers of a user share, in a directory that every user can write to.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";

let worker: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  worker = await bundle("worker.ts");
});

afterAll(() => worker[Symbol.dispose]());

const user = 4321;
/** A place in memory without the sticky bit, where the kernel follows the links of other users. */
const shared = "mount -t tmpfs -o mode=0777 tmpfs /dev/shm";
const able = spawnSync("unshare", ["-m", "sh", "-c", shared]).status === 0;

it("a link that another user planted there is not followed: nothing is deleted or written behind it", context => {
  if (!able) return context.skip("needs permission to mount");
  using fixture = new Fixture({ a: "old" });
  const precious = join(fixture.base, "precious");
  mkdirSync(precious);
  for (const name of ["letters", "photos"]) writeFileSync(join(precious, name), name);
  for (const path of [
    fixture.base,
    fixture.inside,
    precious,
    ...readdirSync(precious).map(name => join(precious, name)),
  ])
    chownSync(path, user, user);
  chownSync(join(fixture.inside, "a"), user, user);
  chmodSync(join(worker.path, ".."), 0o755);
  const planting = `ln -s ${precious} /dev/shm/polyfs-${user}`;
  const working = `setpriv --reuid ${user} --regid ${user} --clear-groups ${process.execPath} ${worker.path} answered ${fixture.base} 1`;
  spawnSync("unshare", ["-m", "sh", "-c", `${shared} && ${planting} && ${working}`], { encoding: "utf8" });
  expect(fixture.text("a")).toBe("new ");
  expect(readdirSync(precious).sort()).toEqual(["letters", "photos"]);
});
