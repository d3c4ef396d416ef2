// The `fs` contract over the wire: each example, default, limit and error of the document.
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProcessWire, start } from "../../mcp/wire.ts";

let tree: string;
let wire: ProcessWire;

const files: Record<string, string> = {
  "Cargo.toml": '[package]\nname = "demo"\n',
  "src/backend.rs": [
    "const DEFAULT_MAX_BYTES: usize = 65536;",
    "fn check(root: &Path) -> Result<()> {",
    "    if !root.is_dir() {",
    "            return Err(anyhow!(",
    '                "root directory is not a directory: {}",',
    "                root.display()",
    "            ));",
    "    }",
    "    serve_server(root)",
    "}",
    "",
  ].join("\n"),
  "src/deep/util.rs": "// Serve_Server again\nfn x() {}\n",
  "src/crlf.rs": "one\r\ntwo serve_server\r\nthree\r\n",
  "logs/app.log": "Größe\n".repeat(2000),
  "target/ignored.rs": "serve_server\n",
  ".hidden/secret.rs": "serve_server\n",
  ".env": "serve_server\n",
  ".gitignore": "target/\n*.tmp\n",
  "nested/.gitignore": "!keep.tmp\n",
  "nested/keep.tmp": "serve_server kept\n",
  "nested/drop.bak": "x\n",
  "nested/.ignore": "*.bak\n",
  "empty.txt": "",
  "no-newline.txt": "last",
};

beforeAll(async () => {
  tree = mkdtempSync(join(tmpdir(), "polyfs-fs-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  }
  writeFileSync(join(tree, "binary.bin"), Buffer.from([0x66, 0xff, 0xfe, 0x00, 0x73]));
  utimesSync(join(tree, "Cargo.toml"), 1_730_500_000, 1_730_500_000);
  symlinkSync("/etc", join(tree, "out"));
  symlinkSync("src", join(tree, "linked-src"));
  wire = await start({ dialect: "fs", roots: [tree] });
  await wire.initialize();
});

afterAll(async () => {
  await wire.close();
  expect(wire.garbage).toEqual([]);
  rmSync(tree, { recursive: true });
});

interface Listing {
  entries: { path: string; is_dir: boolean; size?: number; modified?: number }[];
  has_more: boolean;
}
interface Hits {
  hits: {
    path: string;
    line: number;
    column: number;
    line_text: string;
    context_before: string[];
    context_after: string[];
  }[];
  has_more: boolean;
}
interface Content {
  path: string;
  content: string;
  is_truncated: boolean;
  range: Record<string, unknown>;
}

async function answer<T>(name: string, args: object): Promise<T> {
  const result = (await wire.call(name, args)) as {
    content: { type: string; text: string }[];
    isError?: boolean;
  };
  expect(result.content).toHaveLength(1);
  expect(result.isError ?? false).toBe(false);
  return JSON.parse(result.content[0]?.text ?? "");
}
const list = (args: object) => answer<Listing>("fs.list_files", args);
const read = (args: object) => answer<Content>("fs.read_file", args);
const search = (args: object) => answer<Hits>("fs.search_text", args);
const paths = async (args: object) => (await list(args)).entries.map(entry => entry.path);

async function failure(name: string, args: unknown) {
  const { error } = await wire.request("tools/call", { name, arguments: args });
  return error;
}

describe("tools", () => {
  it("are advertised with the prefix and answer to both names", async () => {
    const { result } = await wire.request("tools/list");
    expect(((result?.tools ?? []) as { name: string }[]).map(tool => tool.name)).toEqual([
      "fs.list_files",
      "fs.read_file",
      "fs.search_text",
    ]);
    expect(await answer("list_files", { root: "src" })).toEqual(
      await answer("fs.list_files", { root: "src" }),
    );
  });

  it("are advertised without dots for clients that refuse them", async () => {
    await using plain = await start({ dialect: "fs", roots: [tree], args: ["--plain-names"] });
    const { result } = await plain.request("tools/list");
    expect(((result?.tools ?? []) as { name: string }[]).map(tool => tool.name)).toEqual([
      "list_files",
      "read_file",
      "search_text",
    ]);
    await plain.call("list_files");
    await plain.call("fs.list_files");
  });

  it("serve the working directory when none is named", async () => {
    await using here = await start({ dialect: "fs", cwd: tree });
    const result = await here.call("fs.read_file", { path: "no-newline.txt" });
    expect(JSON.stringify(result)).toContain("last");
  });
});

describe("fs.list_files", () => {
  it("lists files only, relative to the server root, sorted, without hidden, ignored and linked ones", async () => {
    expect(await list({})).toEqual({
      entries: [
        "Cargo.toml",
        "binary.bin",
        "empty.txt",
        "linked-src",
        "logs/app.log",
        "nested/keep.tmp",
        "no-newline.txt",
        "out",
        "src/backend.rs",
        "src/crlf.rs",
        "src/deep/util.rs",
      ]
        .filter(path => path !== "linked-src" && path !== "out")
        .map(path => ({ path, is_dir: false })),
      has_more: false,
    });
  });

  it("gives paths relative to the server root also below a root of the call", async () => {
    expect(await paths({ root: "src", include_globs: ["**/*.rs"] })).toEqual([
      "src/backend.rs",
      "src/crlf.rs",
      "src/deep/util.rs",
    ]);
    expect(await paths({ root: "./src/" })).toEqual(await paths({ root: "src" }));
  });

  it("does not recurse when told not to", async () => {
    expect(await paths({ root: ".", recursive: false, max_results: 100 })).toEqual([
      "Cargo.toml",
      "binary.bin",
      "empty.txt",
      "no-newline.txt",
    ]);
    expect(await paths({ root: "src", recursive: false, include_dirs: true })).toEqual([
      "src/backend.rs",
      "src/crlf.rs",
      "src/deep",
    ]);
  });

  it("includes directories when asked to", async () => {
    const { entries } = await list({ include_dirs: true });
    expect(entries.filter(entry => entry.is_dir).map(entry => entry.path)).toEqual([
      "logs",
      "nested",
      "src",
      "src/deep",
    ]);
  });

  it("matches globs on the whole path, where a star crosses slashes, and excludes first", async () => {
    expect(await paths({ include_globs: ["*.rs"] })).toEqual([
      "src/backend.rs",
      "src/crlf.rs",
      "src/deep/util.rs",
    ]);
    expect(await paths({ include_globs: ["src/{crlf,backend}.rs"] })).toEqual([
      "src/backend.rs",
      "src/crlf.rs",
    ]);
    expect(await paths({ include_globs: ["*.rs", "*.toml"], exclude_globs: ["src/deep/**"] })).toEqual([
      "Cargo.toml",
      "src/backend.rs",
      "src/crlf.rs",
    ]);
    expect(await paths({ include_globs: ["*.rs"], exclude_globs: ["src", "src/deep"] })).toEqual(
      await paths({ include_globs: ["*.rs"] }),
    );
    expect(await paths({ root: "src", include_globs: ["src/c*"] })).toEqual(["src/crlf.rs"]);
    expect(await paths({ include_globs: ["*.RS"] })).toEqual([]);
    expect(await paths({ include_globs: [], exclude_globs: [] })).toEqual(await paths({}));
    expect(await paths({ include_globs: ["src/?rlf.rs", "[Cc]argo*"] })).toEqual([
      "Cargo.toml",
      "src/crlf.rs",
    ]);
  });

  it("gives size and time in seconds with include_metadata, and neither without", async () => {
    const { entries } = await list({ include_globs: ["Cargo.toml"], include_metadata: true });
    expect(entries).toEqual([{ path: "Cargo.toml", is_dir: false, size: 24, modified: 1_730_500_000 }]);
  });

  it("pages: the pages joined are the whole, and has_more is true exactly before another entry", async () => {
    const whole = await paths({});
    for (const size of [1, 2, 4, whole.length, 50]) {
      const joined: string[] = [];
      for (let skip = 0; ; skip += size) {
        const page = await list({ max_results: size, skip });
        joined.push(...page.entries.map(entry => entry.path));
        expect(page.has_more).toBe(skip + size < whole.length);
        if (!page.has_more) break;
      }
      expect(joined).toEqual(whole);
    }
    expect(await list({ skip: 1000 })).toEqual({ entries: [], has_more: false });
    expect(await list({ max_results: 0 })).toEqual({ entries: [], has_more: true });
  });

  it("answers from its cache as from the disk, whatever was asked before", async () => {
    await new Promise(resolve => setTimeout(resolve, 2100)); // from then on a directory can be recognised
    const questions = [
      {},
      { include_dirs: true },
      { root: "src" },
      { root: "src", include_dirs: true },
      { include_globs: ["*.rs"] },
      { include_globs: ["src/*"], include_dirs: true },
      { skip: 2, max_results: 3 },
    ];
    const bare = ({ entries, has_more }: Listing) => ({
      entries: entries.map(({ path, is_dir }) => ({ path, is_dir })),
      has_more,
    });
    for (let round = 0; round < 3; round++)
      for (const question of questions) {
        // With metadata each entry is asked about, so nothing that was made before is of use.
        const asked = await list({ ...question, include_metadata: true });
        expect(await list(question), JSON.stringify(question)).toEqual(bare(asked));
      }
  });

  it("refuses a root that is missing, leads outside or is a file", async () => {
    expect(await failure("fs.list_files", { root: "nope" })).toMatchObject({
      code: -32603,
      message: "list_files_failed: failed to canonicalize path: nope",
    });
    for (const root of ["..", "/etc", "out", "out/ssl", "src/../.."]) {
      expect(await failure("fs.list_files", { root })).toMatchObject({
        code: -32603,
        message: `list_files_failed: path escapes repository root: ${root}`,
      });
    }
    expect(await failure("fs.list_files", { root: "Cargo.toml" })).toMatchObject({ code: -32603 });
  });

  it("refuses an invalid glob, and one that would explode", async () => {
    expect(await failure("fs.list_files", { include_globs: ["src/[a"] })).toMatchObject({
      code: -32603,
      message: "list_files_failed: invalid glob pattern: src/[a",
    });
    expect(await failure("fs.list_files", { exclude_globs: ["{a,b}".repeat(25)] })).toMatchObject({
      code: -32603,
    });
  });
});

describe("exclude_globs", () => {
  it("apply to the paths that they match, not to what is below them", async () => {
    await using here = await start({ dialect: "fs", roots: [tree] });
    const said = async (exclude_globs: string[]) =>
      JSON.stringify(await here.call("fs.list_files", { root: "src", exclude_globs }));
    expect(await said(["src"])).toContain("src/backend.rs");
    expect(await said(["src/**"])).not.toContain("src/backend.rs");
    expect(await said(["src/backend.rs"])).not.toContain("src/backend.rs");
  });
});

describe("fs.read_file", () => {
  it("reads a file in one shot by bytes", async () => {
    expect(await read({ path: "Cargo.toml", range_type: "bytes", offset_bytes: 0, max_bytes: 4096 })).toEqual(
      {
        path: "Cargo.toml",
        content: files["Cargo.toml"],
        is_truncated: false,
        range: { range_type: "bytes", offset_bytes: 0, max_bytes: 4096, start_line: null, max_lines: null },
      },
    );
  });

  it("reads 64 KiB from the start by default", async () => {
    writeFileSync(join(tree, "logs/big.txt"), "x".repeat(70_000));
    const { content, is_truncated, range } = await read({ path: "logs/big.txt" });
    expect([content.length, is_truncated]).toEqual([65_536, true]);
    expect(range).toEqual({
      range_type: "bytes",
      offset_bytes: 0,
      max_bytes: 65_536,
      start_line: null,
      max_lines: null,
    });
    rmSync(join(tree, "logs/big.txt"));
  });

  it("pages by bytes and leaves out a character that is cut at an edge", async () => {
    const whole = files["logs/app.log"] ?? "";
    const bytes = Buffer.from(whole);
    for (const [offset, most] of [
      [0, 3],
      [3, 1],
      [3, 4],
      [4, 100],
      [bytes.length - 5, 100],
    ] as const) {
      const { content, is_truncated } = await read({
        path: "logs/app.log",
        offset_bytes: offset,
        max_bytes: most,
      });
      const expected = bytes
        .subarray(offset, offset + most)
        .toString("utf8")
        .replaceAll("\ufffd", "");
      expect(content, `${offset}+${most}`).toBe(expected);
      expect(is_truncated).toBe(offset + most < bytes.length);
    }
    expect(await read({ path: "logs/app.log", offset_bytes: bytes.length + 5 })).toMatchObject({
      content: "",
      is_truncated: false,
    });
  });

  it("reads lines, implied by line fields, with \\r\\n turned into \\n", async () => {
    expect(await read({ path: "src/crlf.rs", start_line: 1, max_lines: 2 })).toEqual({
      path: "src/crlf.rs",
      content: "one\ntwo serve_server\n",
      is_truncated: true,
      range: { range_type: "lines", offset_bytes: null, max_bytes: null, start_line: 1, max_lines: 2 },
    });
    expect(
      await read({ path: "src/crlf.rs", range_type: "lines", start_line: 3, max_lines: 40 }),
    ).toMatchObject({
      content: "three\n",
      is_truncated: false,
    });
    expect(await read({ path: "src/crlf.rs", range_type: "lines", start_line: 9 })).toMatchObject({
      content: "",
      is_truncated: false,
      range: { start_line: 9, max_lines: 200 },
    });
    expect(await read({ path: "no-newline.txt", start_line: 1 })).toMatchObject({
      content: "last\n",
      is_truncated: false,
    });
    expect((await read({ path: "logs/app.log", range_type: "lines" })).content).toBe("Größe\n".repeat(200));
  });

  it("reads a window at the end of 2 GB at once, in little memory", async () => {
    const path = join(tree, "logs/huge.txt");
    writeFileSync(path, "");
    truncateSync(path, 2_000_000_000);
    writeFileSync(path, "the end\n", { flag: "a" });
    const { content, is_truncated } = await read({
      path: "logs/huge.txt",
      offset_bytes: 2_000_000_000,
      max_bytes: 100,
    });
    expect([content, is_truncated]).toEqual(["the end\n", false]);
    const status = (await import("node:fs")).readFileSync(`/proc/${wire.child.pid}/status`, "utf8");
    expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toBeLessThan(200);
    rmSync(path);
  });

  it("refuses fields of the other mode, line 0, text that is not UTF-8, directories, missing files and paths outside", async () => {
    const cases: [object, string][] = [
      [
        { path: "Cargo.toml", range_type: "bytes", start_line: 1 },
        "invalid read_file arguments: start_line/max_lines cannot be used with bytes range_type",
      ],
      [
        { path: "Cargo.toml", range_type: "lines", max_bytes: 1 },
        "invalid read_file arguments: offset_bytes/max_bytes cannot be used with lines range_type",
      ],
      [{ path: "Cargo.toml", start_line: 0 }, "start_line must be >= 1"],
      [{ path: "binary.bin" }, "file is not valid UTF-8, binary files are not supported: binary.bin"],
      [
        { path: "binary.bin", start_line: 1 },
        "file is not valid UTF-8, binary files are not supported: binary.bin",
      ],
      [{ path: "nope.txt" }, "failed to canonicalize path: nope.txt"],
      [{ path: "../x" }, "path escapes repository root: ../x"],
      [{ path: "/etc/passwd" }, "path escapes repository root: /etc/passwd"],
      [{ path: "out/passwd" }, "path escapes repository root: out/passwd"],
    ];
    for (const [args, text] of cases) {
      expect(await failure("fs.read_file", args)).toMatchObject({
        code: -32603,
        message: `read_file_failed: ${text}`,
      });
    }
    expect(await failure("fs.read_file", { path: "src" })).toMatchObject({ code: -32603 });
    expect(await failure("fs.read_file", { path: "" })).toMatchObject({ code: -32603 });
  });

  it("refuses bad parameters as such", async () => {
    for (const args of [
      {},
      { path: 7 },
      { path: "a", max_bytes: -1 },
      { path: "a", range_type: "words" },
      "x",
      [1],
    ]) {
      expect(await failure("fs.read_file", args)).toMatchObject({ code: -32602 });
    }
    expect(await failure("fs.nope", {})).toMatchObject({ code: -32602 });
  });
});

describe("fs.search_text", () => {
  it("finds literally, ignoring case, with two lines of context", async () => {
    const { hits, has_more } = await search({ query: "ROOT DIRECTORY IS NOT" });
    expect(has_more).toBe(false);
    expect(hits).toEqual([
      {
        path: "src/backend.rs",
        line: 5,
        column: 17,
        line_text: '                "root directory is not a directory: {}",',
        context_before: ["    if !root.is_dir() {", "            return Err(anyhow!("],
        context_after: ["                root.display()", "            ));"],
      },
    ]);
  });

  it("returns one hit per line, sorted by path and line, without ignored and hidden files", async () => {
    const { hits } = await search({ query: "serve_server", context_lines: 0 });
    expect(hits.map(hit => [hit.path, hit.line, hit.column, hit.line_text])).toEqual([
      ["nested/keep.tmp", 1, 0, "serve_server kept"],
      ["src/backend.rs", 9, 4, "    serve_server(root)"],
      ["src/crlf.rs", 2, 4, "two serve_server"],
      ["src/deep/util.rs", 1, 3, "// Serve_Server again"],
    ]);
    expect(hits.every(hit => hit.context_before.length === 0 && hit.context_after.length === 0)).toBe(true);
  });

  it("counts columns in bytes", async () => {
    writeFileSync(join(tree, "src/umlaut.rs"), "äöü needle\n");
    expect((await search({ query: "needle" })).hits).toMatchObject([{ column: 7 }]);
    rmSync(join(tree, "src/umlaut.rs"));
  });

  it("respects case when told to", async () => {
    expect((await search({ query: "Serve_Server", case_sensitive: true })).hits).toMatchObject([
      { path: "src/deep/util.rs" },
    ]);
  });

  it("searches expressions line by line", async () => {
    const { hits } = await search({
      query: "const DEFAULT_MAX_[A-Z_]+: \\w+ = \\d+",
      mode: "regex",
      root: "src",
      include_globs: ["**/*.rs"],
      max_results: 10,
      context_lines: 0,
    });
    expect(hits).toMatchObject([{ path: "src/backend.rs", line: 1, column: 0 }]);
    expect((await search({ query: "anyhow.*root", mode: "regex" })).hits).toEqual([]);
    expect((await search({ query: "one\\r?\\ntwo", mode: "regex" })).hits).toEqual([]);
    expect((await search({ query: "three$", mode: "regex" })).hits).toMatchObject([
      { path: "src/crlf.rs", line_text: "three" },
    ]);
  });

  it("counts lines as read_file does, in a file without a line feed too", async () => {
    const path = "old-mac.txt";
    writeFileSync(join(tree, path), "first\rsecond\r");
    try {
      for (const [query, mode] of [
        ["second", "literal"],
        ["s[e]cond", "regex"],
      ]) {
        const [hit] = (await search({ query, mode, include_globs: [path] })).hits;
        const { content } = await read({ path, start_line: hit?.line, max_lines: 1 });
        expect(content).toBe(`${hit?.line_text}\n`);
      }
    } finally {
      rmSync(join(tree, path));
    }
  });

  it("takes literal text literally", async () => {
    expect((await search({ query: "Err(anyhow!(" })).hits).toHaveLength(1);
    expect((await search({ query: "-e" })).hits).toEqual([]);
    expect((await search({ query: "--files" })).hits).toEqual([]);
  });

  it("narrows by root and globs, as list_files does", async () => {
    const found = async (args: object) =>
      (await search({ query: "serve_server", ...args })).hits.map(hit => hit.path);
    expect(await found({ root: "src", exclude_globs: ["src/deep/**"] })).toEqual([
      "src/backend.rs",
      "src/crlf.rs",
    ]);
    expect(await found({ include_globs: ["*.tmp"] })).toEqual(["nested/keep.tmp"]);
  });

  it("pages: the pages joined are the whole", async () => {
    const whole = (await search({ query: "e", context_lines: 1, max_results: 10_000 })).hits;
    expect(whole.length).toBeGreaterThan(200);
    const joined: unknown[] = [];
    for (let skip = 0; ; skip += 170) {
      const page = await search({ query: "e", context_lines: 1, max_results: 170, skip });
      joined.push(...page.hits);
      expect(page.has_more).toBe(skip + 170 < whole.length);
      if (!page.has_more) break;
    }
    expect(joined).toEqual(whole);
    expect((await search({ query: "e" })).hits).toHaveLength(200);
  });

  it("a client that reads page after page reaches the end, however long the list is", async () => {
    writeFileSync(join(tree, "many.txt"), "needle\n".repeat(250_000));
    const page = await search({ query: "needl[e]", mode: "regex", context_lines: 0, skip: 240_000 });
    expect(page).toEqual({ hits: [], has_more: false });
    rmSync(join(tree, "many.txt"));
  });

  it("ends a page where it grows too large, and goes on from there", async () => {
    writeFileSync(join(tree, "wide.txt"), `needle ${"x".repeat(60_000)}\n`.repeat(200));
    const query = { query: "needle", context_lines: 0, max_results: 200 };
    const first = await search(query);
    expect(first.hits.length).toBeLessThan(200);
    expect(first.has_more).toBe(true);
    const second = await search({ ...query, skip: first.hits.length });
    expect([first.hits.length + second.hits.length, second.has_more]).toEqual([200, false]);
    rmSync(join(tree, "wide.txt"));
  });

  it("skips files that are not UTF-8", async () => {
    writeFileSync(join(tree, "latin.txt"), Buffer.from("needle f\xfcr\n", "latin1"));
    expect((await search({ query: "needle" })).hits).toEqual([]);
    rmSync(join(tree, "latin.txt"));
  });

  it("refuses a bad expression, a bad glob and a bad root", async () => {
    expect(await failure("fs.search_text", { query: "(unclosed", mode: "regex" })).toMatchObject({
      code: -32603,
      message: "search_text_failed: invalid regex: (unclosed",
    });
    expect(await failure("fs.search_text", { query: "x", include_globs: ["{a"] })).toMatchObject({
      code: -32603,
      message: "search_text_failed: invalid glob pattern: {a",
    });
    expect(await failure("fs.search_text", { query: "x", root: "../.." })).toMatchObject({
      code: -32603,
      message: "search_text_failed: path escapes repository root: ../..",
    });
    expect(await failure("fs.search_text", { query: "x", root: "nope" })).toMatchObject({
      code: -32603,
      message: "search_text_failed: failed to canonicalize path: nope",
    });
    expect(await failure("fs.search_text", { mode: "regex" })).toMatchObject({ code: -32602 });
  });
});
