// What several changes come to, where files were moved in between: one entry for each file, with the hunks of its
// edits, whatever came first.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, numbered, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.reset({ "a.txt": numbered(40), "b.txt": "b\n", "dir/c.txt": numbered(40), "dir/d.txt": "d\n" });
  server = await fixture.serve();
});

const edit = (path: string, old: string, added: string) =>
  server.says("edit_file", { path, edits: [{ old: `\n${old}\n`, new: `\n${added}\n` }] });
const move = (from: string, to: string, overwrite = false) =>
  server.says("move_path", { from, to, ...(overwrite && { overwrite }) });
const remove = (path: string) => server.says("delete_path", { path, recursive: true });

/** The lines of the net difference that name a file or a hunk. */
async function net(): Promise<string[]> {
  const said = await server.says("list_changes", { diff: true, since: "start" });
  const lines = said.split("\n");
  const start = lines.findIndex(line => line.startsWith("[net difference"));
  return lines.slice(start + 1).filter(line => /^[ADMR] |^\[\d+\] /.test(line));
}

const hunkOf5 = "[1] @@ -3,5 +3,5 @@";
const hunkOf25 = "[2] @@ -23,5 +23,5 @@";

describe("the net difference of a file that was", () => {
  it("edited and then moved is one entry with the edit", async () => {
    await edit("a.txt", "5", "five");
    await move("a.txt", "z.txt");
    expect(await net()).toEqual(["R a.txt -> z.txt +1 -1", hunkOf5]);
  });

  it("moved and then edited is the same", async () => {
    await move("a.txt", "z.txt");
    await edit("z.txt", "5", "five");
    expect(await net()).toEqual(["R a.txt -> z.txt +1 -1", hunkOf5]);
  });

  it("edited, moved and edited has both edits, and the hunk that is undone is the one of the new path", async () => {
    await edit("a.txt", "5", "five");
    await move("a.txt", "z.txt");
    await edit("z.txt", "25", "twenty-five");
    expect(await net()).toEqual(["R a.txt -> z.txt +2 -2", hunkOf5, hunkOf25]);
    await server.says("undo", { since: "start", hunks: [1] });
    expect(fixture.read("z.txt")).toBe(numbered(40).replace("\n25\n", "\ntwenty-five\n"));
    expect(existsSync(join(fixture.root, "a.txt"))).toBe(false);
  });

  it("moved and back is nothing, or the edits in between", async () => {
    await move("a.txt", "z.txt");
    await move("z.txt", "a.txt");
    expect(await net()).toEqual([]);
    await edit("a.txt", "5", "five");
    await move("a.txt", "z.txt");
    await move("z.txt", "a.txt");
    expect(await net()).toEqual(["M a.txt +1 -1", hunkOf5]);
  });

  it("created and then moved is created at the new path", async () => {
    await server.says("write_file", { path: "new/n.txt", content: "n\n" });
    await move("new/n.txt", "m.txt");
    expect(await net()).toEqual(["A m.txt +1 -0", "[1] @@ -0,0 +1 @@"]);
    await move("new", "newer");
    expect(await net()).toEqual(["A m.txt +1 -0", "[1] @@ -0,0 +1 @@"]);
  });

  it("edited, moved and deleted is deleted at the old path, and its hunk restores it there", async () => {
    await edit("a.txt", "5", "five");
    await move("a.txt", "z.txt");
    await remove("z.txt");
    expect(await net()).toEqual(["D a.txt +0 -40", "[1] @@ -1,40 +0,0 @@"]);
    await server.says("undo", { since: "start", hunks: [1] });
    expect(fixture.read("a.txt")).toBe(numbered(40));
  });

  it("moved over another file says so, and has the edits of the one that was moved", async () => {
    await edit("a.txt", "5", "five");
    await move("a.txt", "b.txt", true);
    expect(await net()).toEqual(["R a.txt -> b.txt +1 -1 (over another file)", hunkOf5]);
    await remove("b.txt");
    expect(await net()).toEqual([
      "D a.txt +0 -40",
      "[1] @@ -1,40 +0,0 @@",
      "D b.txt +0 -1",
      "[2] @@ -1 +0,0 @@",
    ]);
  });

  it("replaced by a new one at the old path stays apart from it", async () => {
    await move("a.txt", "z.txt");
    await server.says("write_file", { path: "a.txt", content: "new\n" });
    expect(await net()).toEqual(["A a.txt +1 -0", "[1] @@ -0,0 +1 @@", "R a.txt -> z.txt"]);
  });
});

describe("the net difference of a directory that was", () => {
  it.each(["before", "after"])("moved names the files in it that were edited %s", async when => {
    if (when === "before") await edit("dir/c.txt", "5", "five");
    await move("dir", "moved");
    if (when === "after") await edit("moved/c.txt", "5", "five");
    expect(await net()).toEqual(["R dir -> moved", "R dir/c.txt -> moved/c.txt +1 -1", hunkOf5]);
    await server.says("undo", { since: "start", hunks: [1] });
    expect(fixture.read("moved/c.txt")).toBe(numbered(40));
    await move("moved/c.txt", "c.txt");
    expect(await net()).toEqual(["R dir/c.txt -> c.txt", "R dir -> moved"]);
  });

  it("moved and back is nothing but the edits", async () => {
    await move("dir", "moved");
    await edit("moved/c.txt", "5", "five");
    await move("moved", "dir");
    expect(await net()).toEqual(["M dir/c.txt +1 -1", hunkOf5]);
  });

  it("deleted and restored is nothing", async () => {
    await remove("dir");
    expect(await net()).toEqual(["D dir/"]);
    await server.says("undo");
    expect(await net()).toEqual([]);
    expect(await server.says("list_changes", { diff: true, since: "start" })).toMatch(
      /\[net difference of these 2 changes\]\n\[no difference\]/,
    );
    await server.refuses("undo", { hunks: [1] });
    expect(fixture.read("dir/c.txt")).toBe(numbered(40));
  });

  it("deleted and made again has what is missing, what is new and what is different", async () => {
    await remove("dir");
    await server.says("write_file", {
      path: "dir/c.txt",
      content: numbered(40).replace("\n5\n", "\nfive\n"),
    });
    await server.says("write_file", { path: "dir/new.txt", content: "new\n" });
    expect((await net()).filter(line => !line.startsWith("["))).toEqual([
      "M dir/c.txt +1 -1",
      "D dir/d.txt +0 -1",
      "A dir/new.txt +1 -0",
    ]);
  });

  it("copied and then changed has what is in it now", async () => {
    await server.says("copy_path", { from: "dir", to: "copy" });
    expect(await net()).toEqual(["A copy/"]);
    await remove("copy/c.txt");
    await server.says("write_file", { path: "copy/d.txt", content: "e\n" });
    expect(await net()).toEqual(["A copy/", "A copy/d.txt +1 -0", "[1] @@ -0,0 +1 @@"]);
    await remove("copy");
    expect(await net()).toEqual([]);
  });

  it("deleted has its edited files as they were before", async () => {
    await edit("dir/c.txt", "5", "five");
    await server.says("write_file", { path: "dir/new.txt", content: "new\n" });
    await remove("dir");
    const lines = await net();
    expect(lines.filter(line => line.includes("dir"))).toEqual([
      "D dir/",
      "D dir/c.txt +0 -40",
      "D dir/d.txt +0 -1",
    ]);
    await server.says("undo", { since: "start", hunks: [1] });
    expect(fixture.read("dir/c.txt")).toBe(numbered(40));
  });
});

it("changes that were undone come to nothing, with their moves", async () => {
  await edit("a.txt", "5", "five");
  await move("a.txt", "b.txt", true);
  await edit("b.txt", "25", "twenty-five");
  await move("dir", "moved");
  await remove("moved/c.txt");
  await server.says("undo", { since: "start" });
  expect(await net()).toEqual([]);
  expect(fixture.read("a.txt")).toBe(numbered(40));
  expect(fixture.read("b.txt")).toBe("b\n");
});
