// Every code of the contract over the wire, with its message and suggestion; and a server that answers others
// while a search runs into its time limit.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../../mcp/wire.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.with({ "a.txt": "a\n", "dir/b.txt": "b\n", "slow.txt": `${"a".repeat(40)}!\n` });
  fixture.link("/etc", "out");
  fixture.link("loop-b", "loop-a");
  fixture.link("loop-a", "loop-b");
  fixture.link("gone", "dangling");
});
afterAll(() => fixture[Symbol.asyncDispose]());

// Exponential for a backtracking engine, and only JavaScript has it.
const runaway = "^(?=(a+)+$)x";

describe("each code is said with its message, path and suggestion", () => {
  it.each([
    [
      "E_ACCESS_DENIED",
      "read_file",
      { path: "/etc/passwd" },
      "Access denied: Path '/etc/passwd' is outside allowed directories",
      "Check `list_allowed_directories`",
    ],
    [
      "E_ACCESS_DENIED",
      "read_file",
      { path: "out/passwd" },
      "Access denied: Path 'out/passwd' is outside allowed directories",
      "Check `list_allowed_directories`",
    ],
    [
      "E_NOT_FOUND",
      "read_file",
      { path: "nope/x" },
      "Path does not exist: nope/x",
      "Verify path with `list_directory`",
    ],
    [
      "E_NOT_FOUND",
      "get_file_info",
      { path: "dangling" },
      "Path does not exist: dangling",
      "Verify path with `list_directory`",
    ],
    ["E_NOT_FILE", "read_file", { path: "dir" }, "Not a file: dir", "Use `list_directory` instead"],
    [
      "E_NOT_DIRECTORY",
      "list_directory",
      { path: "a.txt" },
      "Not a directory: a.txt",
      "Use `read_file` instead",
    ],
    [
      "E_NOT_DIRECTORY",
      "search_files",
      { path: "a.txt", pattern: "*" },
      "Not a directory: a.txt",
      "Use `read_file` instead",
    ],
    [
      "E_TOO_LARGE",
      "read_file",
      { path: "a.txt", maxSize: 1 },
      "File too large: 2 bytes (max: 1 bytes). Use head, tail, or lineRange for partial reads.",
      "Use `head/tail` or increase `maxSize`",
    ],
    [
      "E_INVALID_PATTERN",
      "search_content",
      { path: ".", pattern: "(" },
      "Invalid regular expression: ( (Unterminated group)",
      "Check pattern syntax",
    ],
    [
      "E_INVALID_PATTERN",
      "search_files",
      { path: ".", pattern: "[" },
      "Invalid glob pattern: [ (unclosed '[' or '{')",
      "Check pattern syntax",
    ],
    [
      "E_TIMEOUT",
      "search_content",
      { path: ".", pattern: runaway, timeoutMs: 200 },
      `Timed out after 200 ms: nothing matched ${runaway} by then`,
      "Reduce scope or increase limits",
    ],
    [
      "E_INVALID_INPUT",
      "read_file",
      { path: "a.txt", head: 1, lineStart: 1, lineEnd: 1 },
      "head/tail cannot be combined with lineStart/lineEnd",
      expect.any(String),
    ],
    ["E_INVALID_INPUT", "read_file", { path: "a\0b" }, expect.stringContaining("NUL"), expect.any(String)],
    [
      "E_SYMLINK_NOT_ALLOWED",
      "read_file",
      { path: "loop-a" },
      expect.stringContaining("symbolic links"),
      expect.any(String),
    ],
  ])("%s by %s %j", async (code, tool, args, message, suggestion) => {
    const answer = await fixture.call(tool, args);
    expect(answer.isError).toBe(true);
    const { ok, error } = answer.structuredContent;
    expect(ok).toBe(false);
    expect(error).toMatchObject({ code, message, suggestion });
    const lines = [`Error [${error.code}]: ${error.message}`];
    if ("path" in args) expect(error.path).toBeDefined();
    if (error.path !== undefined) lines.push(`Path: ${error.path}`);
    expect(answer.content).toEqual([
      { type: "text", text: [...lines, `Suggestion: ${error.suggestion}`].join("\n") },
    ]);
  });

  it("E_PERMISSION_DENIED where the system refuses", async () => {
    const root = mkdtempSync(join(tmpdir(), "polyfs-denied-"));
    writeFileSync(join(root, "closed.txt"), "x", { mode: 0 });
    mkdirSync(join(root, "closed"), { mode: 0 });
    await using served = await asNobody(root);
    for (const [tool, args] of [
      ["read_file", { path: join(root, "closed.txt") }],
      ["list_directory", { path: join(root, "closed") }],
      ["search_content", { path: join(root, "closed"), pattern: "x" }],
    ] as const) {
      expect(await served.call(tool, args)).toMatchObject({
        isError: true,
        structuredContent: {
          error: { code: "E_PERMISSION_DENIED", suggestion: "Check file permissions" },
        },
      });
    }
    const { structuredContent } = await served.call("list_directory", { path: root, recursive: true });
    expect(structuredContent).toMatchObject({ summary: { skippedInaccessible: 1 } });
    rmSync(root, { recursive: true });
  });

  it("an entry of which only the name is readable does not fail a listing or a search", async () => {
    const root = mkdtempSync(join(tmpdir(), "polyfs-seen-"));
    mkdirSync(join(root, "seen"));
    writeFileSync(join(root, "seen/name.txt"), "word");
    writeFileSync(join(root, "open.txt"), "word");
    chmodSync(join(root, "seen"), 0o644);
    await using served = await asNobody(root);
    expect(await served.call("list_directory", { path: root, recursive: true })).toMatchObject({
      content: [{ text: expect.stringContaining("Skipped: 1 entry of which nothing but the name") }],
      structuredContent: {
        ok: true,
        entries: [{ name: "open.txt" }, { name: "seen" }],
        summary: { skippedInaccessible: 1 },
      },
    });
    for (const pattern of ["word", "wor[d]"]) {
      expect(await served.call("search_content", { path: root, pattern })).toMatchObject({
        structuredContent: { ok: true, matches: [{ file: join(root, "open.txt") }] },
      });
    }
    expect(await served.call("search_files", { path: root, pattern: "**/*.txt" })).toMatchObject({
      structuredContent: {
        ok: true,
        results: [{ path: join(root, "open.txt") }],
        summary: { skippedInaccessible: 1 },
      },
    });
    chmodSync(join(root, "seen"), 0o755);
    rmSync(root, { recursive: true });
  });

  it.runIf(process.platform === "linux")("E_UNKNOWN for other errors of the system", async () => {
    const path = `/proc/${process.pid}/mem`;
    await using wire = await start({ dialect: "fs-context", roots: [`/proc/${process.pid}`] });
    await wire.initialize();
    expect(await wire.call("read_file", { path })).toMatchObject({
      isError: true,
      structuredContent: { ok: false, error: { code: "E_UNKNOWN", message: expect.stringContaining("EIO") } },
    });
  });

  it("a tool that does not exist is a protocol error", async () => {
    const { error } = await fixture.wire.request("tools/call", { name: "write_file", arguments: {} });
    expect(error).toMatchObject({ code: -32602, message: "Unknown tool: write_file" });
  });
});

describe("a search that takes too long", () => {
  it("by its pattern does not block other calls, or later ones", async () => {
    const done: string[] = [];
    const slow = fixture
      .failure("search_content", { path: ".", pattern: runaway, timeoutMs: 6000 })
      .then(({ code }) => done.push(code));
    const fast = async () => {
      await fixture.wire.request("ping");
      await fixture.done("read_file", { path: "a.txt" });
      await fixture.done("search_content", { path: ".", pattern: "b" });
      await fixture.done("search_content", { path: "dir", pattern: "(?<!x)b" });
      done.push("others");
    };
    await fast();
    await slow;
    expect(done).toEqual(["others", "E_TIMEOUT"]);
    await fast();
  });

  it("by many patterns at a time ends each of them in its time", async () => {
    const codes = await Promise.all(
      Array.from({ length: 6 }, () =>
        fixture.failure("search_content", { path: ".", pattern: runaway, timeoutMs: 300 }),
      ),
    );
    expect(codes.map(({ code }) => code)).toEqual(Array(6).fill("E_TIMEOUT"));
  });

  it("by a pattern that only looks endless is answered", async () => {
    const { matches } = await fixture.done("search_content", { path: ".", pattern: "^(a+)+$" });
    expect(matches.map(({ content }) => content)).toEqual(["a"]);
  });

  it("returns what it has, and says why it is incomplete", async () => {
    await using other = await Fixture.with({ "1.txt": "aaa\n", "2.txt": `${"a".repeat(40)}!\n` });
    const args = { path: ".", pattern: "^(?=(a+)+$)a", timeoutMs: 4000 };
    const { content, structuredContent } = await other.call("search_content", args);
    expect(structuredContent.matches).toHaveLength(1);
    expect(structuredContent.summary).toMatchObject({ truncated: true, stoppedReason: "timeout" });
    expect(content[0]?.text).toContain("Truncated: stopped after 4000 ms.");
  });

  it("by the size of the tree ends in E_TIMEOUT, while the server answers", async () => {
    const args = ["--allow-filesystem-root"];
    await using wire = await start({ dialect: "fs-context", roots: ["/"], args });
    await wire.initialize();
    const limits = { path: "/", timeoutMs: 100, maxFilesScanned: 100_000, maxDepth: 100 };
    const calls = [
      wire.call("search_files", { ...limits, pattern: "**/nothing" }),
      wire.call("search_files", { ...limits, pattern: "**/nothing" }),
      wire.call("search_content", { ...limits, pattern: "(?=nothing holds this line of text)" }),
    ];
    await wire.request("ping");
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ isError: true, structuredContent: { error: { code: "E_TIMEOUT" } } });
    }
  });
});

/** A server without the superuser's rights. */
async function asNobody(root: string) {
  const { spawn } = await import("node:child_process");
  const { ProcessWire } = await import("../../mcp/wire.ts");
  chmodSync(root, 0o755);
  const program = join(import.meta.dirname, "../../../dist/polyfs.cjs");
  const uid = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const wire = new ProcessWire(spawn(process.execPath, [program, "--dialect", "fs-context", root], uid));
  await wire.initialize();
  return wire;
}
