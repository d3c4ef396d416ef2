// Every parameter at both ends of its range, and beyond them. What each of them does is in the tests of its tool.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.with({ "a.txt": "a\nb\n" });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const megabyte = 1024 * 1024;
const least: Record<string, Record<string, unknown>> = {
  list_directory: { path: "." },
  search_files: { path: ".", pattern: "*" },
  search_content: { path: ".", pattern: "a" },
  read_file: { path: "a.txt" },
  read_multiple_files: { paths: ["a.txt"] },
  get_file_info: { path: "a.txt" },
  get_multiple_file_info: { paths: ["a.txt"] },
};

type Case = readonly [
  tool: string,
  parameter: string,
  accepted: readonly unknown[],
  refused: readonly unknown[],
];
const flags = (tool: string, ...names: string[]): Case[] =>
  names.map(name => [tool, name, [true, false], ["true", 1]]);
const searches = (tool: string): Case[] => [
  [tool, "path", ["."], [1, ["."], "\0"]],
  [tool, "excludePatterns", [[], ["**/x/**"]], ["x", [1]]],
  [tool, "maxResults", [1, 10_000], [0, 10_001, 1.5, "1"]],
  [tool, "maxFilesScanned", [1, 100_000], [0, 100_001]],
  [tool, "timeoutMs", [100, 3_600_000], [99, 3_600_001]],
  ...flags(tool, "includeHidden"),
];
const reads = (tool: string): Case[] => [
  [tool, "encoding", ["utf-8", "ascii", "base64", "hex", "latin1"], ["utf8", "utf-16", 8]],
  [tool, "maxSize", [4, 100 * megabyte], [0, 100 * megabyte + 1, -1]],
  [tool, "head", [1, 100_000], [0, 100_001, 1.5]],
  [tool, "tail", [1, 100_000], [0, 100_001, "all"]],
];

const cases: readonly Case[] = [
  ["list_directory", "path", ["."], [1, "", "a\0b"]],
  ["list_directory", "excludePatterns", [[], ["*.md"]], ["*.md", [null]]],
  ["list_directory", "pattern", ["**/*.txt"], [5]],
  ["list_directory", "sortBy", ["name", "size", "modified", "type"], ["path", "date"]],
  ["list_directory", "maxDepth", [0, 100], [-1, 101]],
  ["list_directory", "maxEntries", [1, 100_000], [0, 100_001]],
  ...flags("list_directory", "recursive", "includeSymlinkTargets", "includeHidden"),
  ...searches("search_files"),
  ["search_files", "pattern", ["**/*"], [1, null]],
  ["search_files", "sortBy", ["name", "size", "modified", "path"], ["type"]],
  ["search_files", "maxDepth", [0, 100], [-1, 101]],
  ...flags("search_files", "baseNameMatch"),
  ["search_files", "skipSymlinks", [true], [false, "no"]],
  ...searches("search_content"),
  ["search_content", "pattern", ["a"], ["", 7]],
  ["search_content", "filePattern", ["**/*"], [7]],
  ["search_content", "contextLines", [0, 10], [-1, 11]],
  ["search_content", "maxFileSize", [1, 100 * megabyte], [0, 100 * megabyte + 1]],
  ...flags("search_content", "caseSensitive", "wholeWord", "isLiteral", "skipBinary"),
  ["read_file", "path", ["a.txt"], ["", 3, "a\0.txt"]],
  ...reads("read_file"),
  ...flags("read_file", "skipBinary"),
  [
    "read_multiple_files",
    "paths",
    [["a.txt"], Array(100).fill("a.txt")],
    [[], Array(101).fill("a"), "a.txt"],
  ],
  ...reads("read_multiple_files"),
  ["read_multiple_files", "maxTotalSize", [1, 1024 * megabyte], [0, 1024 * megabyte + 1]],
  ["get_file_info", "path", ["a.txt"], ["", 1]],
  ["get_multiple_file_info", "paths", [["a.txt"], Array(100).fill(".")], [[], Array(101).fill("."), "."]],
  ...flags("get_multiple_file_info", "includeMimeType"),
];

describe.each(cases)("%s: %s", (tool, parameter, accepted, refused) => {
  it(`takes ${JSON.stringify(accepted).slice(0, 60)}`, async () => {
    for (const value of accepted) {
      expect(await fixture.done(tool, { ...least[tool], [parameter]: value })).toMatchObject({ ok: true });
    }
  });

  it(`refuses ${JSON.stringify(refused).slice(0, 60)}`, async () => {
    for (const value of refused) {
      const { code, suggestion } = await fixture.failure(tool, { ...least[tool], [parameter]: value });
      expect({ value, code }).toEqual({ value, code: "E_INVALID_INPUT" });
      expect(suggestion).not.toBe("");
    }
  });
});

describe("lineStart and lineEnd", () => {
  it.each(["read_file", "read_multiple_files"])("are at least 1 in %s", async tool => {
    const call = (lineStart: unknown, lineEnd: unknown) => ({ ...least[tool], lineStart, lineEnd });
    expect(await fixture.done(tool, call(1, 1))).toMatchObject({ ok: true });
    expect(await fixture.done(tool, call(2, Number.MAX_SAFE_INTEGER))).toMatchObject({ ok: true });
    for (const [from, to] of [
      [0, 1],
      [1, 0],
      ["1", 2],
    ])
      expect((await fixture.failure(tool, call(from, to))).code).toBe("E_INVALID_INPUT");
  });
});

describe("what is required", () => {
  it.each(Object.entries(least))("%s", async (tool, args) => {
    for (const name of Object.keys(args)) {
      const { [name]: _, ...rest } = args;
      const { code, message } = await fixture.failure(tool, rest);
      expect(code).toBe("E_INVALID_INPUT");
      expect(message).toContain(`'${name}' is required`);
    }
  });

  it("is tested for every parameter that the tools list", async () => {
    const { result } = await fixture.wire.request("tools/list");
    const tools = result?.tools as { name: string; inputSchema: { properties: object } }[];
    const listed = tools.flatMap(({ name, inputSchema }) =>
      Object.keys(inputSchema.properties).map(parameter => `${name} ${parameter}`),
    );
    const apart = listed.filter(one => !/ line(Start|End)$/.test(one));
    expect(new Set(cases.map(([tool, parameter]) => `${tool} ${parameter}`))).toEqual(new Set(apart));
  });
});

describe("globs", () => {
  it.each([
    "/etc/*",
    "../*",
    "a/../../*",
    "{a,../b}",
    "~/x",
    "src/[",
    "{a",
    "{a,b}".repeat(30),
    "",
    "x".repeat(5000),
  ])("%s is refused in every parameter that takes a pattern", async pattern => {
    for (const [tool, args] of [
      ["list_directory", { pattern }],
      ["list_directory", { excludePatterns: [pattern] }],
      ["search_files", { pattern }],
      ["search_files", { pattern: "*", excludePatterns: [pattern] }],
      ["search_content", { filePattern: pattern }],
      ["search_content", { excludePatterns: [pattern] }],
    ] as const) {
      const { code, message } = await fixture.failure(tool, { ...least[tool], ...args });
      expect(code).toBe("E_INVALID_PATTERN");
      expect(message).toContain("Invalid glob pattern");
    }
  });
});
