// The place that all servers of a user share, in a directory that every user can write to.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
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

it("the socket of a process that died is removed there, and that of one that lives is not", context => {
  if (!able) return context.skip("needs permission to mount");
  using fixture = new Fixture({ a: "old" });
  const sockets = `/dev/shm/polyfs-${process.getuid?.()}/alive`;
  const listen = (name: string) =>
    `${process.execPath} -e 'require("net").createServer().listen("${sockets}/${name}", () => console.log("here"))'`;
  const script = [
    shared,
    `mkdir -m 700 -p ${sockets} && chmod 700 ${sockets}/..`,
    ...["dead", "living"].map(
      name => `(${listen(name)} & echo $! > ${fixture.base}/${name}; wait) > ${fixture.base}/said &`,
    ),
    `until [ -S ${sockets}/dead ] && [ -S ${sockets}/living ]; do sleep 0.1; done`,
    `kill -9 $(cat ${fixture.base}/dead)`,
    `touch -d '2 hours ago' ${sockets}/dead ${sockets}/living`,
    // A process that ends at once may end before it has looked.
    `for i in $(seq 20); do ${process.execPath} ${worker.path} answered ${fixture.base} 1; [ -e ${sockets}/dead ] || break; done`,
    `ls ${sockets} > ${fixture.base}/left`,
    `kill -9 $(cat ${fixture.base}/living)`,
  ];
  spawnSync("unshare", ["-m", "bash", "-c", script.join("\n")], { encoding: "utf8" });
  expect(fixture.text("a")).toBe("new ");
  const left = readFileSync(join(fixture.base, "left"), "utf8").split("\n");
  expect(left).toContain("living");
  expect(left).not.toContain("dead");
});

it("a full place costs no descriptor and no socket, however many commits find it full", context => {
  if (!able) return context.skip("needs permission to mount");
  if (!existsSync("/proc/self/fd")) return context.skip("needs /proc to count descriptors");
  using fixture = new Fixture({ a: "old" });
  const small =
    "mount -t tmpfs -o mode=1777,size=64k tmpfs /dev/shm && (cat /dev/zero > /dev/shm/full; true)";
  const working = `${process.execPath} ${worker.path} descriptors ${fixture.base} 30`;
  const left = `ls /dev/shm/polyfs-${process.getuid?.()}/alive`;
  const { stdout } = spawnSync("unshare", ["-m", "sh", "-c", `${small}; ${working} && ${left}`], {
    encoding: "utf8",
  });
  expect(fixture.text("a")).toBe("30");
  const [more, ...sockets] = stdout.trimEnd().split("\n");
  expect(Number(more)).toBeLessThan(10);
  expect(sockets).toEqual([]);
});
