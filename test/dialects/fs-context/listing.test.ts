// `list_allowed_directories`, `list_directory` and `search_files` over the wire.
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../../mcp/wire.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.with({
    "README.md": "# Read me\n",
    "src/app.ts": "export {};\n",
    "src/app.test.ts": "test\n",
    "src/deep/er/est.ts": "deepest\n",
    "big.bin": Buffer.alloc(5000),
    "node_modules/pkg/index.ts": "dependency\n",
    "dist/out.ts": "built\n",
    ".env": "SECRET=1\n",
    ".github/ci.yml": "on: push\n",
    "other/Thumbs.db": "x",
  });
  fixture.link("src", "link-to-src");
  fixture.link("/etc/passwd", "link-out");
  mkdirSync(join(fixture.path, "empty"));
  fixture.age("README.md", 1_000);
  fixture.age("big.bin", 2_000_000_000);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const listed = async (args: object) =>
  (await fixture.done("list_directory", { path: ".", ...args })).entries.map(entry => entry.relativePath);
const found = async (args: object) =>
  (await fixture.done("search_files", { path: ".", ...args })).results.map(({ path }) =>
    path.slice(fixture.path.length + 1),
  );

describe("allowed directories", () => {
  it("are reported", async () => {
    const { allowedDirectories } = await fixture.done("list_allowed_directories");
    expect(allowedDirectories).toEqual([realpathSync(fixture.path)]);
    expect(await fixture.text("list_allowed_directories")).toContain(fixture.path);
  });

  it("may be empty, and then the answer says what to do", async () => {
    await using wire = await start({ dialect: "fs-context" });
    await wire.initialize();
    const { content, structuredContent } = await wire.call("list_allowed_directories");
    expect(structuredContent).toEqual({ ok: true, allowedDirectories: [] });
    expect(JSON.stringify(content)).toContain("--allow-cwd");
    expect(await wire.call("read_file", { path: "package.json" })).toMatchObject({
      structuredContent: { error: { code: "E_ACCESS_DENIED" } },
    });
  });

  it("have the working directory with --allow-cwd", async () => {
    await using wire = await start({ dialect: "fs-context", args: ["--allow-cwd"], cwd: fixture.path });
    await wire.initialize();
    const { structuredContent } = await wire.call("list_allowed_directories");
    expect(structuredContent).toEqual({ ok: true, allowedDirectories: [realpathSync(fixture.path)] });
  });
});

describe("a directory", () => {
  it("is listed by name, without dotfiles, with links marked and not followed", async () => {
    expect(await fixture.text("list_directory", { path: fixture.path })).toBe(
      [
        `${fixture.path} (5 dirs, 2 files):`,
        "[FILE] README.md (10 B)",
        "[FILE] big.bin (4.9 KB)",
        "[DIR] dist",
        "[DIR] empty",
        "[LINK] link-out",
        "[LINK] link-to-src",
        "[DIR] node_modules",
        "[DIR] other",
        "[DIR] src",
        "",
        "Not followed: 2 symlinks.",
      ].join("\n"),
    );
  });

  it("has entries with name, relative path, type, size and date", async () => {
    const { entries, summary } = await fixture.done("list_directory", { path: "src", recursive: true });
    expect(entries[0]).toEqual({
      name: "app.test.ts",
      relativePath: "app.test.ts",
      type: "file",
      size: 5,
      modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect(entries.find(({ name }) => name === "est.ts")?.relativePath).toBe("deep/er/est.ts");
    expect(summary).toMatchObject({ totalFiles: 3, totalDirectories: 2, truncated: false });
  });

  it("may be empty", async () => {
    expect(await fixture.text("list_directory", { path: "empty" })).toBe("Empty directory");
  });

  it("may be named through a link that stays inside, and not through one that leads out", async () => {
    expect((await fixture.done("list_directory", { path: "link-to-src" })).entries).toHaveLength(3);
    expect((await fixture.failure("list_directory", { path: "link-out" })).code).toBe("E_ACCESS_DENIED");
  });

  it("shows dotfiles with includeHidden", async () => {
    expect(await listed({ includeHidden: true })).toEqual(expect.arrayContaining([".env", ".github"]));
    expect(await listed({})).not.toContain(".env");
  });

  it("is listed with all that is below it when recursive, as deep as maxDepth says", async () => {
    expect(await listed({ path: "src" })).toEqual(["app.test.ts", "app.ts", "deep"]);
    expect(await listed({ path: "src", recursive: true, maxDepth: 0 })).toEqual([
      "app.test.ts",
      "app.ts",
      "deep",
    ]);
    expect(await listed({ path: "src", recursive: true, maxDepth: 1 })).toContain("deep/er");
    expect(await listed({ path: "src", recursive: true, maxDepth: 1 })).not.toContain("deep/er/est.ts");
    expect(await listed({ path: "src", recursive: true })).toContain("deep/er/est.ts");
  });

  it("shows only what a pattern matches, and says if nothing does", async () => {
    expect(await listed({ recursive: true, pattern: "**/*.test.ts" })).toEqual(["src/app.test.ts"]);
    expect(await listed({ recursive: true, pattern: "*.ts" })).toEqual([]);
    expect(await fixture.text("list_directory", { path: ".", pattern: "*.rs" })).toBe("No matches for *.rs");
  });

  it("leaves out what excludePatterns name, written with or without '!'", async () => {
    const excludePatterns = ["node_modules/**", "!**/dist/**", "*.md"];
    const paths = await listed({ recursive: true, excludePatterns });
    expect(paths).not.toEqual(expect.arrayContaining([expect.stringMatching(/node_modules|dist|README/)]));
    expect(paths).toContain("src/app.ts");
    expect(await listed({ recursive: true })).toContain("node_modules/pkg/index.ts");
  });

  it.each([
    ["name", "README.md"],
    ["size", "big.bin"],
    ["modified", "big.bin"],
    ["type", "dist"],
  ])("sorts by %s", async (sortBy, first) => {
    const paths = await listed({
      sortBy,
      excludePatterns: ["src", "other", "empty", "node_modules", "link*"],
    });
    expect(paths[0]).toBe(first);
    expect(paths).toHaveLength(3);
  });

  it("directories and links have no size to be sorted by", async () => {
    const paths = await listed({ sortBy: "size" });
    const { entries } = await fixture.done("list_directory", { path: ".", sortBy: "size" });
    const sizes = entries.map(({ size }) => size ?? 0);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(paths.indexOf("README.md")).toBeLessThan(paths.indexOf("src"));
  });

  it("gives the first of the whole order when maxEntries cuts it, and says so", async () => {
    expect(await listed({ sortBy: "size", maxEntries: 1, recursive: true })).toEqual(["big.bin"]);
    const { summary } = await fixture.done("list_directory", { path: ".", maxEntries: 3 });
    expect(summary).toMatchObject({ truncated: true, stoppedReason: "maxEntries", totalEntries: 3 });
    expect(await fixture.text("list_directory", { path: ".", maxEntries: 3 })).toContain(
      "Truncated: 3 of 9 entries shown.",
    );
  });

  it("reports where links lead when asked", async () => {
    const said = await fixture.text("list_directory", { path: ".", includeSymlinkTargets: true });
    expect(said).toContain("[LINK] link-to-src -> src");
    const { entries } = await fixture.done("list_directory", { path: ".", includeSymlinkTargets: true });
    expect(entries.find(({ name }) => name === "link-to-src")).toMatchObject({ symlinkTarget: "src" });
    expect(await fixture.text("list_directory", { path: "." })).not.toContain("->");
  });
});

describe("files by glob", () => {
  it("are found by path order, without the built-in excludes, hidden names and links", async () => {
    expect(await fixture.text("search_files", { path: ".", pattern: "**/*" })).toBe(
      [
        "Found 5:",
        `[FILE] ${fixture.path}/README.md (10 B)`,
        `[FILE] ${fixture.path}/big.bin (4.9 KB)`,
        `[FILE] ${fixture.path}/src/app.test.ts (5 B)`,
        `[FILE] ${fixture.path}/src/app.ts (11 B)`,
        `[FILE] ${fixture.path}/src/deep/er/est.ts (8 B)`,
      ].join("\n"),
    );
    expect(await fixture.text("search_files", { path: ".", pattern: "*.rs" })).toBe("No matches");
  });

  it.each([
    ["**/*.ts", ["src/app.test.ts", "src/app.ts", "src/deep/er/est.ts"]],
    ["*.ts", []],
    ["src/*.ts", ["src/app.test.ts", "src/app.ts"]],
    ["src/**", ["src/app.test.ts", "src/app.ts", "src/deep/er/est.ts"]],
    ["src/**/*.{js,ts}", ["src/app.test.ts", "src/app.ts", "src/deep/er/est.ts"]],
    ["**/deep/**", ["src/deep/er/est.ts"]],
    ["**/*.test.ts", ["src/app.test.ts"]],
    ["README.md", ["README.md"]],
    ["!**/*.ts", ["README.md", "big.bin"]],
  ])("%s", async (pattern, paths) => {
    expect(await found({ pattern })).toEqual(paths);
  });

  it("are found in what is excluded by default only when excludePatterns say so", async () => {
    expect(await found({ pattern: "**/*.ts", excludePatterns: [] })).toEqual([
      "dist/out.ts",
      "node_modules/pkg/index.ts",
      "src/app.test.ts",
      "src/app.ts",
      "src/deep/er/est.ts",
    ]);
    expect(await found({ pattern: "**/*.ts", excludePatterns: ["src/**"] })).toEqual([
      "dist/out.ts",
      "node_modules/pkg/index.ts",
    ]);
    expect(await found({ pattern: "**/Thumbs.db" })).toEqual([]);
  });

  it("match by their base names with baseNameMatch", async () => {
    expect(await found({ pattern: "est.ts" })).toEqual([]);
    expect(await found({ pattern: "est.ts", baseNameMatch: true })).toEqual(["src/deep/er/est.ts"]);
  });

  it("may be hidden with includeHidden", async () => {
    expect(await found({ pattern: "**/*", includeHidden: true })).toEqual(
      expect.arrayContaining([".env", ".github/ci.yml"]),
    );
  });

  it.each([
    ["name", ["README.md", "app.test.ts"]],
    ["path", ["README.md", "big.bin"]],
    ["size", ["big.bin", "app.ts"]],
    ["modified", ["big.bin"]],
  ])("sort by %s over all that match, whatever the limit", async (sortBy, first) => {
    const paths = await found({ pattern: "**/*", sortBy, maxResults: first.length });
    expect(paths.map(path => path.split("/").at(-1))).toEqual(first);
  });

  it("are cut by maxResults, maxFilesScanned and maxDepth, with the reason", async () => {
    const cut = async (args: object) => {
      const { results, summary } = await fixture.done("search_files", {
        path: ".",
        pattern: "**/*",
        ...args,
      });
      return [results.length, summary.truncated, summary.stoppedReason];
    };
    expect(await cut({ maxResults: 2 })).toEqual([2, true, "maxResults"]);
    expect(await cut({ maxResults: 5 })).toEqual([5, false, undefined]);
    expect(await cut({ maxFilesScanned: 1 })).toEqual([1, true, "maxFiles"]);
    expect(await cut({ maxDepth: 0 })).toEqual([2, false, undefined]);
    expect(await cut({ maxDepth: 1 })).toEqual([4, false, undefined]);
    expect(await fixture.text("search_files", { path: ".", pattern: "**/*", maxResults: 2 })).toContain(
      "Truncated: there are more than 2 matches.",
    );
  });

  it("may be deeper than maxDepth, and then the answer says that directories were not searched", async () => {
    await using deep = await Fixture.with({ [`${"d/".repeat(12)}deepest.ts`]: "", "top.ts": "" });
    const answer = (args: object) =>
      deep.text("search_files", { path: ".", pattern: "**/deepest.ts", ...args });
    const note = "Not searched: 1 directory deeper than maxDepth (10).";
    expect(await answer({})).toBe(`No matches\n\n${note}`);
    expect(await answer({ maxDepth: 12 })).toMatch(/^Found 1:\n\S+ \S+deepest\.ts \(0 B\)$/);
    const { summary } = await deep.done("search_files", { path: ".", pattern: "**/*.ts" });
    expect(summary).toMatchObject({ matched: 1, skippedTooDeep: 1 });
  });

  it("are never searched for through links", async () => {
    expect(
      (await fixture.failure("search_files", { path: ".", pattern: "*", skipSymlinks: false })).code,
    ).toBe("E_INVALID_INPUT");
    expect(await found({ pattern: "link-to-src/**" })).toEqual([]);
    expect(await found({ pattern: "link-out" })).toEqual([]);
  });
});
