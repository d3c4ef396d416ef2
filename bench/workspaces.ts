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
import { rgPath } from "@vscode/ripgrep";
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

// A signal alone would leave the mounts.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

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

/** The mean of the middle half: processor time of other programs comes in steps of 10 ms. */
function middle(all: readonly number[]): number {
  const quarter = Math.floor(all.length / 4);
  const kept = [...all].sort((a, b) => a - b).slice(quarter, all.length - quarter);
  return kept.reduce((sum, one) => sum + one, 0) / kept.length;
}

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

const [machine, linked] = [open("all-machine"), open("all-link", "link")];
const ways = [machine, linked].map(async workspaces => ({
  workspaces,
  name: (await workspaces.method()).method,
}));
for (const { workspaces, name } of await Promise.all(ways)) {
  await rowWithProcessor(`${name}: adopt, with the first snapshot`, 1, () =>
    workspaces.adopt("main", base, ""),
  );
  await workspaces.fork("first", "main", ""); // code that runs for the first time is slow
  const before = used();
  const count = name === "link" ? 5 : 20;
  await rowWithProcessor(`${name}: fork`, count, i => workspaces.fork(`fork-${i}`, "main", ""));
  console.log(
    `${`${name}: disk per fork`.padEnd(58)} ${((used() - before) / count / 1024).toFixed(0).padStart(10)} KB (the whole file system's)`,
  );
}
await atOnce(machine);
await working(machine);
writeFileSync(join(base, "src/m0/new.ts"), "new\n");
await rowWithProcessor("fork after the base changed: another snapshot", 1, () =>
  machine.fork("after", "main", ""),
);
await thousand();

/** What one of many forks costs: the same, however many there are. */
async function atOnce(workspaces: Workspaces): Promise<void> {
  for (const count of [10, 25, 50, 100]) {
    global.gc?.();
    const memory = process.memoryUsage().heapUsed;
    const names = Array.from({ length: count }, (_, i) => `at-once-${count}-${i}`);
    const all = await timed(() => Promise.all(names.map(name => workspaces.fork(name, "main", ""))));
    global.gc?.();
    const each = (process.memoryUsage().heapUsed - memory) / count / 1024;
    row(`${count} forks at once: each (${each.toFixed(1)} KB of memory)`, all / count);
  }
}

async function thousand(): Promise<void> {
  const many = open("many");
  await many.create("main", undefined, "");
  const times: number[] = [];
  for (let i = 0; i < 1000; i++) times.push(await timed(() => many.fork(`w${i}`, "main", "")));
  row("1,000 forks of an empty tree: the first 100", ...times.slice(0, 100));
  row("1,000 forks of an empty tree: the last 100", ...times.slice(-100));
  await rowWithProcessor("1,000 workspaces: list", 20, () => many.described());
  global.gc?.();
  const before = process.memoryUsage().heapUsed;
  const other = open("many");
  const listed = await other.list();
  global.gc?.();
  const each = (process.memoryUsage().heapUsed - before) / listed.length / 1024;
  console.log(
    `${"1,000 workspaces: memory of a process that listed them, each".padEnd(58)} ${each.toFixed(2).padStart(10)} KB`,
  );
}

type Call = readonly [tool: string, params: object];

/** The same calls in a fork and in a plain directory, by turns. */
async function working(workspaces: Workspaces): Promise<void> {
  const roots = { plain: join(place, "copied"), fork: (await workspaces.find("fork-0")).root };
  using plain = openEngine({
    roots: [{ path: roots.plain, access: "read-write" }],
    state: join(place, "state-plain"),
  });
  using fork = openEngine({
    roots: [{ path: roots.fork, access: "read-write" }],
    state: join(place, "state-fork"),
  });
  const engines = { plain, fork };
  const call = async (which: Place, [tool, params]: Call) => {
    const outcome = await callEmbedded(polyfs, tool, params, { engine: engines[which] });
    if ("error" in outcome || outcome.isError === true)
      throw new Error(`${tool} failed: ${JSON.stringify(params)}`);
  };
  const inTurn = (make: (round: number) => readonly Call[]) => async (which: Place, round: number) => {
    for (const one of make(round)) await call(which, one);
  };
  const fileOf = (i: number) => `src/m${((i * 4) % files) % 250}/f${(i * 4) % files}.ts`;
  const reads = (round: number) =>
    Array.from({ length: 50 }, (_, i): Call => ["read_file", { path: fileOf(round * 50 + i) }]);
  const twenty = (make: (i: number) => Call) => Array.from({ length: 20 }, (_, i) => make(i));
  const edit = (file: number, round: number): Call => [
    "edit_file",
    { path: fileOf(file), edits: [{ start_line: 2, new: `const round = ${round};` }] },
  ];
  const compared = (what: string, rounds: number, action: (which: Place, round: number) => unknown) =>
    compare(what, rounds, action, which => engines[which].workspace.settled());
  await compared("read 50 files", 150, inTurn(reads));
  await compared("read 50 files at once", 150, (which, round) =>
    Promise.all(reads(round).map(one => call(which, one))),
  );
  await compared(
    `search ${files / 4} files`,
    30,
    inTurn(round => [["search_text", { pattern: `nothing-like-this-${round}`, literal: true }]]),
  );
  await compared(`search ${files / 4} files with ripgrep alone`, 30, (which, round) =>
    spawnSync(rgPath, ["-F", `nothing-like-this-${round}`, "."], { cwd: roots[which], stdio: "ignore" }),
  );
  const content = (round: number) => `${round}\n`.repeat(50);
  await compared(
    "write 20 new files",
    50,
    inTurn(round =>
      twenty(i => ["write_file", { path: `src/m${i}/new-${round}.ts`, content: content(round) }]),
    ),
  );
  await compared(
    "edit 20 files for the first time",
    50,
    inTurn(round => twenty(i => edit(round * 20 + i, round))),
  );
  await compared(
    "edit 20 files again",
    50,
    inTurn(round => twenty(i => edit(i, 1000 + round))),
  );
}

type Place = "plain" | "fork";

/**
 * The first fifth of the rounds is not counted: code that runs for the first time is slow. What follows an answer counts as
 * processor time, and is over before the other one's turn.
 */
async function compare(
  what: string,
  rounds: number,
  action: (which: Place, round: number) => unknown,
  settled: (which: Place) => Promise<void>,
): Promise<void> {
  const times = { plain: [] as number[], fork: [] as number[] };
  const processor = { plain: [] as number[], fork: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 === 0 ? (["plain", "fork"] as const) : (["fork", "plain"] as const)) {
      const before = processorMs();
      const time = await timed(() => action(which, round));
      await settled(which);
      if (round < rounds / 5) continue;
      times[which].push(time);
      processor[which].push(processorMs() - before);
    }
  }
  row(`${what}: plain directory`, ...times.plain);
  const clock = median(times.fork) / median(times.plain);
  const work = middle(processor.fork) / middle(processor.plain);
  row(`${what}: fork (${clock.toFixed(2)} x, processor time ${work.toFixed(2)} x)`, ...times.fork);
}
process.exit();
