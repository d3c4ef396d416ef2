// Cheap calls beside an expensive one: the server answers many of them, one after another, before the other one ends.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ProcessWire } from "../mcp/wire.ts";
import { ServedTree } from "./served-tree.ts";

const tree = new ServedTree("polyfs", { "small.txt": "small\n" });
let wire: ProcessWire;

beforeAll(async () => {
  for (let d = 0; d < 5; d++) {
    mkdirSync(join(tree.root, `wide/${d}`), { recursive: true });
    for (let i = 0; i < 100; i++) writeFileSync(join(tree.root, `wide/${d}/${i}`), `${d} ${i}\n`);
  }
  wire = await tree.start();
  await wire.initialize();
});
afterAll(() => tree[Symbol.asyncDispose]());

/** How many cheap calls are answered, each sent after the answer to the one before, until the other one is. */
async function answeredBeside(tool: string, params: object): Promise<number> {
  let isOver = false;
  const expensive = wire.call(tool, params).finally(() => {
    isOver = true;
  });
  let cheap = 0;
  for (; !isOver; cheap++) {
    const answer = await wire.call("read_file", { path: "small.txt" });
    expect(JSON.stringify(answer)).toContain("small");
  }
  expect((await expensive).isError).not.toBe(true);
  return cheap;
}

const deep = Array(400).fill("d").join("/");
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join("");

/** The version that a tool names. */
async function versionOf(path: string): Promise<string> {
  const answer = JSON.stringify(await wire.call("file_info", { path }));
  return /v:[0-9a-f]{12}/.exec(answer)?.[0] ?? "";
}

it("many are answered while the diff of 150,000 lines that all changed is made", async () => {
  writeFileSync(
    join(tree.root, "lines.txt"),
    lines(150_000, i => `old ${i}`),
  );
  await wire.call("write_file", { path: "lines.txt", content: lines(150_000, i => `new ${i * 7}`) });
  expect(await answeredBeside("undo", {})).toBeGreaterThan(10);
});

it("many are answered while 400,000 places of one file are replaced", async () => {
  writeFileSync(join(tree.root, "places.txt"), "foo bar foo baz\n".repeat(200_000));
  const params = { paths: ["places.txt"], old: "foo", new: "quux" };
  expect(await answeredBeside("replace_in_files", params)).toBeGreaterThan(10);
});

it("many are answered while an edit of an older version is merged into a large file", async () => {
  const old = lines(100_000, i => `const value${i} = compute(${i % 1000});`);
  writeFileSync(join(tree.root, "merged.txt"), old);
  await wire.call("read_file", { path: "merged.txt", lines: "1-2" });
  const if_version = await versionOf("merged.txt");
  writeFileSync(join(tree.root, "merged.txt"), old.replaceAll("00);", "00); // later"));
  const edits = [{ start_line: 51_055, end_line: 51_055, new: "mine" }];
  expect(await answeredBeside("edit_file", { path: "merged.txt", if_version, edits })).toBeGreaterThan(10);
});

for (const [what, tool, params] of [
  ["a tree of 500 files is deleted", "delete_path", { path: "wide", recursive: true }],
  ["it is brought back", "undo", {}],
  ["it is copied", "copy_path", { from: "wide", to: "copied" }],
  ["the copy is moved", "move_path", { from: "copied", to: "moved" }],
  ["a directory is made at depth 400", "create_directory", { path: `deep/${deep}` }],
] as const)
  it(`many are answered while ${what}`, async () => {
    expect(await answeredBeside(tool, params)).toBeGreaterThan(1);
  });
