// How far walking and searching are from the limit: ripgrep itself and find, against ours, on a generated tree
// of 50,000 files (half of them ignored) and one of 200, in one run with interleaved rounds; medians.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { includeGlobs } from "../src/engine/search/globs.ts";
import { type GrepOptions, grep } from "../src/engine/search/grep.ts";
import type { Query } from "../src/engine/search/ripgrep.ts";
import { walk } from "../src/engine/search/walk.ts";
import { Workspace } from "../src/engine/workspace/workspace.ts";

const rounds = Number(process.argv[2] ?? 9);
const only = process.argv[3] ?? ""; // a part of the titles to run
const ignore = { rules: true, hidden: true };
const plain = ["--no-config", "--hidden", "-g", "!.git", "--no-require-git"];
const search = [...plain, "-n", "--column", "--no-heading", "-0", "-F", "-e"];

/** Writes `count` files once, the second half of them ignored; the same tree for every run. */
function generated(count: number): string {
  const root = join(tmpdir(), `polyfs-bench-${count}`);
  if (existsSync(join(root, "done"))) return root;
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, ".gitignore"), "generated/\n*.log\n");
  for (let i = 0; i < count; i++) {
    const top = i % 2 === 0 ? "src" : "generated";
    const directory = join(root, top, `part${i % 40}`, `group${Math.floor(i / 40) % 50}`);
    if (i < 40 * 50) mkdirSync(directory, { recursive: true });
    const lines = Array.from(
      { length: 40 },
      (_, n) => `export const value${n} = compute(${i}, ${n * 7}); // line ${n}`,
    );
    if (i % 997 === 0) lines.push("the needle in the haystack");
    writeFileSync(join(directory, `file${i}.${i % 10 < 7 ? "ts" : "md"}`), `${lines.join("\n")}\n`);
  }
  writeFileSync(join(root, "done"), "");
  return root;
}

function run(command: string, args: readonly string[], cwd: string, lines?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let seen = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      for (const byte of lines === undefined ? [] : chunk) if (byte === 10) seen++;
      if (lines !== undefined && seen >= lines) child.kill();
    });
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

interface Lane {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

async function race(title: string, lanes: readonly Lane[]): Promise<void> {
  if (!title.includes(only)) return;
  const times = lanes.map((): number[] => []);
  for (let round = -2; round < rounds; round++) {
    for (const [i, lane] of lanes.entries()) {
      const start = performance.now();
      await lane.run();
      if (round >= 0) times[i]?.push(performance.now() - start);
    }
  }
  const medians = times.map(
    list => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN,
  );
  const limit = medians[0] ?? Number.NaN;
  console.log(title);
  for (const [i, lane] of lanes.entries()) {
    const median = medians[i] ?? Number.NaN;
    console.log(
      `  ${lane.name.padEnd(28)} ${median.toFixed(1).padStart(8)} ms   × ${(median / limit).toFixed(2)}`,
    );
  }
}

for (const count of [50_000, 200]) {
  const root = generated(count);
  using workspace = Workspace.open([{ path: root, access: "read-only" }]);
  using directory = workspace.directory(workspace.at("."));
  const ours = async (
    query: Query,
    options: GrepOptions,
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> => {
    let hits = 0;
    for await (const file of grep(directory, query, { ignore, ...options })) {
      for (const line of file.lines) if (line.column !== undefined) hits++;
      if (hits >= most) break;
    }
    return hits;
  };
  const listed = async (
    include?: ReturnType<typeof includeGlobs>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> => {
    let entries = 0;
    for await (const _ of walk(directory, { ignore, include })) if (++entries >= most) break;
    return entries;
  };
  const literal = (pattern: string): Query => ({ pattern, literal: true });
  console.log(
    `\n${count} files, ${await listed()} entries listed, ${await ours(literal("needle"), {})} needles`,
  );
  await race("list all files", [
    { name: "rg --files", run: () => run(rgPath, [...plain, "--files"], root) },
    { name: "find -type f (no ignoring)", run: () => run("find", [".", "-type", "f"], root) },
    { name: "walk", run: () => listed() },
  ]);
  const typescript = includeGlobs(["**/*.ts"]);
  await race("glob **/*.ts", [
    { name: "rg --files -g", run: () => run(rgPath, [...plain, "--files", "-t", "ts"], root) },
    { name: "walk", run: () => listed(typescript) },
  ]);
  await race("rare word", [
    { name: "rg", run: () => run(rgPath, [...search, "needle"], root) },
    { name: "grep", run: () => ours(literal("needle"), {}) },
  ]);
  await race("no match", [
    { name: "rg", run: () => run(rgPath, [...search, "no such thing"], root) },
    { name: "grep", run: () => ours(literal("no such thing"), {}) },
    { name: "grep, regex", run: () => ours({ pattern: "no su[c]h thing" }, {}) },
  ]);
  await race("common word, first 100", [
    { name: "rg, stopped", run: () => run(rgPath, [...search, "compute"], root, 100) },
    { name: "grep", run: () => ours(literal("compute"), { limit: 101 }, 100) },
    { name: "grep, regex", run: () => ours({ pattern: "comp[u]te" }, { limit: 101 }, 100) },
  ]);
}
