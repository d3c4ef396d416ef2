// How the cost of a call grows: with the files in the tree, the size of a file, the changes made, and the callers of one
// file. `npm run bench -- --growth [--part tree,file,history,callers] [--largest N] [--history N] [--file BYTES]
// [--rounds N] [--json FILE] [--processor]`. Each row has the median for each size and the exponent of the curve: 0 is
// flat, 1 is linear. ripgrep and git are measured in the same rounds. The file is written after each size, and a run that
// finds one measures only what it lacks: parts can be measured one by one, and an aborted run can go on. With
// --processor, processor time counts instead of the clock, that of started programs included: on a machine with other
// work, only that says something.
import { spawn } from "node:child_process";
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
import { Client } from "./client.ts";
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
const isByProcessor = process.argv.includes("--processor");
const place = mkdtempSync(join(tmpdir(), "polyfs-bench-growth-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const file = text("json");
const run: GrowthRun =
  file !== undefined && existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : { growth: [], date: measuredOn(), machine: machine(), rounds, processor: isByProcessor };
if (run.processor !== isByProcessor || run.rounds !== rounds)
  throw new Error(`${file} has other rounds, or another kind of time`);

/** Of each row, at one size. */
type Samples = Map<string, number[]>;

function note(samples: Samples, row: string, value: number): void {
  samples.set(row, [...(samples.get(row) ?? []), value]);
}

/** The sizes of a part that are not in the file yet. */
function missing(title: string, sizes: readonly number[]): (size: number) => boolean {
  const known = run.growth.find(part => part.title === title)?.sizes ?? [];
  const wanted = new Set(sizes.filter(size => !known.includes(size)));
  if (wanted.size > 0) console.error(`${title}: ${[...wanted].join(", ")}`);
  return size => wanted.has(size);
}

/** Adds the medians at one size to the curves of a part. */
function keep(title: string, size: number, samples: Samples, unit: Curves["unit"] = "number"): void {
  const earlier = run.growth.find(part => part.title === title);
  const part = earlier ?? { title, unit, sizes: [], rows: {} };
  if (earlier === undefined) run.growth.push(part);
  part.sizes.push(size);
  for (const [row, all] of samples) {
    const values = part.rows[row] ?? [];
    part.rows[row] = values;
    values[part.sizes.length - 1] = median(all);
  }
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(run, undefined, 1)}\n`);
  console.error(`  ${size}: after ${Math.round(performance.now() / 1000)} s`);
}

/** What `action` takes; by the processor, what it takes of a server. Without one, of the programs that it runs. */
async function timed(action: () => Promise<unknown>, client?: Client): Promise<number> {
  const now = () => {
    if (!isByProcessor) return performance.now();
    if (client === undefined) return processorTimeOfChildren("self");
    return processorTime(client.pid) + processorTimeOfChildren(client.pid);
  };
  const began = now();
  await action();
  return now() - began;
}

/** A process of another program, from its start to its end. */
function outside(command: string, args: readonly string[], cwd: string): Promise<number> {
  return timed(
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

async function growTree(): Promise<void> {
  const title = "Files in the tree";
  const sizes = upTo(option("largest", 100_000), 1000, 10_000, 100_000, 300_000, 1_000_000);
  const isMissing = missing(title, sizes);
  const root = join(place, "tree");
  let made = 0;
  for (const size of sizes.filter(isMissing)) {
    const samples: Samples = new Map();
    for (; made < size; made++) {
      const directory = join(root, `part${made % 100}`, `group${Math.floor(made / 100) % 200}`);
      if (made < 20_000) mkdirSync(directory, { recursive: true });
      const rare = made % 997 === 0 ? "the needle in the haystack\n" : "";
      writeFileSync(join(directory, `file${made}.ts`), `export const value = compute(${made});\n${rare}`);
    }
    await outside("git", ["init", "-q"], root);
    // Into one pack: a file for each object would take as much space again as the tree.
    await outside("git", ["-c", "core.bigFileThreshold=1", "add", "-A"], root);
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, ms);
      const client = server(root);
      add("start to `tools/list`", await timed(() => client.start(), client));
      const path = "part1/group0/file1.ts";
      const find = { pattern: "**/file99?.ts" };
      const search = { pattern: `needle in the haystack`, literal: true };
      add("`find_files`, first", await timed(() => call(client, "find_files", find), client));
      add("the same, repeated", await timed(() => call(client, "find_files", find), client));
      add("`search_text`, rare word, first", await timed(() => call(client, "search_text", search), client));
      add("the same word again", await timed(() => call(client, "search_text", search), client));
      add("`list_directory`", await timed(() => call(client, "list_directory", { path: "part1" }), client));
      add("`read_file`", await timed(() => call(client, "read_file", { path }), client));
      const edit = { path, edits: [{ insert_after: 0, new: `// ${round}\n` }] };
      add("`edit_file`", await timed(() => call(client, "edit_file", edit), client));
      add("`list_changes`", await timed(() => call(client, "list_changes", {}), client));
      add("`undo`", await timed(() => call(client, "undo", {}), client));
      await client.close();
      add("`rg --files -g`", await outside(rgPath, ["--no-config", "--files", "-g", "file99?.ts"], root));
      add("`rg`, rare word", await outside(rgPath, ["--no-config", "-nF", "needle in the haystack"], root));
      add("`git status`", await outside("git", ["status", "--porcelain"], root));
    }
    keep(title, size, samples);
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
    const samples: Samples = new Map();
    const path = join(root, "big.txt");
    const fd = openSync(path, "w");
    for (let left = size; left > 0; left -= block.length) writeSync(fd, block.slice(0, left));
    closeSync(fd);
    const lines = Math.floor(size / 64);
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, ms);
      await setTimeout(3000); // what was written a moment ago may change again without showing it, and is read again
      const client = server(root);
      await client.start();
      const read = (args: object) =>
        timed(() => call(client, "read_file", { path: "big.txt", limit: 10, ...args }), client);
      add("first 10 lines", await read({}));
      add("10 lines in the middle, first", await read({ offset: Math.max(1, lines >> 1) }));
      add("the same, repeated", await read({ offset: Math.max(1, lines >> 1) }));
      add("last 10 lines", await read({ offset: -10 }));
      const search = { pattern: "nowhere to be found", literal: true };
      add("`search_text`, no hit", await timed(() => call(client, "search_text", search), client));
      if (size <= 10 * kb ** 2) {
        const edit = { path: "big.txt", edits: [{ insert_after: 1, new: `${round}\n` }] };
        add("`edit_file`", await timed(() => call(client, "edit_file", edit), client));
        add("`undo`", await timed(() => call(client, "undo", {}), client));
      }
      await client.close();
      add("`rg`, no hit", await outside(rgPath, ["--no-config", "-nF", "nowhere to be found"], root));
    }
    truncateSync(path, 0);
    keep(title, size, samples, "bytes");
  }
}

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
    const samples: Samples = new Map();
    const writer = server(root, state);
    await writer.start();
    const together = 16;
    while (made < size) {
      const next = Math.min(together, size - made);
      await Promise.all(Array.from({ length: next }, (_, i) => write(writer, `f${i}.txt`, `${made + i}\n`)));
      made += next;
    }
    await writer.close();
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, ms);
      const client = server(root, state);
      add("start to `tools/list`", await timed(() => client.start(), client));
      add("`list_changes`, first page", await timed(() => call(client, "list_changes", {}), client));
      add("`write_file`", await timed(() => write(client, "g.txt", `${round}`), client));
      add("`undo`", await timed(() => call(client, "undo", {}), client));
      made += 2;
      await client.close();
    }
    note(samples, "state directory, KB on disk", diskKilobytes(state));
    keep(title, size, samples);
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
    const samples: Samples = new Map();
    const client = server(root);
    await client.start();
    for (let round = 0; round < rounds; round++) {
      const text = Array.from({ length: callers }, (_, i) => `line ${i}: 0;\n`).join("");
      writeFileSync(join(root, "shared.txt"), text);
      const together = (edit: (i: number) => object) =>
        timed(
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
    keep(title, callers, samples);
  }
}

const parts = { tree: growTree, file: growFile, history: growHistory, callers: growCallers };
const wanted = text("part")?.split(",") ?? Object.keys(parts);
for (const [name, grow] of Object.entries(parts)) if (wanted.includes(name)) await grow();
console.log(curves(run));
process.exit();
