// How the cost of a call grows: with the files in the tree, the size of a file, the changes in history, and the callers
// of one file. `npm run bench -- --growth [--largest N] [--history N] [--file BYTES] [--processor]`. Each row has the
// median for each size and the exponent of the curve: 0 is flat, 1 is linear. ripgrep and git are measured in the same
// rounds. With --processor, processor time counts instead of the clock, that of started programs included: on a machine
// with other work, only that says something.
import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { Client } from "./client.ts";
import { processorTime, processorTimeOfChildren } from "./processor-time.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const option = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1] ?? otherwise);
};
const upTo = (most: number, ...sizes: readonly number[]) => sizes.filter(size => size <= most);
const rounds = 5;
const isByProcessor = process.argv.includes("--processor");
const place = mkdtempSync(join(tmpdir(), "polyfs-bench-growth-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));

type Samples = Map<string, number[][]>;

/** Adds a sample of a row at the n-th size. */
function note(samples: Samples, row: string, n: number, ms: number): void {
  const all = samples.get(row) ?? [];
  samples.set(row, all);
  all[n] ??= [];
  all[n].push(ms);
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The slope of a line through the logarithms, by least squares. */
function exponent(sizes: readonly number[], times: readonly number[]): number {
  const points = sizes
    .map((size, n) => [Math.log(size), Math.log(times[n] ?? Number.NaN)] as const)
    .filter(([, y]) => Number.isFinite(y));
  const mean = (pick: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x0, y0] = [mean(([x]) => x), mean(([, y]) => y)];
  const over = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0);
  return over / points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
}

function print(
  title: string,
  sizes: readonly number[],
  samples: Samples,
  unit = (size: number) => `${size}`,
) {
  console.log(
    `\n### ${title}\n\n| ms | ${sizes.map(unit).join(" | ")} | exponent |\n|---|${sizes.map(() => "---:|").join("")}---:|`,
  );
  for (const [row, all] of samples) {
    const times = sizes.map((_, n) => median(all[n] ?? []));
    const cells = times.map(time => (Number.isNaN(time) ? "–" : time.toFixed(time < 10 ? 2 : 0)));
    console.log(`| ${row} | ${cells.join(" | ")} | ${exponent(sizes, times).toFixed(2)} |`);
  }
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
  new Client({ command: process.execPath, args: [program, "--state-dir", state, root] });

/** Calls a tool. An answer that is an error would be measured as if it were quick. */
async function call(client: Client, tool: string, args: object): Promise<string> {
  const { text, failed } = await client.call({ tool, arguments: args as Record<string, unknown> });
  if (failed) throw new Error(`${tool}: ${text}`);
  return text;
}

async function growTree(): Promise<void> {
  const sizes = upTo(option("largest", 100_000), 1000, 10_000, 100_000, 300_000, 1_000_000);
  const samples: Samples = new Map();
  const root = join(place, "tree");
  let made = 0;
  for (const [n, size] of sizes.entries()) {
    for (; made < size; made++) {
      const directory = join(root, `part${made % 100}`, `group${Math.floor(made / 100) % 200}`);
      if (made < 20_000) mkdirSync(directory, { recursive: true });
      const rare = made % 997 === 0 ? "the needle in the haystack\n" : "";
      writeFileSync(join(directory, `file${made}.ts`), `export const value = compute(${made});\n${rare}`);
    }
    await outside("git", ["init", "-q"], root);
    await outside("git", ["add", "-A"], root);
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, n, ms);
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
  }
  print("Files in the tree", sizes, samples);
  rmSync(root, { recursive: true, force: true });
}

async function growFile(): Promise<void> {
  const kb = 1024;
  const sizes = upTo(option("file", 1024 ** 3), kb, 100 * kb, 10 * kb ** 2, kb ** 3, 10 * kb ** 3);
  const samples: Samples = new Map();
  const root = join(place, "file");
  mkdirSync(root);
  const line = `${"a line of text that is sixty-three characters long, as it is..".padEnd(63)}\n`;
  const block = line.repeat(16 * 1024); // 1 MB
  for (const [n, size] of sizes.entries()) {
    const path = join(root, "big.txt");
    const fd = openSync(path, "w");
    for (let left = size; left > 0; left -= block.length) writeSync(fd, block.slice(0, left));
    closeSync(fd);
    const lines = Math.floor(size / 64);
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, n, ms);
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
  }
  print("Size of a file", sizes, samples, size =>
    size < kb ** 2 ? `${size / kb} KB` : `${size / kb ** 2} MB`,
  );
}

async function growHistory(): Promise<void> {
  const sizes = upTo(option("history", 1000), 10, 100, 1000, 10_000, 100_000, 1_000_000);
  const samples: Samples = new Map();
  const root = join(place, "history");
  const state = mkdtempSync(join(place, "state-"));
  mkdirSync(root);
  writeFileSync(join(root, "f.txt"), "");
  let made = 0;
  for (const [n, size] of sizes.entries()) {
    const writer = server(root, state);
    await writer.start();
    for (; made < size; made++)
      await call(writer, "write_file", { path: "f.txt", content: `${made}\n`, mode: "overwrite" });
    await writer.close();
    for (let round = 0; round < rounds; round++) {
      const add = (row: string, ms: number) => note(samples, row, n, ms);
      const client = server(root, state);
      add("start to `tools/list`", await timed(() => client.start(), client));
      add("`list_changes`, first page", await timed(() => call(client, "list_changes", {}), client));
      add(
        "`write_file`",
        await timed(
          () => call(client, "write_file", { path: "g.txt", content: `${round}`, mode: "overwrite" }),
          client,
        ),
      );
      add("`undo`", await timed(() => call(client, "undo", {}), client));
      made += 2;
      await client.close();
    }
  }
  print("Changes in history", sizes, samples);
}

async function growCallers(): Promise<void> {
  const sizes = [1, 4, 16, 64];
  const samples: Samples = new Map();
  const root = join(place, "callers");
  mkdirSync(root);
  for (const [n, callers] of sizes.entries()) {
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
      note(samples, "edits of one file at the same time, until all are answered", n, shared);
      for (let i = 0; i < callers; i++) writeFileSync(join(root, `own${i}.txt`), text);
      const own = await together(i => ({ path: `own${i}.txt`, edits: edits(i) }));
      note(samples, "edits of as many files, until all are answered", n, own);
    }
    await client.close();
  }
  print("Callers at the same time", sizes, samples);
}

console.log(
  `${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)}, medians of ${rounds} rounds of ${isByProcessor ? "processor time" : "time by the clock"}`,
);
for (const part of [growTree, growFile, growHistory, growCallers]) await part();
console.log(`\nload at the end ${loadavg()[0]?.toFixed(1)}`);
process.exit();
