// A name that is there is meant in both Unicode normal forms, also by what writes: no second file appears beside it
// that looks the same.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { ProcessWire } from "../../mcp/wire.ts";
import { ServedTree } from "../served-tree.ts";

const nfc = "caf\u00e9.txt";
const nfd = nfc.normalize("NFD");
const tree = new ServedTree("polyfs", { "plain.txt": "plain\n" });
let wire: ProcessWire;

const says = async (tool: string, params: object) => JSON.stringify(await wire.call(tool, params));
const names = () => readdirSync(tree.root).filter(name => name.startsWith("caf"));
const content = (name: string) => readFileSync(join(tree.root, name), "utf8");

beforeAll(async () => {
  wire = await tree.start();
  await wire.initialize();
});
afterAll(() => tree[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const name of names()) await wire.call("delete_path", { path: name, recursive: true });
});

for (const [stored, asked] of [
  [nfd, nfc],
  [nfc, nfd],
] as const)
  it(`${stored === nfc ? "NFC" : "NFD"} is written, patched, moved and deleted under the other form`, async () => {
    writeFileSync(join(tree.root, stored), "one\n");
    expect(await says("write_file", { path: asked, content: "two\n" })).toContain("overwrote");
    expect(await says("write_file", { path: asked, content: "x", mode: "create" })).toContain("exists");
    expect(await says("copy_path", { from: "plain.txt", to: asked })).toContain("exists");
    expect(await says("create_directory", { path: asked })).toContain("exists");
    const patch = `--- a/${asked}\n+++ b/${asked}\n@@ -1 +1 @@\n-two\n+three\n`;
    expect(await says("apply_patch", { patch })).toContain("+1 -1");
    expect(names()).toEqual([stored]);
    expect(content(stored)).toBe("three\n");
    await wire.call("undo", {});
    expect(content(stored)).toBe("two\n");
    await wire.call("copy_path", { from: "plain.txt", to: asked, overwrite: true });
    expect(names()).toEqual([stored]);
    expect(content(stored)).toBe("plain\n");
    await wire.call("move_path", { from: stored, to: asked });
    expect(names()).toEqual([asked]);
    await wire.call("delete_path", { path: stored });
    expect(names()).toEqual([]);
    await wire.call("undo", {});
    expect(names()).toEqual([asked]);
  });

it("two files that differ only in their form stay separate, and each is found by its own name", async () => {
  writeFileSync(join(tree.root, nfc), "c\n");
  writeFileSync(join(tree.root, nfd), "d\n");
  await wire.call("write_file", { path: nfc, content: "C\n" });
  expect([content(nfc), content(nfd)]).toEqual(["C\n", "d\n"]);
});

it("a file written below a directory goes into the existing directory, whatever its Unicode form", async () => {
  mkdirSync(join(tree.root, "caf\u0065\u0301"));
  await wire.call("write_file", { path: "caf\u00e9/new/in.txt", content: "in\n" });
  expect(names()).toEqual(["caf\u0065\u0301"]);
  expect(content("caf\u0065\u0301/new/in.txt")).toBe("in\n");
});
