// How far listing and searching are from the limit: ripgrep itself and find, each started as a process, against the
// engine in this process and the built program over stdio, on a generated tree of 50,000 files (half of them ignored)
// and one of 200. One run, interleaved rounds, medians in milliseconds. `npm run bench:search -- [rounds] [title]`
import { spawn } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { includeGlobs } from "../src/engine/search/globs.ts";
import { grep } from "../src/engine/search/grep.ts";
import type { GrepOptions } from "../src/engine/search/grep-terms.ts";
import type { Query } from "../src/engine/search/ripgrep.ts";
import { type WalkOptions, walk } from "../src/engine/search/walk.ts";
import type { Directory } from "../src/engine/workspace/directory.ts";
import { Workspace } from "../src/engine/workspace/workspace.ts";
import { Server, textOf } from "./server.ts";
import { GeneratedTree } from "./tree.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const rounds = Number(process.argv[2] ?? 15);
const only = process.argv[3] ?? ""; // a part of the titles to run
const ignore = { rules: true, hidden: false };
const plain = ["--no-config", "--no-require-git"];
const search = [...plain, "-n", "--column", "--no-heading", "-0", "-e"];
const contenders = ["rg", "find", "engine", "stdio"] as const;

/** The number of results: all contenders have to agree. Computed outside the measured time. */
type Count = () => number;

type Scenario = { readonly title: string } & {
  readonly [L in (typeof contenders)[number]]?: () => Promise<Count>;
};

function scenarios(root: string, start: Directory, server: Server): Scenario[] {
  const rg = (...args: string[]) => run(rgPath, args, root);
  const listed = (args: object) => counted(server, "fs.list_files", { max_results: 1_000_000, ...args });
  const found = (args: object) =>
    counted(server, "fs.search_text", {
      max_results: 100_000,
      context_lines: 0,
      case_sensitive: true,
      ...args,
    });
  const typescript = includeGlobs(["**/*.ts"]);
  const literal = (pattern: string): Query => ({ pattern, literal: true });
  const file = "src/part0/group0/file0.ts";
  return [
    {
      title: "list all files",
      rg: () => rg(...plain, "--files"),
      find: () => run("find", [".", "-type", "f"], root),
      engine: () => walked(start, {}),
      stdio: () => listed({}),
    },
    {
      title: "glob `**/*.ts`",
      rg: () => rg(...plain, "--files", "-g", "*.ts"),
      find: () => run("find", [".", "-name", "*.ts"], root),
      engine: () => walked(start, { include: typescript }),
      stdio: () => listed({ include_globs: ["**/*.ts"] }),
    },
    {
      title: "rare word",
      rg: () => rg(...search, "needle", "-F"),
      engine: () => searched(start, literal("needle"), {}),
      stdio: () => found({ query: "needle" }),
    },
    {
      title: "no match",
      rg: () => rg(...search, "no such thing", "-F"),
      engine: () => searched(start, literal("no such thing"), {}),
      stdio: () => found({ query: "no such thing" }),
    },
    {
      title: "expression, few matches",
      rg: () => rg(...search, "ne+dle in"),
      engine: () => searched(start, { pattern: "ne+dle in" }, {}),
      stdio: () => found({ query: "ne+dle in", mode: "regex" }),
    },
    {
      title: "common word, first 200",
      rg: () => run(rgPath, [...search, "compute", "-F"], root, 200),
      engine: () => searched(start, literal("compute"), { limit: 200 }),
      stdio: () => counted(server, "fs.search_text", { query: "compute" }),
    },
    {
      title: "common expression, first 200",
      rg: () => run(rgPath, [...search, "comp[u]te"], root, 200),
      engine: () => searched(start, { pattern: "comp[u]te" }, { limit: 200 }),
      stdio: () => counted(server, "fs.search_text", { query: "comp[u]te", mode: "regex" }),
    },
    {
      title: "one small directory",
      rg: () => rg(...search, "compute", "-F", "src/part0/group0"),
      stdio: () => found({ query: "compute", root: "src/part0/group0" }),
    },
    {
      title: "one file",
      rg: () => rg(...search, "compute", "-F", file),
      stdio: () => found({ query: "compute", include_globs: [file] }),
    },
  ];
}

/** Runs a program to its end, or until it has printed some lines. */
function run(command: string, args: readonly string[], cwd: string, most?: number): Promise<Count> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let seen = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++;
      if (most !== undefined && seen >= most) child.kill();
    });
    child.on("error", reject);
    child.on("close", () => resolve(() => Math.min(seen, most ?? seen)));
  });
}

async function walked(start: Directory, options: WalkOptions): Promise<Count> {
  let files = 0;
  await walk(start, { ignore, ...options }).each(entry => {
    if (entry.kind === "file") files++;
    return true;
  });
  return () => files;
}

async function searched(start: Directory, query: Query, options: GrepOptions): Promise<Count> {
  let hits = 0;
  for await (const file of grep(start, query, { ignore, ...options })) {
    for (const line of file.lines) if (line.column !== undefined) hits++;
  }
  return () => Math.min(hits, options.limit ?? hits);
}

async function counted(server: Server, tool: string, args: object): Promise<Count> {
  const line = await server.call(tool, args);
  return () => {
    const { entries, hits } = JSON.parse(textOf(line)) as { entries?: []; hits?: [] };
    return (entries ?? hits ?? []).length;
  };
}

async function row(scenario: Scenario): Promise<string> {
  const times = new Map<string, number[]>();
  const counts = new Map<string, number>();
  for (let round = -2; round < rounds; round++) {
    for (const contender of contenders) {
      const began = performance.now();
      const count = await scenario[contender]?.();
      if (count === undefined) continue;
      if (round >= 0) times.set(contender, [...(times.get(contender) ?? []), performance.now() - began]);
      counts.set(contender, count());
    }
  }
  counts.delete("find"); // knows of no ignore files
  if (new Set(counts.values()).size > 1)
    throw new Error(`${scenario.title}: ${JSON.stringify(Object.fromEntries(counts))}`);
  const median = (contender: string) =>
    times.get(contender)?.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
  const shown = (value: number, digits: number) => (Number.isNaN(value) ? "–" : value.toFixed(digits));
  const cells = contenders.map(contender => shown(median(contender), 1));
  const excess = `${shown(median("stdio") / median("rg"), 2)} | ${shown(median("stdio") - median("rg"), 1)}`;
  return `| ${scenario.title} | ${counts.get("rg")} | ${cells.join(" | ")} | ${excess} |`;
}

for (const count of [50_000, 200]) {
  using tree = new GeneratedTree(count);
  using workspace = Workspace.open([{ path: tree.path, access: "read-only" }]);
  using start = workspace.directory(workspace.at("."));
  using server = await Server.start(program, ["--dialect", "fs", "--allow-read", tree.path]);
  const load = loadavg()[0]?.toFixed(1);
  console.log(`\n${count} files, half of them ignored; ms, median of ${rounds} rounds; load ${load}\n`);
  console.log("| scenario | results | rg | find | engine | stdio | stdio ÷ rg | stdio − rg |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const scenario of scenarios(tree.path, start, server)) {
    if (scenario.title.includes(only)) console.log(await row(scenario));
  }
}
