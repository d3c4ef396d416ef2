// Reading and listing by the `replay` contract, over the wire.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": "one\r\ntwo\n", "sub/b.txt": "b" }));

describe("read_file", () => {
  it("returns text unchanged, including byte-order mark and line endings", async () => {
    fixture.write("marked.txt", "\ufeffGrüße\r\n\n");
    expect(await fixture.says("read_file", { path: fixture.path("marked.txt") })).toBe("\ufeffGrüße\r\n\n");
    expect(await fixture.says("read_file", { path: fixture.path("a.txt") })).toBe("one\r\ntwo\n");
  });

  it("reads through a link that stays inside, and an empty file", async () => {
    symlinkSync("sub/b.txt", fixture.path("link"));
    fixture.write("empty", "");
    expect(await fixture.says("read_file", { path: fixture.path("link") })).toBe("b");
    expect(await fixture.says("read_file", { path: fixture.path("empty") })).toBe("");
  });

  const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);

  it("returns files that are not UTF-8, or have a NUL, as an embedded resource", async () => {
    fixture.write("p.png", binary);
    fixture.write("nul", "a\0b");
    const [item] = await fixture.items("read_file", { path: fixture.path("p.png") });
    expect(item).toEqual({
      type: "resource",
      resource: {
        uri: `file://${fixture.path("p.png")}`,
        mimeType: "image/png",
        blob: binary.toString("base64"),
      },
    });
    const [other] = await fixture.items("read_file", { path: fixture.path("nul") });
    expect(other).toMatchObject({ resource: { mimeType: "application/octet-stream", blob: "YQBi" } });
  });

  it.each(["2024-11-05", "2025-03-26"])("gives it as a blob item to clients of %s", async revision => {
    fixture.write("p.png", binary);
    const wire = await fixture.serve();
    await wire.initialize(revision);
    const { content } = await wire.call("read_file", { path: fixture.path("p.png") });
    expect(content).toEqual([{ type: "blob", data: binary.toString("base64"), mimeType: "image/png" }]);
  });

  it("gives it as a blob item to clients that negotiated no revision", async () => {
    fixture.write("p.png", binary);
    const wire = await fixture.serve();
    const { content } = await wire.call("read_file", { path: fixture.path("p.png") });
    expect(content).toEqual([{ type: "blob", data: binary.toString("base64"), mimeType: "image/png" }]);
  });

  it("reports a loop of links as a disk error, not as a parameter error", async () => {
    symlinkSync("circle", fixture.path("circle"));
    expect(await fixture.fails("read_file", { path: fixture.path("circle") })).toMatchObject({
      code: -32603,
    });
    expect(await fixture.fails("read_file", { path: "" })).toMatchObject({ code: -32602 });
  });

  it("reports errors by code", async () => {
    const missing = fixture.path("nope/x.txt");
    expect(await fixture.fails("read_file", { path: missing })).toEqual({
      code: -32002,
      message: `File not found: ${missing}`,
    });
    const outside = `${fixture.outside}/x`;
    expect(await fixture.fails("read_file", { path: outside })).toEqual(notAllowed(outside));
    expect(await fixture.fails("read_file", { path: fixture.path("sub") })).toMatchObject({ code: -32603 });
    expect(await fixture.fails("read_file")).toEqual({
      code: -32602,
      message: "Missing required param: path",
    });
    expect(await fixture.fails("read_file", { path: 7 })).toEqual({
      code: -32602,
      message: "Missing required param: path",
    });
  });

  it("refuses a file that is larger than any answer", async () => {
    fixture.write("huge", "");
    truncateSync(fixture.path("huge"), 3 * 1024 ** 3);
    expect(await fixture.fails("read_file", { path: fixture.path("huge") })).toMatchObject({ code: -32603 });
  });
});

describe("read_multiple_files", () => {
  it("gives an item per file, and what went wrong with one in its place", async () => {
    fixture.write("bin", Buffer.from([0xff, 0xfe, 0x41]));
    symlinkSync("sub", fixture.path("linked"));
    const outside = `${fixture.outside}/x`;
    const paths = ["a.txt", "bin", "nope", "sub", "linked/b.txt"].map(name => fixture.path(name));
    const items = await fixture.items("read_multiple_files", { paths: [...paths, outside] });
    expect(items.map(({ text }) => text)).toEqual([
      `${fixture.path("a.txt")}:\none\r\ntwo\n`,
      `${fixture.path("bin")}:\n[binary, base64]\n//5B`,
      `${fixture.path("nope")}:\n[error: File not found: ${fixture.path("nope")}]`,
      `${fixture.path("sub")}:\n[error: Path is a directory: ${fixture.path("sub")}]`,
      `${fixture.path("sub/b.txt")}:\nb`,
      `${outside}:\n[error: ${notAllowed(outside).message}]`,
    ]);
  });

  it("treats an entry that is not a path as unreadable", async () => {
    const items = await fixture.items("read_multiple_files", { paths: [7, fixture.path("sub/b.txt"), null] });
    expect(items.map(({ text }) => text)).toEqual([
      "7:\n[error: a path must be a string]",
      `${fixture.path("sub/b.txt")}:\nb`,
      "null:\n[error: a path must be a string]",
    ]);
    expect(await fixture.fails("read_multiple_files", { paths: "a.txt" })).toMatchObject({ code: -32602 });
  });

  it("reads fifty and says so about the rest", async () => {
    const paths = Array.from({ length: 51 }, () => fixture.path("sub/b.txt"));
    const items = await fixture.items("read_multiple_files", { paths });
    expect(items).toHaveLength(51);
    expect(items[49]?.text).toBe(`${fixture.path("sub/b.txt")}:\nb`);
    expect(items[50]?.text).toMatch(/^.*b\.txt:\n\[error: .*50.*\]$/);
  });

  it("reads up to 10 MB of a file, and expands no globs", async () => {
    fixture.write("ten", Buffer.alloc(10 * 1024 * 1024, "x"));
    fixture.write("more", Buffer.alloc(10 * 1024 * 1024 + 1, "x"));
    const paths = [fixture.path("ten"), fixture.path("more"), fixture.path("*.txt")];
    const items = await fixture.items("read_multiple_files", { paths });
    expect(items[0]?.text).toHaveLength(10 * 1024 * 1024 + `${paths[0]}:\n`.length);
    expect(items[1]?.text).toContain("[error: Too large");
    expect(items[2]?.text).toContain("[error: File not found");
  });

  it("stays within the size limit of an answer, whatever is requested", async () => {
    fixture.write("ten", Buffer.alloc(10 * 1024 * 1024, "x"));
    const items = await fixture.items("read_multiple_files", { paths: Array(8).fill(fixture.path("ten")) });
    expect(items.map(({ text }) => text.includes("[error: Too large"))).toEqual([
      ...Array(6).fill(false),
      true,
      true,
    ]);
  });

  it("needs paths", async () => {
    const missing = { code: -32602, message: "Missing required param: paths" };
    expect(await fixture.fails("read_multiple_files")).toEqual(missing);
    expect(await fixture.fails("read_multiple_files", { paths: "a.txt" })).toEqual(missing);
  });
});

describe("list_directory", () => {
  it("lists names by bytes, hidden ones too, links to directories as directories", async () => {
    fixture.reset({ "b.txt": "", "B.txt": "", ".env": "", é: "", "a/x": "" });
    symlinkSync("a", fixture.path("to-directory"));
    symlinkSync("b.txt", fixture.path("to-file"));
    symlinkSync(fixture.outside, fixture.path("to-outside"));
    expect((await fixture.says("list_directory", { path: fixture.root })).split("\n")).toEqual([
      "[FILE] .env",
      "[FILE] B.txt",
      "[DIR]  a",
      "[FILE] b.txt",
      "[DIR]  to-directory",
      "[FILE] to-file",
      "[FILE] to-outside",
      "[FILE] é",
    ]);
  });

  it("reports errors by code", async () => {
    expect(await fixture.fails("list_directory", { path: fixture.path("nope") })).toMatchObject({
      code: -32002,
    });
    expect(await fixture.fails("list_directory", { path: fixture.path("a.txt") })).toMatchObject({
      code: -32603,
    });
    expect(await fixture.fails("list_directory", { path: fixture.outside })).toEqual(
      notAllowed(fixture.outside),
    );
    expect(await fixture.fails("list_directory")).toMatchObject({ code: -32602 });
  });
});

describe("directory_tree", () => {
  const tree = async (params: object) => JSON.parse(await fixture.says("directory_tree", params));
  const file = (name: string) => ({ name, type: "file" });
  const directory = (name: string, ...children: unknown[]) => ({ name, type: "directory", children });

  beforeEach(() => {
    fixture.reset({ "a/x/deep.txt": "", "a.txt": "", ".hidden/h": "" });
    mkdirSync(fixture.path("empty"));
    symlinkSync("a", fixture.path("link"));
  });

  it("is the whole tree, sorted, links as files", async () => {
    expect(await tree({ path: fixture.root })).toEqual(
      directory(
        "root",
        directory(".hidden", file("h")),
        directory("a", directory("x", file("deep.txt"))),
        file("a.txt"),
        directory("empty"),
        file("link"),
      ),
    );
  });

  it("goes down as far as depth says", async () => {
    expect(await tree({ path: fixture.root, depth: 0 })).toEqual(directory("root"));
    expect(await tree({ path: fixture.root, depth: 1 })).toEqual(
      directory(
        "root",
        directory(".hidden"),
        directory("a"),
        file("a.txt"),
        directory("empty"),
        file("link"),
      ),
    );
    expect(await tree({ path: fixture.path("a"), depth: 1 })).toEqual(directory("a", directory("x")));
    expect(await tree({ path: fixture.path("link"), depth: 2 })).toEqual(
      directory("a", directory("x", file("deep.txt"))),
    );
  });

  it("handles a tree that is deeper than the longest path", async () => {
    mkdirSync(fixture.path("deep"));
    const script =
      'for (let i = 0; i < 1500; i++) { fs.mkdirSync("directory"); process.chdir("directory"); }';
    execFileSync(process.execPath, ["-e", script], { cwd: fixture.path("deep") });
    try {
      expect(await fixture.says("directory_tree", { path: fixture.path("deep") })).toMatch(/(\]\}){1501}$/);
    } finally {
      execFileSync("rm", ["-rf", fixture.path("deep")]); // deeper than rmSync can go
    }
  });
  it("reports errors by code", async () => {
    expect(await fixture.fails("directory_tree", { path: fixture.path("nope") })).toMatchObject({
      code: -32002,
    });
    expect(await fixture.fails("directory_tree", { path: fixture.outside })).toEqual(
      notAllowed(fixture.outside),
    );
    const wrong = await fixture.fails("directory_tree", { path: fixture.root, depth: "1" });
    expect(wrong).toEqual({
      code: -32602,
      message: 'Missing required param: depth (must be an integer, got "1")',
    });
  });
});

describe("get_file_info", () => {
  it("reports type, size, time and permissions", async () => {
    chmodSync(fixture.path("a.txt"), 0o640);
    utimesSync(fixture.path("a.txt"), 1_700_000_000, 1_700_000_000.5);
    expect(await fixture.says("get_file_info", { path: fixture.path("a.txt") })).toBe(
      "type: file\nsize: 9\nmodified: 2023-11-14T22:13:20.500Z\npermissions: 640",
    );
    chmodSync(fixture.path("sub"), 0o755);
    expect(await fixture.says("get_file_info", { path: fixture.path("sub") })).toMatch(
      /^type: directory\nsize: \d+\nmodified: .*Z\npermissions: 755$/,
    );
  });

  it("reports errors by code", async () => {
    expect(await fixture.fails("get_file_info", { path: fixture.path("nope") })).toMatchObject({
      code: -32002,
    });
    expect(await fixture.fails("get_file_info", { path: "/etc/passwd" })).toEqual(notAllowed("/etc/passwd"));
  });
});

describe("list_allowed_directories", () => {
  it("names each directory and how it may be used", async () => {
    expect(await fixture.says("list_allowed_directories")).toBe(
      `${fixture.root} (read-write)\n${fixture.readOnly} (read-only)`,
    );
  });
});
