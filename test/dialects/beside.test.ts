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

for (const [what, tool, params] of [
  ["a tree of 500 files is deleted", "delete_path", { path: "wide", recursive: true }],
  ["it is brought back", "undo", {}],
  ["a directory is made at depth 400", "create_directory", { path: `deep/${deep}` }],
] as const)
  it(`many are answered while ${what}`, async () => {
    expect(await answeredBeside(tool, params)).toBeGreaterThan(1);
  }, 60_000);
