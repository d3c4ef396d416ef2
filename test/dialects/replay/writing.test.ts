// Writing, moving and deleting by the `replay` contract, over the wire.
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": "old\n", "sub/b.txt": "b" }));

describe("write_file", () => {
  it("makes a file and the directories above it", async () => {
    const path = fixture.path("new/er/c.txt");
    expect(await fixture.says("write_file", { path, content: "Grüße\r\n" })).toBe(
      `Successfully wrote ${path}`,
    );
    expect(fixture.read("new/er/c.txt")).toBe("Grüße\r\n");
  });

  it("replaces a file and keeps its mode; a link stays a link", async () => {
    chmodSync(fixture.path("a.txt"), 0o600);
    symlinkSync("a.txt", fixture.path("link"));
    expect(await fixture.says("write_file", { path: fixture.path("link"), content: "" })).toBe(
      `Successfully wrote ${fixture.path("a.txt")}`,
    );
    expect(fixture.bytes("a.txt")).toHaveLength(0);
    expect(statSync(fixture.path("a.txt")).mode & 0o777).toBe(0o600);
    expect(lstatSync(fixture.path("link")).isSymbolicLink()).toBe(true);
  });

  it("leaves the other names of a file alone, and says that there are some; so does an edit", async () => {
    const path = fixture.path("a.txt");
    for (const [tool, params, done] of [
      ["write_file", { path, content: "new" }, "wrote"],
      ["edit_file", { path, edits: [{ oldText: "old", newText: "new" }] }, "edited"],
    ] as const) {
      fixture.reset({ "a.txt": "old\n" });
      linkSync(path, fixture.path("other"));
      const items = await fixture.items(tool, params);
      expect(items.map(item => item.text)).toEqual([
        `Successfully ${done} ${path}`,
        "[other hard links to the file, not changed: 1]",
      ]);
      expect(fixture.read("other")).toBe("old\n");
    }
  });

  it("reports errors by code, and writes nothing", async () => {
    const outside = `${fixture.outside}/x`;
    expect(await fixture.fails("write_file", { path: outside, content: "" })).toEqual(notAllowed(outside));
    symlinkSync(`${fixture.outside}/made`, fixture.path("dangling"));
    expect(await fixture.fails("write_file", { path: fixture.path("dangling"), content: "" })).toMatchObject({
      code: -32001,
    });
    expect(readdirSync(fixture.outside)).toEqual([]);
    expect(await fixture.fails("write_file", { path: fixture.path("sub"), content: "" })).toMatchObject({
      code: -32603,
    });
    expect(await fixture.fails("write_file", { path: fixture.path("a.txt/x"), content: "" })).toMatchObject({
      code: -32603,
    });
    expect(await fixture.fails("write_file", { path: fixture.path("n") })).toEqual({
      code: -32602,
      message: "Missing required param: content",
    });
    expect(await fixture.fails("write_file", { path: fixture.path("n"), content: "\ud800" })).toMatchObject({
      code: -32603,
    });
    expect(fixture.has("n")).toBe(false);
  });
});

describe("create_directory", () => {
  it("makes it with its parents, and accepts an existing one", async () => {
    const path = fixture.path("x/y/z");
    for (const _ of [1, 2]) {
      expect(await fixture.says("create_directory", { path })).toBe(`Created directory ${path}`);
    }
    expect(statSync(path).isDirectory()).toBe(true);
    expect(await fixture.says("create_directory", { path: fixture.root })).toBe(
      `Created directory ${fixture.root}`,
    );
  });

  it("reports errors by code", async () => {
    expect(await fixture.fails("create_directory", { path: fixture.path("a.txt") })).toMatchObject({
      code: -32603,
    });
    const outside = `${fixture.outside}/d`;
    expect(await fixture.fails("create_directory", { path: outside })).toEqual(notAllowed(outside));
  });
});

describe("move_file", () => {
  it("moves, makes directories, and replaces a file that is there", async () => {
    const [source, destination] = [fixture.path("a.txt"), fixture.path("far/away.txt")];
    expect(await fixture.says("move_file", { source, destination })).toBe(
      `Moved ${source} -> ${destination}`,
    );
    await fixture.says("move_file", { source: destination, destination: fixture.path("sub/b.txt") });
    expect(fixture.read("sub/b.txt")).toBe("old\n");
    expect(fixture.has("far/away.txt")).toBe(false);
    await fixture.says("move_file", { source: fixture.path("sub"), destination: fixture.path("renamed") });
    expect(fixture.read("renamed/b.txt")).toBe("old\n");
  });

  it("reports errors by code, and moves nothing", async () => {
    const source = fixture.path("a.txt");
    const outside = `${fixture.outside}/x`;
    const to = (destination: string, from = source) =>
      fixture.fails("move_file", { source: from, destination });
    expect(await to(outside)).toEqual(notAllowed(outside));
    expect(await to(fixture.path("x"), outside)).toEqual(notAllowed(outside));
    expect(await to(fixture.path("x/y"), fixture.path("nope"))).toEqual({
      code: -32002,
      message: `File not found: ${fixture.path("nope")}`,
    });
    expect(fixture.has("x")).toBe(false);
    expect(await to(fixture.path("sub"))).toMatchObject({ code: -32603 });
    expect(await to(fixture.path("sub/in/itself"), fixture.path("sub"))).toMatchObject({ code: -32603 });
    expect(await fixture.fails("move_file", { source })).toMatchObject({ code: -32602 });
    expect(fixture.read("a.txt")).toBe("old\n");
  });
});

describe("delete_file", () => {
  it("deletes a file, a tree, and of a link only the link", async () => {
    symlinkSync("sub", fixture.path("link"));
    expect(await fixture.says("delete_file", { path: fixture.path("link") })).toBe(
      `Deleted ${fixture.path("link")}`,
    );
    expect(fixture.has("sub/b.txt")).toBe(true);
    expect(await fixture.says("delete_file", { path: fixture.path("sub") })).toBe(
      `Deleted ${fixture.path("sub")}`,
    );
    await fixture.says("delete_file", { path: fixture.path("a.txt") });
    expect(readdirSync(fixture.root).filter(name => !name.startsWith("."))).toEqual([]);
  });

  it("reports errors by code, and deletes nothing", async () => {
    expect(await fixture.fails("delete_file", { path: fixture.path("nope") })).toEqual({
      code: -32002,
      message: `File not found: ${fixture.path("nope")}`,
    });
    expect(await fixture.fails("delete_file", { path: fixture.outside })).toEqual(
      notAllowed(fixture.outside),
    );
    expect(await fixture.fails("delete_file", { path: fixture.root })).toMatchObject({ code: -32603 });
    symlinkSync(fixture.outside, fixture.path("out"));
    expect(await fixture.fails("delete_file", { path: fixture.path("out") })).toMatchObject({ code: -32001 });
    expect(fixture.has("out")).toBe(true);
  });
});

describe("a read-only directory", () => {
  it("refuses every tool that writes, and lets a dry run look", async () => {
    const file = `${fixture.readOnly}/r.txt`;
    fixture.write(file, "one\n");
    mkdirSync(`${fixture.readOnly}/d`);
    const edits = [{ oldText: "one", newText: "two" }];
    const calls: [string, object][] = [
      ["write_file", { path: file, content: "" }],
      ["write_file", { path: `${fixture.readOnly}/new`, content: "" }],
      ["create_directory", { path: `${fixture.readOnly}/new` }],
      ["create_directory", { path: fixture.readOnly }],
      ["move_file", { source: file, destination: fixture.path("x") }],
      ["move_file", { source: fixture.path("a.txt"), destination: file }],
      ["delete_file", { path: file }],
      ["delete_file", { path: `${fixture.readOnly}/nope` }],
      ["edit_file", { path: file, edits }],
      ["edit_files", { paths: [file], edits }],
      ["edit_files", { paths: [`${fixture.readOnly}/*.txt`], edits }],
    ];
    for (const [tool, params] of calls) {
      expect(await fixture.fails(tool, params), tool).toMatchObject({ code: -32001 });
    }
    expect(fixture.read(file)).toBe("one\n");
    expect(readdirSync(fixture.readOnly).sort()).toEqual(["d", "r.txt"]);
    const diff = `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-one\n+two\n`;
    expect(await fixture.says("edit_file", { path: file, edits, dryRun: true })).toBe(diff);
    expect(
      await fixture.says("edit_files", { paths: [`${fixture.readOnly}/*.txt`], edits, dryRun: true }),
    ).toBe(diff);
  });
});
