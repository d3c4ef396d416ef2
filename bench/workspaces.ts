// What forks cost, beside `git worktree add` and `cp`: `node bench/run.mjs workspaces [--files N] [--in DIR]`. One tree of
// 20,000 files and 500 MB, three quarters of them ignored; everything in one run, medians, and processor
// time where that says more than the clock of a busy machine.
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { callEmbedded } from "../src/contract/embedded.ts";
import { polyfs } from "../src/dialects/polyfs/index.ts";
import { openEngine } from "../src/engine/engine.ts";
import { DirectoryStore } from "../src/engine/store/directory/directory-store.ts";
import type { CopyMethod } from "../src/engine/workspaces/record.ts";
import { Workspaces } from "../src/engine/workspaces/workspaces.ts";

const option = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : (process.argv[at + 1] ?? otherwise);
};
const files = Number(option("files", "20000"));
const place = mkdtempSync(join(option("in", tmpdir()), "polyfs-bench-workspaces-"));
const base = join(place, "base");
process.on("exit", () => {
  for (const name of ["all-machine", "all-link", "many"]) {
    const trees = join(place, name, "trees");
    for (const tree of listed(trees))
      spawnSync("umount", ["-l", join(trees, tree, "tree")], { stdio: "ignore" });
  }
  rmSync(place, { recursive: true, force: true });
});

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function makeTree(): void {
  const text = Array.from(
    { length: 420 },
    (_, i) => `const value${i} = compute(${i}, "some text that is read");`,
  ).join("\n");
  for (let i = 0; i < files; i++) {
    const ignored = i % 4 !== 0;
    const directory = join(base, ignored ? `node_modules/p${i % 1500}/lib` : `src/m${i % 250}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${i}.ts`), `// file ${i}\n${text}\n`);
  }
  writeFileSync(join(base, ".gitignore"), "node_modules/\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
      cwd: base,
      stdio: "ignore",
    });
  git("init");
  git("add", "-A");
  git("commit", "-m", "a");
}

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

async function timed(action: () => unknown): Promise<number> {
  const began = performance.now();
  await action();
  return performance.now() - began;
}

/** Of this process and those that it has waited for, in milliseconds. Other work on the machine does not count. */
function processorMs(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(fields[13]) + Number(fields[14]);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + ticks * 10;
}

async function rowWithProcessor(what: string, count: number, action: (i: number) => unknown): Promise<void> {
  const times: number[] = [];
  const before = processorMs();
  for (let i = 0; i < count; i++) times.push(await timed(() => action(i)));
  const each = (processorMs() - before) / count;
  row(what, ...times);
  console.log(`${`${what}: processor time`.padEnd(58)} ${each.toFixed(1).padStart(10)} ms`);
}

function row(what: string, ...times: number[]): void {
  const worst =
    times.length > 1 ? `   (${times.length} times, most ${Math.max(...times).toFixed(1)} ms)` : "";
  console.log(`${what.padEnd(58)} ${median(times).toFixed(1).padStart(10)} ms${worst}`);
}

const used = () => {
  const { blocks, bfree, bsize } = statfsSync(place);
  return (blocks - bfree) * bsize;
};

function open(name: string, method?: CopyMethod): Workspaces {
  return new Workspaces({ directory: join(place, name), store: path => new DirectoryStore(path), method });
}

makeTree();
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
console.log(`${files} files, ${execFileSync("du", ["-sm", base], { encoding: "utf8" }).split("\t")[0]} MB`);
row(
  "git worktree add (without ignored files)",
  await timed(() =>
    execFileSync("git", ["worktree", "add", join(place, "worktree")], { cwd: base, stdio: "ignore" }),
  ),
);
row("cp -a", await timed(() => execFileSync("cp", ["-a", base, join(place, "copied")])));
let isReflinked = false;
const reflink = await timed(() => {
  const args = ["-a", "--reflink=always", base, join(place, "reflinked")];
  isReflinked = spawnSync("cp", args, { stdio: "ignore" }).status === 0;
});
if (isReflinked) row("cp -a --reflink=always", reflink);
else console.log("cp -a --reflink=always: not on this file system");

for (const method of [undefined, "link"] as const) {
  const workspaces = open(method === undefined ? "all-machine" : "all-link", method);
  const name = (await workspaces.method()).method;
  await rowWithProcessor(`${name}: adopt, with the first snapshot`, 1, () =>
    workspaces.adopt("main", base, ""),
  );
  const before = used();
  const count = name === "overlay" ? 20 : 3;
  await rowWithProcessor(`${name}: fork`, count, i => workspaces.fork(`fork-${i}`, "main", ""));
  console.log(
    `${`${name}: disk per fork`.padEnd(58)} ${((used() - before) / count / 1024).toFixed(0).padStart(10)} KB (the whole file system's)`,
  );
  if (method === undefined) await further(workspaces);
}

async function further(workspaces: Workspaces): Promise<void> {
  global.gc?.();
  const memory = process.memoryUsage.rss();
  const all = await timed(() =>
    Promise.all(Array.from({ length: 100 }, (_, i) => workspaces.fork(`at-once-${i}`, "main", ""))),
  );
  row("100 forks at once: each", all / 100);
  console.log(
    `${"100 forks at once: memory of the process, each".padEnd(58)} ${((process.memoryUsage.rss() - memory) / 100 / 1024).toFixed(1).padStart(10)} KB`,
  );
  writeFileSync(join(base, "src/m0/new.ts"), "new\n");
  await rowWithProcessor("fork after the base changed: another snapshot", 1, () =>
    workspaces.fork("after", "main", ""),
  );
  await working(workspaces);
  const many = open("many");
  await many.create("main", undefined, "");
  for (let i = 0; i < 1000; i++) await many.fork(`w${i}`, "main", "");
  await rowWithProcessor("1,000 workspaces: list", 10, () => many.described());
  global.gc?.();
  const idle = process.memoryUsage();
  const held: Workspaces[] = [];
  held.push(open("many"));
  await held[0]?.list();
  global.gc?.();
  console.log(
    `${"1,000 workspaces: memory of a process that listed them, each".padEnd(58)} ${((process.memoryUsage().heapUsed - idle.heapUsed) / 1000 / 1024).toFixed(2).padStart(10)} KB`,
  );
}

/** The same calls in a fork and in a plain directory, by turns. */
async function working(workspaces: Workspaces): Promise<void> {
  const { root } = await workspaces.find("fork-0");
  const calls: { readonly [what: string]: (round: number) => readonly [string, object][] } = {
    "read 50 files": () =>
      Array.from(
        { length: 50 },
        (_, i) => ["read_file", { path: `src/m${(i * 4) % 250}/f${i * 4}.ts` }] as [string, object],
      ),
    "search 5,000 files": round => [
      ["search_text", { pattern: `nothing-like-this-${round}`, literal: true }],
    ],
    "edit 20 files": round =>
      Array.from(
        { length: 20 },
        (_, i) =>
          ["write_file", { path: `src/m${i}/edited.ts`, content: `${round}\n`.repeat(50) }] as [
            string,
            object,
          ],
      ),
  };
  using plain = openEngine({
    roots: [{ path: join(place, "copied"), access: "read-write" }],
    state: join(place, "state-plain"),
  });
  using fork = openEngine({
    roots: [{ path: root, access: "read-write" }],
    state: join(place, "state-fork"),
  });
  for (const [what, make] of Object.entries(calls)) {
    const times = { plain: [] as number[], fork: [] as number[] };
    const processor = { plain: 0, fork: 0 };
    for (let round = 0; round < 15; round++) {
      const engines = { plain, fork };
      for (const which of round % 2 === 0 ? (["plain", "fork"] as const) : (["fork", "plain"] as const)) {
        const before = processorMs();
        const time = await timed(async () => {
          for (const [tool, params] of make(round)) {
            const outcome = await callEmbedded(polyfs, tool, params, { engine: engines[which] });
            if ("error" in outcome || outcome.isError === true)
              throw new Error(`${tool} failed: ${JSON.stringify(params)}`);
          }
        });
        if (round <= 2) continue;
        times[which].push(time);
        processor[which] += processorMs() - before;
      }
    }
    row(`${what}: plain directory`, ...times.plain);
    const [clock, work] = [median(times.fork) / median(times.plain), processor.fork / processor.plain];
    row(`${what}: fork (${clock.toFixed(2)} x, processor time ${work.toFixed(2)} x)`, ...times.fork);
  }
}
process.exit();
