// The calls that both servers are asked, made from tables. `ROOT` and `OUTSIDE` are each server's own copy.
import { directories, files, links } from "./tree.ts";

export interface Call {
  readonly tool: string;
  readonly args: unknown;
  readonly writes?: boolean;
}

const in_ = (path: string) => `ROOT/${path}`;
const present = [...Object.keys(files), ...directories, ...Object.keys(links), "fifo", "dir", ""];
const odd = [
  "ROOT/nope.txt",
  "ROOT/no/such/file.txt",
  "ROOT/plain.txt/below",
  "ROOT/link-out-dir/secret.txt",
  "ROOT/link-dir/a.ts",
  "ROOT/dir/../plain.txt",
  "ROOT//dir/./a.ts",
  "ROOT/plain.txt/",
  "ROOT/../outside/secret.txt",
  "OUTSIDE/secret.txt",
  "ROOT-evil/x",
  "/",
  "/etc/passwd",
  "plain.txt",
  "./dir/a.ts",
  "../outside/secret.txt",
  "",
  ".",
  "dir",
  "~",
  "~/nope",
  "C:\\Users\\x",
  "C:/Users/x",
  "file:///etc/passwd",
  "ROOT/\u0000",
  `ROOT/${"n".repeat(300)}`,
  "ROOT/cafe\u0301.txt",
  "ROOT/na\u00efve.txt",
  "ROOT/PLAIN.TXT",
];
const everywhere = [...present.map(in_), ...odd];
const readable = everywhere.filter(path => !path.endsWith("/fifo")); // the other server waits for it forever

function* reading(): Generator<Call> {
  for (const path of readable) {
    yield { tool: "read_text_file", args: { path } };
    yield { tool: "read_media_file", args: { path } };
  }
  for (const path of Object.keys(files).slice(0, 22).map(in_)) {
    for (const count of [1, 2, 3, 50, 5000]) {
      yield { tool: "read_text_file", args: { path, head: count } };
      yield { tool: "read_text_file", args: { path, tail: count } };
    }
  }
  for (const part of [
    { head: 0 },
    { tail: 0 },
    { head: -1 },
    { tail: -1 },
    { head: 1.5 },
    { head: 1, tail: 1 },
  ])
    yield { tool: "read_file", args: { path: "ROOT/plain.txt", ...part } };
  yield { tool: "read_file", args: { path: "ROOT/plain.txt" } };
  yield { tool: "read_multiple_files", args: { paths: ["ROOT/plain.txt"] } };
  yield {
    tool: "read_multiple_files",
    args: { paths: ["ROOT/plain.txt", "nofinal.txt", "ROOT/nope", "/etc/passwd"] },
  };
  yield {
    tool: "read_multiple_files",
    args: { paths: ["ROOT/dir", "ROOT/bom.txt", "ROOT/loop", "ROOT/empty.txt"] },
  };
}

const patterns = [
  "*",
  "**",
  "**/*",
  "*.txt",
  "**/*.ts",
  "dir/*",
  "dir/**",
  "dir/**/*.ts",
  "**/dir/**",
  "*.{ts,js}",
  "**/*.{ts,js}",
  "{dir,node_modules}/**",
  "[a-c]*",
  "[!a-c]*",
  "?????.txt",
  "**/index.js",
  "plain.txt",
  "dir",
  "dir/",
  "./plain.txt",
  "../*",
  "/plain.txt",
  "**/.dot/**",
  ".*",
  "**/.*",
  "*.TXT",
  "\\[brackets\\].txt",
  "star\\*.txt",
  "{one}.txt",
  "{a..c}*",
  "line{1..3}",
  "!*.txt",
  "!**/*.ts",
  "!!*.txt",
  "#hash.txt",
  "\\#hash.txt",
  "",
  "@(plain|twice).txt",
  "+(plain|twice).txt",
  "!(plain).txt",
  "?(p)lain.txt",
  "**/node_modules",
  "**/node_modules/**",
  "*é*",
  "dir/*/er/c.ts",
  "dir/**/c.ts",
  "a**b",
  "**.ts",
  "[",
  "{a,b",
]; // prettier would give each a line of its own

const excludes = [
  ["node_modules"],
  ["**/node_modules/**"],
  ["*.txt", "dir"],
  ["**/*.ts"],
  ["dir/**"],
  ["dir/deep"],
  [".*"],
  [""],
];

function* looking(): Generator<Call> {
  for (const path of everywhere) {
    yield { tool: "get_file_info", args: { path } };
    yield { tool: "list_directory", args: { path } };
  }
  for (const path of [
    "ROOT",
    "ROOT/dir",
    "ROOT/link-dir",
    "ROOT/empty-dir",
    "ROOT/plain.txt",
    "ROOT/nope",
    ".",
    "/",
  ]) {
    for (const sortBy of [undefined, "name", "size"])
      yield { tool: "list_directory_with_sizes", args: { path, sortBy } };
    yield { tool: "directory_tree", args: { path } };
    yield { tool: "search_files", args: { path, pattern: "**/*.ts" } };
  }
  for (const pattern of patterns) yield { tool: "search_files", args: { path: "ROOT", pattern } };
  for (const excludePatterns of excludes) {
    yield { tool: "search_files", args: { path: "ROOT", pattern: "**", excludePatterns } };
    yield { tool: "directory_tree", args: { path: "ROOT", excludePatterns } };
  }
  yield { tool: "list_allowed_directories", args: {} };
  yield { tool: "list_allowed_directories", args: undefined };
}

const wrong: readonly (readonly [string, unknown])[] = [
  ["no_such_tool", {}],
  ["read_text_file", {}],
  ["read_text_file", undefined],
  ["read_text_file", { path: 1 }],
  ["read_text_file", { path: "ROOT/plain.txt", head: "1" }],
  ["read_text_file", { path: "ROOT/plain.txt", head: null }],
  ["read_text_file", { path: "ROOT/plain.txt", more: true }],
  ["read_multiple_files", { paths: [] }],
  ["read_multiple_files", { paths: "ROOT/plain.txt" }],
  ["list_directory_with_sizes", { path: "ROOT", sortBy: "age" }],
  ["write_file", { path: "ROOT/new.txt" }],
  ["edit_file", { path: "ROOT/plain.txt", edits: [{ oldText: "one" }] }],
  ["edit_file", { path: "ROOT/plain.txt", edits: "one" }],
  ["move_file", { source: "ROOT/plain.txt" }],
  ["search_files", { path: "ROOT" }],
  ["directory_tree", { path: "ROOT", excludePatterns: "dir" }],
];

type Edit = readonly [oldText: string, newText: string];
const edits: readonly (readonly [path: string, ...edits: Edit[]])[] = [
  ["plain.txt"],
  ["plain.txt", ["two", "2"]],
  ["plain.txt", ["two\nthree\n", "2\n3\n"]],
  ["plain.txt", ["one\n", ""]],
  ["plain.txt", ["five\n", "five\nsix\n"]],
  ["plain.txt", ["five\n", "five"]],
  ["plain.txt", ["one", "1"], ["five", "5"]],
  ["plain.txt", ["one", "uno"], ["uno", "1"]],
  ["plain.txt", ["two", "two"]],
  ["plain.txt", ["absent", "x"]],
  ["plain.txt", ["one", "1"], ["absent", "x"]],
  ["plain.txt", ["two\r\nthree", "2\r\n3"]],
  ["plain.txt", ["", "x"]],
  ["plain.txt", ["two", "$& $1 $$"]],
  ["plain.txt", ["  two", "  2"]],
  ["plain.txt", ["two  ", "2"]],
  ["dollar.txt", ["$1 & $& $$", "€"]],
  ["nofinal.txt", ["three", "3"]],
  ["nofinal.txt", ["three", "3\n"]],
  ["empty.txt", ["x", "y"]],
  ["twice.txt", ["same", "changed"]],
  ["twice.txt", ["same\nother", "changed\nother"]],
  ["crlf.txt", ["two", "2"]],
  ["crlf.txt", ["two\nthree", "2\n3"]],
  ["mixed.txt", ["two\nthree", "2\n3"]],
  ["bom.txt", ["two", "2"]],
  ["bom.txt", ["\ufeffone", "\ufeff1"]],
  ["utf16le.txt", ["zwölf", "12"]],
  ["latin1.txt", ["Grüße", "Küsse"]],
  ["nul.bin", ["absent", "x"]],
  ["code.ts", ["const x = 1;", "const x = 2;"]],
  ["code.ts", ["  return 2;\n", "  return 3;\n"]],
  ["code.ts", ["    return 2;", "    return 3;"]],
  ["code.ts", ["if (x) {\n  return x;\n}", "if (x) {\n  return -x;\n}"]],
  ["code.ts", ["function a() {\n\tconst x = 1;", "function a() {\n\tconst x = 3;"]],
  ["tabs.py", ["    x = 1", "    x = 2"]],
  ["tabs.py", ["    if x:\n        return x", "    if x:\n        y = x\n        return y"]],
  ["fences.md", ["code()", "code(1)"]],
  ["many.txt", ["line 10\n", "line ten\n"], ["line 2500\n", "line 2500\nline 2500.5\n"]],
  ["many.txt", ["line 1500\n", ""], ["line 1508\n", "x\n"], ["line 1520\n", "y\n"]],
  ["new\nline.txt", ["name", "NAME"]],
  ["quote'\".txt", ["quotes", "QUOTES"]],
  ["emoji🙂.txt", ["emoji", "EMOJI"]],
  ["link-file", ["two", "2"]],
  ["link-dir/a.ts", ["a", "A"]],
  ["dir", ["a", "b"]],
  ["nope.txt", ["a", "b"]],
  ["link-out", ["SECRET", "x"]],
  ["dangling", ["a", "b"]],
];

function* writing(): Generator<Call> {
  for (const [path, ...list] of edits) {
    const asked = list.map(([oldText, newText]) => ({ oldText, newText }));
    yield { tool: "edit_file", args: { path: in_(path), edits: asked } };
    yield { tool: "edit_file", args: { path: in_(path), edits: asked, dryRun: true } };
  }
  const targets = [
    "new.txt",
    "plain.txt",
    "code.ts",
    "dir/new.txt",
    "no/such/new.txt",
    "plain.txt/new.txt",
    "dir",
    "",
    "link-file",
    "link-dir/new.txt",
    "link-out",
    "link-out-dir/new.txt",
    "dangling",
    "loop",
    "new ünïcode 🙂.txt",
    "cafe\u0301.txt",
    "../outside/new.txt",
  ];
  for (const target of targets) {
    yield { tool: "write_file", args: { path: in_(target), content: "new\r\ncontent 🙂" } };
    yield { tool: "create_directory", args: { path: in_(target) } };
    yield { tool: "create_directory", args: { path: in_(`${target}/a/b`) } };
    yield { tool: "move_file", args: { source: in_("plain.txt"), destination: in_(target) } };
    yield { tool: "move_file", args: { source: in_("dir"), destination: in_(target) } };
    if (target !== "new.txt")
      yield { tool: "move_file", args: { source: in_(target), destination: in_("moved") } };
  }
  yield { tool: "write_file", args: { path: "relative.txt", content: "" } };
  yield { tool: "write_file", args: { path: in_("fifo"), content: "" } };
  yield { tool: "create_directory", args: { path: "relative/a" } };
  yield { tool: "move_file", args: { source: "plain.txt", destination: "dir/moved.txt" } };
  yield { tool: "move_file", args: { source: in_("dir"), destination: in_("dir/inside") } };
}

export const calls: readonly Call[] = [
  ...reading(),
  ...looking(),
  ...wrong.map(([tool, args]) => ({ tool, args })),
  ...Array.from(writing(), call => ({ ...call, writes: true })),
];
