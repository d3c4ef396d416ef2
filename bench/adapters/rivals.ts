// The servers of others that npm can install. Each is asked in the way that suits it best.
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import type { Adapter, Fixture } from "../adapter.ts";
import type { Command } from "../client.ts";
import { type Call, type Calls, call } from "../jobs.ts";
import { type Package, packaged, versionOf } from "../packages.ts";
import { reference } from "./reference.ts";

interface Rival {
  readonly package: Package;
  readonly calls: Calls;
  /** What comes after the program's name; the directory alone by default. */
  readonly args?: (fixture: Fixture) => readonly string[];
  readonly env?: (fixture: Fixture) => Promise<Readonly<Record<string, string>>>;
  /** The Node that it needs, where that is not the one that we run on. */
  readonly node?: Package;
}

const everything = 1_000_000;
/** Some expect ripgrep to be installed. */
const withRipgrep = { PATH: `${dirname(rgPath)}${delimiter}${process.env.PATH ?? ""}` };

const older: Calls = {
  ...reference,
  read: ({ path }) => call("read_file", { path }),
  tail: undefined,
  tree: undefined,
  glob: ({ path, ending }) =>
    call("search_files", { path, pattern: ending, excludePatterns: ["node_modules"] }),
};

const fast: Calls = {
  read: ({ path, bytes }) => call("fast_read_file", { path, max_size: bytes, auto_chunk: false }),
  readMany: ({ paths }) => call("fast_read_multiple_files", { paths }),
  // The server counts lines from 0.
  lines: ({ path, first, count }) =>
    call("fast_read_file", { path, line_start: first - 1, line_count: count, auto_chunk: false }),
  list: ({ path }) => call("fast_list_directory", { path, page_size: 20_000, auto_chunk: false }),
  tree: ({ path }) => call("fast_get_directory_tree", { path, max_depth: 50 }),
  glob: ({ path, ending }) =>
    call("fast_search_files", {
      path,
      pattern: `.*\\${ending}$`,
      max_results: everything,
      auto_chunk: false,
    }),
  search: ({ path, pattern, limit = 10_000, single = false }) =>
    single
      ? undefined
      : call("fast_search_code", {
          path,
          pattern,
          context_lines: 0,
          max_results: limit,
          case_sensitive: true,
          auto_chunk: false,
        }),
  write: ({ path, content }) => call("fast_write_file", { path, content }),
  edit({ path, edits }) {
    const asked = edits.map(edit => ({ old_text: edit.old, new_text: edit.new }));
    return asked.length === 1
      ? call("fast_edit_block", { path, backup: false, ...asked[0] })
      : call("fast_edit_blocks", { path, backup: false, edits: asked });
  },
  patch: ({ files }) => files.flatMap(file => fast.edit?.(file) ?? []),
};

const wrapper: Calls = {
  tree: ({ path }) => call("list-files", { path, includeHidden: true }),
  glob: ({ path, ending }) => call("list-files", { path, filePattern: `*${ending}`, includeHidden: true }),
  // Its limit counts in each file, so that a first hundred of all cannot be asked for.
  search: ({ path, pattern, regex = false, limit }) =>
    limit !== undefined
      ? undefined
      : call("advanced-search", {
          path,
          pattern,
          fixedStrings: !regex,
          includeHidden: true,
          showLineNumbers: true,
        }),
};

const commander: Calls = {
  read: ({ path, bytes }) => call("read_file", { path, length: bytes }),
  readMany: ({ paths }) => call("read_multiple_files", { paths }),
  lines: ({ path, first, count }) => call("read_file", { path, offset: first - 1, length: count }),
  tail: ({ path, count }) => call("read_file", { path, offset: -count }),
  list: ({ path }) => call("list_directory", { path, depth: 1 }),
  tree: ({ path }) => call("list_directory", { path, depth: 50 }),
  glob: ({ path, ending }) =>
    searched(
      call("start_search", { path, pattern: `*${ending}`, searchType: "files", maxResults: everything }),
    ),
  search: ({ path, pattern, regex = false, limit = 10_000 }) =>
    searched(
      call("start_search", {
        path,
        pattern,
        searchType: "content",
        literalSearch: !regex,
        ignoreCase: false,
        contextLines: 0,
        maxResults: limit,
      }),
    ),
  write: ({ path, content }) => call("write_file", { path, content, mode: "rewrite" }),
  edit: ({ path, edits: [edit, ...more] }) =>
    edit === undefined || more.length > 0
      ? undefined
      : call("edit_block", { file_path: path, old_string: edit.old, new_string: edit.new }),
  patch: ({ files }) => files.flatMap(file => commander.edit?.(file) ?? []),
};

/** A search that runs on after the answer: asked for more until it says that it is complete. */
function searched(start: Call): Call {
  const more = (session: string): Call => ({
    ...call("get_more_search_results", { sessionId: session, offset: 0, length: everything }),
    next: answer =>
      /in progress|RUNNING|IN PROGRESS/.test(answer.slice(0, 600)) ? more(session) : undefined,
  });
  return {
    ...start,
    next(answer) {
      const session = /session:?\s*(\S+)/i.exec(answer)?.[1];
      return session === undefined ? undefined : more(session);
    },
  };
}

const workspace: Calls = {
  read: ({ path }) => call("read", { path }),
  readMany: ({ paths }) => call("read", { paths }),
  // Lines above 100,000 cannot be named.
  tail: ({ path, count }) => call("read", { path, tail: count }),
  list: ({ path }) => call("list", { path, maxEntries: 20_000 }),
  tree: ({ path }) => call("list", { path, maxDepth: 50, maxEntries: 20_000 }),
  glob: ({ path, ending }) => call("find_files", { path, pattern: `**/*${ending}`, maxResults: 10_000 }),
  search: ({ path, pattern, regex = false, limit = 10_000 }) =>
    call("search_text", {
      path,
      searchPattern: pattern,
      isRegex: regex,
      caseSensitive: true,
      maxResults: limit,
    }),
  write: ({ path, content }) => call("create", { files: [{ path, content, overwrite: true }] }),
  edit: ({ path, edits }) =>
    call("edit", { path, edits: edits.map(edit => ({ oldText: edit.old, newText: edit.new })) }),
  patch: ({ files }) => files.flatMap(file => workspace.edit?.(file) ?? []),
};

const table: readonly Rival[] = [
  { package: { name: "@modelcontextprotocol/server-filesystem" }, calls: reference },
  {
    package: {
      name: "@wonderwhy-er/desktop-commander",
      overrides: { "typedarray.prototype.slice": ">=1.0.0" },
    },
    calls: commander,
    args: () => ["--no-onboarding"],
    async env({ root, state }) {
      // Its settings are in the home directory: what it may reach, and that it reports nothing.
      const directory = join(state, ".claude-server-commander");
      await mkdir(directory, { recursive: true });
      const settings = { telemetryEnabled: false, allowedDirectories: [root], fileReadLineLimit: everything };
      await writeFile(join(directory, "config.json"), JSON.stringify(settings));
      return { HOME: state, USERPROFILE: state, ...withRipgrep };
    },
  },
  { package: { name: "fast-filesystem-mcp" }, calls: fast },
  { package: { name: "mcp-server-filesystem" }, calls: older },
  {
    package: { name: "mcp-ripgrep" },
    calls: wrapper,
    env: async () => withRipgrep,
  },
  {
    package: { name: "@j0hanz/filesystem-mcp", overrides: { "@adguard/re2-wasm": ">=1.0.0" } },
    calls: workspace,
    node: { name: "node", version: "24", scripts: true },
  },
];

/** The rivals, or those that have one of the words in their names. */
export function rivals(words: readonly string[]): Adapter[] {
  return chosen(words).map(rival => ({
    name: rival.package.name,
    family: "rival",
    calls: rival.calls,
    command: fixture => commandOf(rival, fixture),
  }));
}

/** Which versions were measured. */
export function rivalVersions(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    chosen(words).map(rival => [rival.package.name, versionOf(rival.package) ?? "not installed"]),
  );
}

function chosen(words: readonly string[]): readonly Rival[] {
  return table.filter(
    ({ package: { name } }) => words.length === 0 || words.some(word => name.includes(word)),
  );
}

async function commandOf(rival: Rival, fixture: Fixture): Promise<Command> {
  const program = await packaged(rival.package);
  return {
    command: rival.node === undefined ? process.execPath : await packaged(rival.node),
    args: [program, ...(rival.args?.(fixture) ?? [fixture.root])],
    env: await rival.env?.(fixture),
    cwd: fixture.root,
  };
}
