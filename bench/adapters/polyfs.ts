// polyfs in each of its dialects. Answers are bounded by default; where a dialect lets the user say how far, the
// bound is set above what the scenarios ask for, because rivals have none.
import type { Adapter, Fixture } from "../adapter.ts";
import type { Command } from "../client.ts";
import { type Calls, call } from "../jobs.ts";
import { codeCacheOf, programIn } from "../places.ts";
import { warm } from "../warm.ts";
import { agentTools } from "./agent-tools.ts";
import { reference } from "./reference.ts";

interface PolyfsOptions {
  readonly family?: "ours" | "before";
  /** For Node. */
  readonly flags?: readonly string[];
}

/** The dialects whose answers have one limit, which can be set. */
const limited = ["agent-tools", "polyfs"];

/** Each dialect of the program in a directory that was built. */
export function polyfs(directory: string, { family = "ours", flags = [] }: PolyfsOptions = {}): Adapter[] {
  const program = programIn(directory) ?? "";
  const codeCache = codeCacheOf(directory);
  const commandFor = (dialect: string, { root, state }: Fixture): Command => ({
    command: process.execPath,
    args: [
      ...flags,
      program,
      ...["--dialect", dialect, "--state-dir", state],
      ...(limited.includes(dialect) ? ["--max-output-bytes", String(64 * 1024 * 1024)] : []),
      root,
    ],
    env: { POLYFS_CODE_CACHE: codeCache },
  });
  const adapters = Object.entries(dialects).map(([dialect, calls]) => ({
    dialect,
    calls,
    greeting:
      dialect === "file-editor" ? ({ root }: Fixture) => call("set_workspace", { path: root }) : undefined,
  }));
  const isKept = program.endsWith(".cjs") && flags.length === 0;
  let warmed: Promise<unknown> | undefined;
  return adapters.map(({ dialect, ...one }) => ({
    name: family === "ours" ? dialect : `${dialect} (before)`,
    family,
    ...one,
    async command(fixture) {
      if (isKept) {
        warmed ??= Promise.all(adapters.map(each => warm(commandFor(each.dialect, fixture), each, fixture)));
        await warmed;
      }
      return commandFor(dialect, fixture);
    },
  }));
}

const everything = 1_000_000;

const own: Calls = {
  read: ({ path, bytes }) => (bytes < 60_000 ? call("read_file", { path, numbers: false }) : undefined),
  readMany: ({ paths }) => call("read_file", { paths, numbers: false }),
  lines: ({ path, first, count }) => call("read_file", { path, offset: first, limit: count, numbers: false }),
  tail: ({ path, count }) => call("read_file", { path, offset: -count, numbers: false }),
  list: ({ path }) => call("list_directory", { path, limit: everything }),
  tree: ({ path }) => call("list_directory", { path, depth: 50, limit: everything }),
  // By path, as the others: by time, each file has to be asked for it.
  glob: ({ path, ending }) =>
    call("find_files", { path, pattern: `**/*${ending}`, sort: "path", limit: everything }),
  search: ({ path, pattern, regex = false, limit = 10_000 }) =>
    call("search_text", { path, pattern, literal: !regex, limit }),
  write: ({ path, content }) => call("write_file", { path, content }),
  edit: ({ path, edits }) =>
    call("edit_file", { path, edits: edits.map(edit => ({ old: edit.old, new: edit.new })) }),
  patch: ({ diff }) => call("apply_patch", { patch: diff }),
};

const fs: Calls = {
  read: ({ path, bytes }) => call("fs.read_file", { path, max_bytes: bytes }),
  lines: ({ path, first, count }) => call("fs.read_file", { path, start_line: first, max_lines: count }),
  list: ({ path }) => call("fs.list_files", { root: path, recursive: false, max_results: everything }),
  tree: ({ path }) => call("fs.list_files", { root: path, include_dirs: true, max_results: everything }),
  glob: ({ path, ending }) =>
    call("fs.list_files", { root: path, include_globs: [`**/*${ending}`], max_results: everything }),
  search: ({ path, pattern, regex = false, limit = 10_000, single = false }) =>
    single
      ? undefined
      : call("fs.search_text", {
          root: path,
          query: pattern,
          mode: regex ? "regex" : "literal",
          case_sensitive: true,
          context_lines: 0,
          max_results: limit,
        }),
};

const fsContext: Calls = {
  read: ({ path, bytes }) => call("read_file", { path, maxSize: bytes + 1 }),
  readMany: ({ paths }) => call("read_multiple_files", { paths }),
  lines: ({ path, first, count }) =>
    call("read_file", { path, lineStart: first, lineEnd: first + count - 1 }),
  tail: ({ path, count }) => call("read_file", { path, tail: count }),
  list: ({ path }) => call("list_directory", { path, maxEntries: 100_000 }),
  tree: ({ path }) => call("list_directory", { path, recursive: true, maxDepth: 50, maxEntries: 100_000 }),
  glob: ({ path, ending }) =>
    call("search_files", { path, pattern: `**/*${ending}`, maxResults: 10_000, maxFilesScanned: 100_000 }),
  search: ({ path, pattern, regex = false, limit = 10_000, single = false }) =>
    single
      ? undefined
      : call("search_content", {
          path,
          pattern,
          isLiteral: !regex,
          caseSensitive: true,
          contextLines: 0,
          maxResults: limit,
          maxFilesScanned: 100_000,
        }),
};

const replay: Calls = {
  read: ({ path }) => call("read_file", { path }),
  readMany: ({ paths }) => call("read_multiple_files", { paths }),
  list: ({ path }) => call("list_directory", { path }),
  glob: ({ path, ending }) =>
    call("glob_search", {
      directory: path,
      globs: [`**/*${ending}`],
      excludeGlobs: ["**/node_modules/**"],
      max: 0,
    }),
  search: ({ path, pattern, limit = 10_000, single = false }) =>
    single
      ? undefined
      : call("grep_files", {
          regex: pattern,
          directory: path,
          excludeGlobs: ["**/node_modules/**"],
          maxResults: limit,
        }),
  write: ({ path, content }) => call("write_file", { path, content }),
  edit: ({ path, edits }) =>
    call("edit_file", { path, edits: edits.map(edit => ({ oldText: edit.old, newText: edit.new })) }),
};

const fileEditor: Calls = {
  read: ({ path }) => call("read_files", { path }),
  readMany: ({ paths }) => call("read_files", { path: paths }),
  lines: ({ path, first, count }) =>
    call("read_files", { path, line_range: `${first}-${first + count - 1}` }),
  list: ({ path }) => call("list_files", { path }),
  write: ({ path, content }) =>
    call("write_files", { path, content, line_count: content.split("\n").length }),
  edit: ({ path, edits }) =>
    call("apply_diffs", {
      path,
      search_content: edits.map(edit => edit.old),
      replace_content: edits.map(edit => edit.new),
      start_line: edits.map(edit => edit.line),
    }),
};

const dialects: Readonly<Record<string, Calls>> = {
  polyfs: own,
  reference,
  "agent-tools": agentTools,
  replay,
  "file-editor": fileEditor,
  "fs-context": fsContext,
  fs,
};
