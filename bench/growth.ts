// How the cost of a call grows: with the files in the tree, the size of a file, the changes made, the callers of one
// file, and the clients over HTTP. `npm run bench -- --growth [--part tree,file,history,callers,clients] [--largest N]
// [--history N] [--file BYTES] [--clients N] [--peers] [--rounds N] [--json FILE]`. Each part has a table of times by the clock, one
// of processor times (programs that were started included) and one of the most memory that the server held during the
// call. Each row has the median for each size and the exponent of the curve: 0 is flat, 1 is linear. ripgrep and git are
// measured in the same rounds, and after them two rivals with --peers. The file is written after each size, and a run that finds one measures only
// what it lacks: parts can be measured one by one, and an aborted run can go on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { rivals } from "./adapters/rivals.ts";
import { Client } from "./client.ts";
import { HttpService, quantile } from "./http-service.ts";
import { callsFor, type Job } from "./jobs.ts";
import { makeHistory } from "./long-history.ts";
import { median, processorTime, processorTimeOfChildren } from "./processor-time.ts";
import { type Curves, curves, type GrowthRun, machine, measuredOn } from "./report/growth.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const text = (name: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const option = (name: string, otherwise: number) => Number(text(name) ?? otherwise);
const upTo = (most: number, ...sizes: readonly number[]) => sizes.filter(size => size <= most);
const rounds = option("rounds", 5);
const peers = process.argv.includes("--peers");
const place = mkdtempSync(join(tmpdir(), "polyfs-bench-growth-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const file = text("json");
const run: GrowthRun =
  file !== undefined && existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : { growth: [], date: measuredOn(), machine: machine(), rounds };
if (run.rounds !== rounds) throw new Error(`${file} has other rounds`);

/** What an action took. */
interface Cost {
  readonly ms: number;
  readonly processor: number;
  /** The most that the server held during it, in MB. */
  readonly memory?: number;
}

/** Of each row, at one size. */
type Samples<T> = Map<string, T[]>;

function note<T>(samples: Samples<T>, row: string, value: T): void {
  samples.set(row, [...(samples.get(row) ?? []), value]);
}

/** The sizes of a part that are not in the file yet. */
function missing(title: string, sizes: readonly number[]): (size: number) => boolean {
  const known = run.growth.find(part => part.title === title)?.sizes ?? [];
  const wanted = new Set(sizes.filter(size => !known.includes(size)));
  if (wanted.size > 0) console.error(`${title}: ${[...wanted].join(", ")}`);
  return size => wanted.has(size);
}

/** Adds what calls took at one size to the three tables of a part. */
function keepCosts(
  title: string,
  size: number,
  samples: Samples<Cost>,
  unit: Curves["unit"] = "number",
): void {
  const only = (value: (cost: Cost) => number | undefined): Samples<number> =>
    new Map([...samples].map(([row, costs]) => [row, costs.flatMap(cost => value(cost) ?? [])]));
  keep(
    title,
    size,
    only(cost => cost.ms),
    unit,
  );
  keep(
    `${title}: processor time`,
    size,
    only(cost => cost.processor),
    unit,
  );
  keep(
    `${title}: MB`,
    size,
    only(cost => cost.memory),
    unit,
  );
  console.error(`  ${size}: after ${Math.round(performance.now() / 1000)} s`);
}

/** Adds the medians at one size to a table. */
function keep(title: string, size: number, samples: Samples<number>, unit: Curves["unit"] = "number"): void {
  const earlier = run.growth.find(part => part.title === title);
  const part = earlier ?? { title, unit, sizes: [], rows: {} };
  if (earlier === undefined) run.growth.push(part);
  part.sizes.push(size);
  for (const [row, all] of samples) {
    if (all.length === 0) continue;
    const values = part.rows[row] ?? [];
    part.rows[row] = values;
    values[part.sizes.length - 1] = median(all);
  }
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(run, undefined, 1)}\n`);
}

/** What `action` takes, of a server or of the programs that it runs. */
async function measured(action: () => Promise<unknown>, client?: Client): Promise<Cost> {
  const spent = () =>
    client === undefined
      ? processorTimeOfChildren("self")
      : processorTime(client.pid) + processorTimeOfChildren(client.pid);
  client?.forgetMostMemory();
  const before = spent();
  const began = performance.now();
  await action();
  const ms = performance.now() - began;
  return { ms, processor: spent() - before, memory: client?.memory()?.most };
}

/** A process of another program, from its start to its end. */
function outside(command: string, args: readonly string[], cwd: string): Promise<Cost> {
  return measured(
    () =>
      new Promise<void>((resolve, reject) => {
        const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
        child.stdout.resume();
        child.on("error", reject);
        child.on("close", () => resolve());
      }),
  );
}

const server = (root: string, state = mkdtempSync(join(place, "state-"))) =>
  new Client({ command: process.execPath, args: [program, "--state-dir", state, root], patienceMs: 600_000 });

/** Calls a tool. An answer that is an error would be measured as if it were quick. */
async function call(client: Client, tool: string, args: object): Promise<string> {
  const { text, failed } = await client.call({ tool, arguments: args as Record<string, unknown> });
  if (failed) throw new Error(`${tool}: ${text}`);
  return text;
}

/** How often a call is repeated by the same client: the first ones run while their code is still being compiled. */
const again = 5;
const repeated = (row: string, job: Job) => Array.from({ length: again }, () => [row, job] as const);

const others = peers
  ? rivals(["@modelcontextprotocol/server-filesystem", "desktop-commander"]).map(adapter => ({
      adapter,
      tooSlow: new Set<string>(),
    }))
  : [];

/** What a rival takes for the jobs that it can do. Beyond the size at which it needed more than a minute, it is not asked again. */
async function askRival(
  { adapter, tooSlow }: (typeof others)[number],
  root: string,
  jobs: readonly (readonly [string, Job])[],
  samples: Samples<Cost>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const state = mkdtempSync(join(place, "state-"));
    const command = await adapter.command({ root, state });
    const client = new Client({ ...command, patienceMs: 60_000 });
    await client.start();
    for (const [name, job] of jobs) {
      const row = `${adapter.name.replace(/.*[/]/, "")}: ${name}`;
      const calls = callsFor(adapter.calls, job);
      if (calls === undefined || tooSlow.has(row)) continue;
      try {
        const cost = await measured(async () => {
          for (const { failed, text } of await Promise.all(calls.map(each => client.call(each))))
            if (failed) throw new Error(text.slice(0, 200));
        }, client);
        note(samples, row, cost);
      } catch (error) {
        console.error(`  ${row}: ${error}`);
        tooSlow.add(row);
        break; // What it did not finish goes on.
      }
    }
    client.kill();
  }
}

/**
 * Adds the files from number `from` to `to`, and commits them. `git add` takes minutes for a million files and a file for
 * each object; an import writes one pack in seconds.
 */
async function addCommitted(root: string, from: number, to: number): Promise<void> {
  mkdirSync(root, { recursive: true });
  await outside("git", ["init", "-q", "-b", "main"], root);
  const git = spawn("git", ["fast-import", "--quiet"], { cwd: root, stdio: ["pipe", "ignore", "inherit"] });
  const ended = once(git, "close");
  git.stdin.write("commit refs/heads/main\ncommitter bench <bench@localhost> 0 +0000\ndata 0\n");
  if (from > 0) git.stdin.write("from refs/heads/main^0\n");
  for (let made = from; made < to; made++) {
    const directory = `part${made % 100}/group${Math.floor(made / 100) % 200}`;
    if (made < 20_000) mkdirSync(join(root, directory), { recursive: true });
    const rare = made % 997 === 0 ? "the needle in the haystack\n" : "";
    const path = `${directory}/file${made}.${made < 100 && made % 10 === 7 ? "special" : "ts"}`;
    const content = `export const value = compute(${made});\n${rare}`;
    writeFileSync(join(root, path), content);
    if (!git.stdin.write(`M 100644 inline ${path}\ndata ${content.length}\n${content}\n`))
      await once(git.stdin, "drain");
  }
  git.stdin.end();
  const [status] = await ended;
  if (status !== 0) throw new Error(`git fast-import ended with ${status}`);
  await outside("git", ["reset", "-q"], root);
}

async function growTree(): Promise<void> {
  const title = "Files in the tree";
  const sizes = upTo(option("largest", 100_000), 1000, 10_000, 100_000, 300_000, 1_000_000);
  const isMissing = missing(title, sizes);
  const root = join(place, "tree");
  let made = 0;
  for (const size of sizes.filter(isMissing)) {
    const samples: Samples<Cost> = new Map();
    await addCommitted(root, made, size);
    made = size;
    const find = { path: root, ending: "7.special" };
    const search = { path: root, pattern: "needle in the haystack" };
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, cost: Cost) => note(samples, row, cost);
      const client = server(root);
      add("start to `tools/list`", await measured(() => client.start(), client));
      const path = "part1/group0/file1.ts";
      const finds = () => call(client, "find_files", { pattern: `**/*${find.ending}` });
      const searches = () => call(client, "search_text", { pattern: search.pattern, literal: true });
      add("`find_files`, first", await measured(finds, client));
      for (let n = 0; n < again; n++) add("the same, repeated", await measured(finds, client));
      add("`search_text`, rare word, first", await measured(searches, client));
      for (let n = 0; n < again; n++) add("the same word again", await measured(searches, client));
      add(
        "`list_directory`",
        await measured(() => call(client, "list_directory", { path: "part1" }), client),
      );
      add("`read_file`", await measured(() => call(client, "read_file", { path }), client));
      const edit = { path, edits: [{ insert_after: 0, new: `// ${round}\n` }] };
      add("`edit_file`", await measured(() => call(client, "edit_file", edit), client));
      add("`list_changes`", await measured(() => call(client, "list_changes", {}), client));
      add("`undo`", await measured(() => call(client, "undo", {}), client));
      await client.close();
      add(
        "`rg --files -g`",
        await outside(rgPath, ["--no-config", "--files", "-g", `*${find.ending}`], root),
      );
      add("`rg`, rare word", await outside(rgPath, ["--no-config", "-nF", search.pattern], root));
      add("`git status`", await outside("git", ["status", "--porcelain"], root));
    }
    const jobs: readonly (readonly [string, Job])[] = [
      ["files by their ending, first", { kind: "glob", what: find }],
      ...repeated("the same, repeated", { kind: "glob", what: find }),
      ["rare word, first", { kind: "search", what: search }],
      ...repeated("the same word again", { kind: "search", what: search }),
      ["list of a directory", { kind: "list", what: { path: join(root, "part1") } }],
      ["read", { kind: "read", what: { path: join(root, "part1/group0/file1.ts"), bytes: 1000 } }],
    ];
    for (const rival of others) await askRival(rival, root, jobs, samples);
    keepCosts(title, size, samples);
  }
  rmSync(root, { recursive: true, force: true });
}

async function growFile(): Promise<void> {
  const kb = 1024;
  const sizes = upTo(option("file", 1024 ** 3), kb, 100 * kb, 10 * kb ** 2, kb ** 3, 10 * kb ** 3);
  const title = "Size of a file";
  const isMissing = missing(title, sizes);
  const root = join(place, "file");
  mkdirSync(root);
  const line = `${"a line of text that is sixty-three characters long, as it is..".padEnd(63)}\n`;
  const block = line.repeat(16 * 1024); // 1 MB
  for (const size of sizes.filter(isMissing)) {
    const samples: Samples<Cost> = new Map();
    const path = join(root, "big.txt");
    const fd = openSync(path, "w");
    for (let left = size; left > 0; left -= block.length) writeSync(fd, block.slice(0, left));
    closeSync(fd);
    const lines = Math.floor(size / 64);
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, cost: Cost) => note(samples, row, cost);
      await setTimeout(3000); // what was written a moment ago may change again without showing it, and is read again
      const client = server(root);
      await client.start();
      const read = (args: object) =>
        measured(() => call(client, "read_file", { path: "big.txt", limit: 10, ...args }), client);
      add("first 10 lines", await read({}));
      add("10 lines in the middle, first", await read({ offset: Math.max(1, lines >> 1) }));
      add("the same, repeated", await read({ offset: Math.max(1, lines >> 1) }));
      add("last 10 lines", await read({ offset: -10 }));
      const search = { pattern: "nowhere to be found", literal: true };
      add("`search_text`, no hit", await measured(() => call(client, "search_text", search), client));
      if (size <= 10 * kb ** 2) {
        const edit = { path: "big.txt", edits: [{ insert_after: 1, new: `${round}\n` }] };
        add("`edit_file`", await measured(() => call(client, "edit_file", edit), client));
        add("`undo`", await measured(() => call(client, "undo", {}), client));
      }
      await client.close();
      add("`rg`, no hit", await outside(rgPath, ["--no-config", "-nF", "nowhere to be found"], root));
    }
    truncateSync(path, 0);
    keepCosts(title, size, samples, "bytes");
  }
}

/** Beyond that, the changes are recorded without calls, but for the last ones. */
const mostByCalls = 10_000;
const lastByCalls = 1000;

async function growHistory(): Promise<void> {
  const title = "Changes that were made (the history keeps 10,000)";
  const sizes = upTo(option("history", 1000), 10, 100, 1000, 10_000, 100_000, 1_000_000);
  const isMissing = missing(title, sizes);
  const root = join(place, "history");
  const state = mkdtempSync(join(place, "state-"));
  mkdirSync(root);
  let made = 0;
  const write = (client: Client, path: string, content: string) =>
    call(client, "write_file", { path, content, mode: "overwrite" });
  for (const size of sizes.filter(isMissing)) {
    const samples: Samples<Cost> = new Map();
    const together = 16;
    if (size - made > mostByCalls) {
      await makeHistory(state, root, together, made, size - lastByCalls);
      made = size - lastByCalls;
    }
    const writer = server(root, state);
    await writer.start();
    while (made < size) {
      const next = Math.min(together, size - made);
      await Promise.all(Array.from({ length: next }, (_, i) => write(writer, `f${i}.txt`, `${made + i}\n`)));
      made += next;
    }
    await writer.close();
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, cost: Cost) => note(samples, row, cost);
      const client = server(root, state);
      add("start to `tools/list`", await measured(() => client.start(), client));
      add("`list_changes`, first page", await measured(() => call(client, "list_changes", {}), client));
      add("`write_file`", await measured(() => write(client, "g.txt", `${round}`), client));
      add("`undo`", await measured(() => call(client, "undo", {}), client));
      made += 2;
      await client.close();
    }
    keepCosts(title, size, samples);
    keep(`${title}: KB on disk`, size, new Map([["state directory", [diskKilobytes(state)]]]));
  }
}

function diskKilobytes(directory: string): number {
  const blocks = readdirSync(directory, { recursive: true, encoding: "utf8" }).map(
    name => statSync(join(directory, name), { throwIfNoEntry: false })?.blocks ?? 0,
  );
  return blocks.reduce((sum, each) => sum + each, 0) / 2;
}

async function growCallers(): Promise<void> {
  const title = "Callers at the same time";
  const sizes = [1, 4, 16, 64];
  const isMissing = missing(title, sizes);
  const root = join(place, "callers");
  mkdirSync(root);
  for (const callers of sizes.filter(isMissing)) {
    const samples: Samples<Cost> = new Map();
    const client = server(root);
    await client.start();
    for (let round = 0; round < rounds; round++) {
      const text = Array.from({ length: callers }, (_, i) => `line ${i}: 0;\n`).join("");
      writeFileSync(join(root, "shared.txt"), text);
      const together = (edit: (i: number) => object) =>
        measured(
          () => Promise.all(Array.from({ length: callers }, (_, i) => call(client, "edit_file", edit(i)))),
          client,
        );
      const edits = (i: number) => [{ old: `line ${i}: 0;`, new: `line ${i}: 1;` }];
      const shared = await together(i => ({ path: "shared.txt", edits: edits(i) }));
      note(samples, "edits of one file at the same time, until all are answered", shared);
      for (let i = 0; i < callers; i++) writeFileSync(join(root, `own${i}.txt`), text);
      const own = await together(i => ({ path: `own${i}.txt`, edits: edits(i) }));
      note(samples, "edits of as many files, until all are answered", own);
    }
    await client.close();
    keepCosts(title, callers, samples);
  }
}

async function growClients(): Promise<void> {
  const title = "Clients over HTTP";
  const sizes = upTo(option("clients", 1000), 1, 10, 100, 1000);
  const isMissing = missing(title, sizes);
  for (const count of sizes.filter(isMissing)) {
    const samples: Samples<number> = new Map();
    const served = new HttpService(count);
    for (const server of served.servers) {
      await server.open();
      served.reset(server);
    }
    const calls = { read: Math.max(2000, count), edit: Math.max(400, count) };
    for (let round = 0; round < rounds; round++)
      for (const server of served.servers) {
        for (const kind of ["read", "edit"] as const) {
          const { perSecond, micros, times } = await server.round(kind, Math.ceil(calls[kind] / count));
          const row = `${server.name}, ${kind}`;
          note(samples, `${row}: calls a second`, perSecond);
          note(samples, `${row}: median, ms`, quantile(times, 0.5));
          note(samples, `${row}: 99th percentile, ms`, quantile(times, 0.99));
          note(samples, `${row}: processor time, µs a call`, micros);
        }
        note(samples, `${server.name}: memory, MB`, server.resident);
        served.reset(server);
      }
    const failed = served.servers.reduce((sum, server) => sum + server.failed, 0);
    served.close();
    if (failed > 0) throw new Error(`${failed} calls failed with ${count} clients`);
    keep(title, count, samples);
    console.error(`  ${count}: after ${Math.round(performance.now() / 1000)} s`);
  }
}

const parts = {
  tree: growTree,
  file: growFile,
  history: growHistory,
  callers: growCallers,
  clients: growClients,
};
const wanted = text("part")?.split(",") ?? Object.keys(parts);
for (const [name, grow] of Object.entries(parts)) if (wanted.includes(name)) await grow();
console.log(curves(run));
process.exit();
