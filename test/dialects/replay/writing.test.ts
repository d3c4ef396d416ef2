// Writing, moving and deleting by the `replay` contract, over the wire.
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Ground, notAllowed } from "./ground.ts";

let ground: Ground;
beforeAll(async () => {
  ground = await Ground.open();
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => ground.reset({ "a.txt": "old\n", "sub/b.txt": "b" }));

describe("write_file", () => {
  it("makes a file and the directories above it", async () => {
    const path = ground.path("new/er/c.txt");
    expect(await ground.says("write_file", { path, content: "Grüße\r\n" })).toBe(
      `Successfully wrote ${path}`,
    );
    expect(ground.read("new/er/c.txt")).toBe("Grüße\r\n");
  });

  it("replaces a file and keeps its mode; a link stays a link", async () => {
    chmodSync(ground.path("a.txt"), 0o600);
    symlinkSync("a.txt", ground.path("link"));
    expect(await ground.says("write_file", { path: ground.path("link"), content: "" })).toBe(
      `Successfully wrote ${ground.path("a.txt")}`,
    );
    expect(ground.bytes("a.txt")).toHaveLength(0);
    expect(statSync(ground.path("a.txt")).mode & 0o777).toBe(0o600);
    expect(lstatSync(ground.path("link")).isSymbolicLink()).toBe(true);
  });

  it("leaves the other names of a file alone, and says that there are some; so does an edit", async () => {
    const path = ground.path("a.txt");
    for (const [tool, params, done] of [
      ["write_file", { path, content: "new" }, "wrote"],
      ["edit_file", { path, edits: [{ oldText: "old", newText: "new" }] }, "edited"],
    ] as const) {
      ground.reset({ "a.txt": "old\n" });
      linkSync(path, ground.path("other"));
      const items = await ground.items(tool, params);
      expect(items.map(item => item.text)).toEqual([
        `Successfully ${done} ${path}`,
        "[other hard links to the file, not changed: 1]",
      ]);
      expect(ground.read("other")).toBe("old\n");
    }
  });

  it("says what is wrong by code, and writes nothing then", async () => {
    const outside = `${ground.outside}/x`;
    expect(await ground.fails("write_file", { path: outside, content: "" })).toEqual(notAllowed(outside));
    symlinkSync(`${ground.outside}/made`, ground.path("dangling"));
    expect(await ground.fails("write_file", { path: ground.path("dangling"), content: "" })).toMatchObject({
      code: -32001,
    });
    expect(readdirSync(ground.outside)).toEqual([]);
    expect(await ground.fails("write_file", { path: ground.path("sub"), content: "" })).toMatchObject({
      code: -32603,
    });
    expect(await ground.fails("write_file", { path: ground.path("a.txt/x"), content: "" })).toMatchObject({
      code: -32603,
    });
    expect(await ground.fails("write_file", { path: ground.path("n") })).toEqual({
      code: -32602,
      message: "Missing required param: content",
    });
    expect(await ground.fails("write_file", { path: ground.path("n"), content: "\ud800" })).toMatchObject({
      code: -32603,
    });
    expect(ground.has("n")).toBe(false);
  });
});

describe("create_directory", () => {
  it("makes it with those above, and does not mind one that is there", async () => {
    const path = ground.path("x/y/z");
    for (const _ of [1, 2]) {
      expect(await ground.says("create_directory", { path })).toBe(`Created directory ${path}`);
    }
    expect(statSync(path).isDirectory()).toBe(true);
    expect(await ground.says("create_directory", { path: ground.root })).toBe(
      `Created directory ${ground.root}`,
    );
  });

  it("says what is wrong by code", async () => {
    expect(await ground.fails("create_directory", { path: ground.path("a.txt") })).toMatchObject({
      code: -32603,
    });
    const outside = `${ground.outside}/d`;
    expect(await ground.fails("create_directory", { path: outside })).toEqual(notAllowed(outside));
  });
});

describe("move_file", () => {
  it("moves, makes directories, and replaces a file that is there", async () => {
    const [source, destination] = [ground.path("a.txt"), ground.path("far/away.txt")];
    expect(await ground.says("move_file", { source, destination })).toBe(`Moved ${source} -> ${destination}`);
    await ground.says("move_file", { source: destination, destination: ground.path("sub/b.txt") });
    expect(ground.read("sub/b.txt")).toBe("old\n");
    expect(ground.has("far/away.txt")).toBe(false);
    await ground.says("move_file", { source: ground.path("sub"), destination: ground.path("renamed") });
    expect(ground.read("renamed/b.txt")).toBe("old\n");
  });

  it("says what is wrong by code, and moves nothing then", async () => {
    const source = ground.path("a.txt");
    const outside = `${ground.outside}/x`;
    const to = (destination: string, from = source) =>
      ground.fails("move_file", { source: from, destination });
    expect(await to(outside)).toEqual(notAllowed(outside));
    expect(await to(ground.path("x"), outside)).toEqual(notAllowed(outside));
    expect(await to(ground.path("x/y"), ground.path("nope"))).toEqual({
      code: -32002,
      message: `File not found: ${ground.path("nope")}`,
    });
    expect(ground.has("x")).toBe(false);
    expect(await to(ground.path("sub"))).toMatchObject({ code: -32603 });
    expect(await to(ground.path("sub/in/itself"), ground.path("sub"))).toMatchObject({ code: -32603 });
    expect(await ground.fails("move_file", { source })).toMatchObject({ code: -32602 });
    expect(ground.read("a.txt")).toBe("old\n");
  });
});

describe("delete_file", () => {
  it("deletes a file, a tree, and of a link only the link", async () => {
    symlinkSync("sub", ground.path("link"));
    expect(await ground.says("delete_file", { path: ground.path("link") })).toBe(
      `Deleted ${ground.path("link")}`,
    );
    expect(ground.has("sub/b.txt")).toBe(true);
    expect(await ground.says("delete_file", { path: ground.path("sub") })).toBe(
      `Deleted ${ground.path("sub")}`,
    );
    await ground.says("delete_file", { path: ground.path("a.txt") });
    expect(readdirSync(ground.root).filter(name => !name.startsWith("."))).toEqual([]);
  });

  it("says what is wrong by code, and deletes nothing then", async () => {
    expect(await ground.fails("delete_file", { path: ground.path("nope") })).toEqual({
      code: -32002,
      message: `File not found: ${ground.path("nope")}`,
    });
    expect(await ground.fails("delete_file", { path: ground.outside })).toEqual(notAllowed(ground.outside));
    expect(await ground.fails("delete_file", { path: ground.root })).toMatchObject({ code: -32603 });
    symlinkSync(ground.outside, ground.path("out"));
    expect(await ground.fails("delete_file", { path: ground.path("out") })).toMatchObject({ code: -32001 });
    expect(ground.has("out")).toBe(true);
  });
});

describe("a read-only directory", () => {
  it("refuses every tool that writes, and lets a dry run look", async () => {
    const file = `${ground.readOnly}/r.txt`;
    ground.write(file, "one\n");
    mkdirSync(`${ground.readOnly}/d`);
    const edits = [{ oldText: "one", newText: "two" }];
    const calls: [string, object][] = [
      ["write_file", { path: file, content: "" }],
      ["write_file", { path: `${ground.readOnly}/new`, content: "" }],
      ["create_directory", { path: `${ground.readOnly}/new` }],
      ["create_directory", { path: ground.readOnly }],
      ["move_file", { source: file, destination: ground.path("x") }],
      ["move_file", { source: ground.path("a.txt"), destination: file }],
      ["delete_file", { path: file }],
      ["delete_file", { path: `${ground.readOnly}/nope` }],
      ["edit_file", { path: file, edits }],
      ["edit_files", { paths: [file], edits }],
      ["edit_files", { paths: [`${ground.readOnly}/*.txt`], edits }],
    ];
    for (const [tool, params] of calls) {
      expect(await ground.fails(tool, params), tool).toMatchObject({ code: -32001 });
    }
    expect(ground.read(file)).toBe("one\n");
    expect(readdirSync(ground.readOnly).sort()).toEqual(["d", "r.txt"]);
    const diff = `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-one\n+two\n`;
    expect(await ground.says("edit_file", { path: file, edits, dryRun: true })).toBe(diff);
    expect(
      await ground.says("edit_files", { paths: [`${ground.readOnly}/*.txt`], edits, dryRun: true }),
    ).toBe(diff);
  });
});
