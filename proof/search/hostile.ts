// Ignore files that are not ignore files, in every dialect: each listing and search answers, in time, and as if they
// were not there. What an outside file says about names changes no answer.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dialects } from "../../src/dialects/index.ts";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";
import { Tree } from "./tree.ts";

const patienceMs = 60_000;

/** What may have the name of an ignore file. */
const forms: Readonly<Record<string, (path: string, tree: Tree) => void>> = {
  "a link to /dev/zero": path => symlinkSync("/dev/zero", path),
  "a FIFO": path => void execFileSync("mkfifo", [path]),
  "a link to a file outside": (path, tree) => symlinkSync(join(tree.base, "outside"), path),
  "a gigabyte": path => {
    writeFileSync(path, "nothing\n");
    truncateSync(path, 2 ** 30);
  },
  "a directory": path => mkdirSync(path),
};

/** Tools that list or search, with parameters that cover the whole tree. */
function calls(root: string): readonly (readonly [tool: string, args: object])[] {
  return [
    ["search_text", { pattern: "needl[e]", glob: "*.txt" }],
    ["fs.search_text", { query: "needl[e]", mode: "regex", include_globs: ["*.txt"] }],
    ["find_files", { pattern: "*.txt" }],
    ["fs.list_files", {}],
    ["grep", { pattern: "needl[e]", glob: "*.txt" }],
    ["glob", { pattern: "**/*.txt" }],
    ["grep_files", { regex: "needl[e]", directory: root }],
    ["search_content", { pattern: "needl[e]", path: root, filePattern: "**/*.txt" }],
    ["search_files", { path: root, pattern: "kept.txt" }],
    ["directory_tree", { path: root }],
  ];
}

export async function hostile(trial: Trial): Promise<void> {
  for (const dialect of Object.keys(dialects)) {
    for (const name of [".gitignore", ".ignore", ".rgignore"]) {
      for (const [form, make] of Object.entries(forms)) {
        if (name !== ".gitignore" && !trial.long && form !== "a link to /dev/zero") continue;
        const what = `hostile ${dialect}: ${name} is ${form}`;
        if (trial.tally.wants(what)) await trial.tally.attempt(what, () => answered(dialect, name, make));
      }
    }
  }
}

async function answered(
  dialect: string,
  name: string,
  make: (path: string, tree: Tree) => void,
): Promise<void> {
  using tree = new Tree();
  writeFileSync(join(tree.base, "outside"), "kept.txt\n*.txt\n");
  for (const place of ["kept.txt", "sub/kept.txt"]) tree.add(place, "a needle\n");
  for (const directory of ["", "sub/"]) make(join(tree.root, `${directory}${name}`), tree);
  const client = await StdioClient.start({
    dialect,
    root: tree.root,
    state: join(tree.base, "state"),
    patienceMs,
  });
  try {
    const { result } = await client.request("tools/list");
    const listed = JSON.stringify(result?.tools);
    for (const [tool, args] of calls(tree.root)) {
      if (!listed.includes(`"name":"${tool}"`)) continue;
      const { text, failed } = await call(client, tool, args);
      if (failed || !text.includes("kept.txt")) throw new Error(`${tool} answered ${text.slice(0, 300)}`);
    }
  } finally {
    await client.close();
  }
}
