// Holds the house rules of ARCHITECTURE.md by reading every file in src: which folder may import which, and which may use
// the disk, processes, the network and the protocol. Each rule is also run on a small offence, to prove it can fail.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";

/** Sources by path below src/. */
type Sources = ReadonlyMap<string, string>;

/** Each may import those before it. Above them are the dialects and mcp, side by side, then cli. */
const chain = [
  "append",
  "clock",
  "lru-map",
  "memory-budget",
  "once",
  "at-exit",
  "turn",
  "client-name",
  "span",
  "fault",
  "text",
  "glob",
  "regex",
  "policy",
  "syntax",
  "document",
  "edit",
  "workspace",
  "store",
  "replica",
  "history",
  "shell",
  "search",
  "workspaces",
  "engine",
  "contract",
  // The program's own files: its audit log, its tokens, its compiled form. No dialect has a use for them.
  "host",
  // The review page: what it asks for, and its HTTP.
  "review",
];

const modulesOfSomeAreas: readonly (readonly [RegExp, ...string[]])[] = [
  [/^(node:)?fs(\/promises)?$/, "workspace", "host", "selftest"],
  [/^(node:)?child_process$/, "shell", "selftest"],
  [/^(node:)?(https?|http2|tls|dgram)$/, "mcp", "host", "review"], // the host sends traces, where they are asked for
  [/^@opentelemetry\/api$/, "mcp", "host"],
  [/^(node:)?net$/, "mcp", "workspace"], // the workspace has sockets in its state directory, and none elsewhere
  [/^@modelcontextprotocol\//, "mcp"],
  [/^jose$/, "mcp"],
  [/^@vscode\/ripgrep$/, "search"],
  [/^iconv-lite$/, "text"],
  [/^(web-tree-sitter|#syntax|#grammars)$/, "syntax"],
  [/^#text$/, "edit"],
  [/^(unpdf|#pdf)$/, "document"],
  [/^pg$/, "store"],
  [/^#review$/, "host"],
];

/** Variables, and collections that grow: two engines in a process share these, and nothing else that changes. */
const variablesOfTheProcess: { readonly [file: string]: string } = {
  "engine/at-exit.ts": "what to do when the process exits",
  "engine/document/pdf.ts": "a bounded cache of texts, by version; the number of threads is bounded",
  "engine/edit/thread/program.ts": "inside the thread",
  "engine/edit/thread/thread.ts": "one thread for large texts, however many engines",
  "engine/regex/pool.ts": "the number of threads is bounded for the process",
  "engine/search/concurrency.ts": "searches compete for the same processors",
  "engine/search/globs.ts": "a bounded cache of compiled globs, by their text",
  "engine/shell/attribute-shell.ts": "one helper shell",
  "engine/shell/living.ts": "the commands of the process, which end with it",
  "engine/shell/orphans.ts": "one helper shell, which ends the commands of a killed process",
  "engine/span.ts": "a process has one tracer",
  "engine/syntax/thread/load.ts": "inside the thread",
  "engine/syntax/thread/program.ts": "inside the thread",
  "engine/syntax/thread/thread.ts": "one thread for parsing, however many engines",
  "engine/text/codec.ts": "encodings that are loaded",
  "engine/text/version.ts": "belongs to its bytes, and ends with them",
  "engine/workspace/system/processes.ts": "belongs to its entry, and ends with it",
  "engine/workspace/commit/liveness-socket.ts": "the sockets of this process",
  "engine/workspace/commit/lock.ts": "a lock is held by a process, so its callers queue in it",
  "engine/workspace/commit/restored-names.ts": "belongs to a root, and ends with it",
  "engine/workspace/commit/state-path.ts": "decided once, from the environment",
  "engine/workspace/commit/store.ts": "a process opens each state directory once",
  "engine/workspace/disk/temporary.ts": "a page of random bytes",
  "engine/workspace/commit/user-lock.ts": "a lock of this process against others",
  "engine/workspace/concealed.ts": "the program's own directories, hidden from every engine",
  "engine/workspace/footprint/own-directories.ts": "the program's own directories",
  "engine/workspace/footprint/running-commands.ts":
    "what processes have announced, by path; it does not change",
  "engine/workspace/reserved.ts": "the program's own directories",
  "engine/workspace/stored-name.ts": "devices whose names differ by every character",
  "engine/workspace/system/claim.ts": "what this process claims against others",
  "engine/workspace/system/control-group.ts": "control groups that this process has to remove",
  "engine/workspace/system/named-file.ts": "files of the user as they were read, by path, with their times",
  "engine/workspace/system/this-machine.ts": "how this machine is asked",
  "engine/workspace/system/whole-flush.ts": "how this machine flushes a file system",
  "engine/workspace/system/entered-directory.ts": "a process has one working directory",
  "engine/workspace/system/working-directory.ts": "the objects that are held by it",
  "host/telemetry/recorded-span.ts": "the offset of the wall clock",
  "host/telemetry/tracer.ts": "a page of random bytes",
};

/** Phrases of three words and more in the engine, which is to return data. */
const wordsInTheEngine: { readonly [file: string]: string } = {
  "engine/document/buffer-bound.ts": "the message that V8 has",
  "engine/edit/thread/thread.ts": "an error of programming",
  "engine/edit/notation/envelope.ts": "a line of the notation",
  "engine/edit/notation/unified.ts": "lines of git",
  "engine/glob/pattern.ts": "kinds of the parts of a pattern",
  "engine/history/uncovered.ts": "a code of the audit log, which verifiers read",
  "engine/history/undo.ts": "names what is missing of an object",
  "engine/regex/pool.ts": "an error of programming",
  "engine/replica/answered-changes.ts": "lines of the log",
  "engine/replica/command-changes.ts": "lines of the log",
  "engine/replica/contents.ts": "`detail` of a damaged store",
  "engine/replica/entry-body.ts": "`detail` of a store of a newer version",
  "engine/replica/filling.ts": "lines of the log",
  "engine/replica/freshness.ts": "`detail` of a store",
  "engine/replica/log-follower.ts": "lines of the log",
  "engine/replica/open-replica.ts": "`detail`: at the start, for the operator",
  "engine/replica/read-log.ts": "`detail` of a damaged store",
  "engine/replica/replica-note.ts": "`detail`: at the start, for the operator",
  "engine/replica/replica-start.ts": "lines of the log",
  "engine/replica/replica.ts": "lines of the log",
  "engine/replica/store-faults.ts": "`detail` of a store",
  "engine/replica/store-reach.ts": "lines of the log",
  "engine/shell/find-bubblewrap.ts": "what `doctor` advises about this system",
  "engine/shell/overlay.ts": "`reason` of `not_mounted`, beside the messages of mount(8)",
  "engine/shell/sandbox.ts": "what `doctor` advises about this system",
  "engine/shell/seatbelt.ts": "what `doctor` advises about this system",
  "engine/store/copy-store.ts": "`detail` of a store",
  "engine/store/directory/directory-store.ts": "`detail` of a damaged store",
  "engine/store/directory/registry.ts": "`detail` of a damaged store",
  "engine/store/open-store.ts": "`detail`: at the start, for the operator",
  "engine/store/postgres/collect.ts": "SQL",
  "engine/store/postgres/connection.ts": "`detail`: at the start, for the operator",
  "engine/store/postgres/postgres-store.ts":
    "SQL, and `detail` of a store, beside the messages of PostgreSQL",
  "engine/store/postgres/schema.ts": "SQL",
  "engine/store/postgres/statements.ts": "SQL",
  "engine/store/s3/bucket.ts": "`detail` of a store, beside the messages of the service",
  "engine/store/s3/s3-store.ts": "`detail` of a damaged store",
  "engine/syntax/python-standard.ts": "names of modules",
  "engine/text/codec.ts": "what a parameter is to be",
  "engine/text/diff.ts": "a line of diffs",
  "engine/text/mime.ts": "suffixes of names",
  "engine/workspace/commit/step.ts": "the message that the system would have",
  "engine/workspace/errno.ts": "messages of the system, for errors that have none",
  "engine/workspace/path.ts": "an error of programming",
  "engine/workspace/system/paths.ts": "the message that the system would have",
  "engine/workspaces/copy-method.ts": "what `doctor` says about this system",
  "engine/workspaces/record.ts": "`detail` of a damaged store",
  "engine/workspaces/shared-workspaces.ts": "`what` of `denied`, and `detail` of a store",
};

const rules: { readonly [rule: string]: (file: string, code: string, sources: Sources) => boolean } = {
  "opens with a comment": (file, _, sources) => !/^(#!.*\n)?(\/\/|\/\*)/.test(sources.get(file) ?? ""),
  "is named for what it holds": file =>
    /(^|[/-])(utils?|helpers?|common|manager|base|misc)(?=[./-])/i.test(file),
  "re-exports nothing, but for the public entry": (file, code) =>
    file !== "index.ts" && /^export\b[^;=("]*\bfrom\s*"/m.test(code),
  "imports only what is below it": (file, code) =>
    imports(code).some(
      ({ from }) => from.startsWith(".") && !mayImport(file, posix.join(posix.dirname(file), from)),
    ),
  "leaves disk, processes, network, SDK and packages to their own folder": (file, code) =>
    imports(code).some(({ from }) => {
      if (from.startsWith(".")) return false;
      const owners = modulesOfSomeAreas.find(([name]) => name.test(from))?.slice(1) ?? [];
      return owners.length === 0 ? !from.startsWith("node:") : !owners.includes(areaOf(file));
    }),
  "opens a workspace for serving in one place, where no option is forgotten": (file, code) =>
    /\bWorkspace\.open\(/.test(code) && !/^(engine\/engine\.ts|cli\/(commands|setup)\/)/.test(file),
  // The sandbox hides and protects places of the system, which are in no root; so do snapshots and trees of workspaces.
  "leaves opening by an address to the workspace and the sandbox": (file, code) =>
    /\bHandle\.open\b/.test(code) && !["workspace", "shell", "workspaces"].includes(areaOf(file)),
  // Without /proc, an address means something only to the calls of system/calls.ts.
  "names what a held directory holds by the system's own calls": (file, code) =>
    !file.startsWith("engine/workspace/system/") && /\.(below\(|address\b)/.test(code) && namesByPath(code),
  "leaves to workspace/system how this system is asked": (file, code) =>
    /^engine\/(?!workspace\/(system\/|windows-path\.ts)|shell\/)/.test(file) &&
    /\bprocess\.platform\b|["'`]\/proc\b/.test(code),
  "keeps the archive apart from commits, and what both need below them": (file, code) => {
    const rooms = ["disk", "archive", "commit"].map(room => `engine/workspace/${room}/`);
    const own = rooms.findIndex(room => file.startsWith(room));
    if (own < 0) return false;
    const above = rooms.slice(own + 1);
    return imports(code).some(({ from }) => {
      const imported = posix.join(posix.dirname(file), from);
      return above.some(room => imported.startsWith(room));
    });
  },
  "loads no SDK to serve stdio": (file, _, sources) =>
    (file === "mcp/stdio.ts" || file === "cli/program.ts") &&
    [...startUp(file, sources)].some(loaded => loaded.startsWith("@modelcontextprotocol/")),
  "leaves the database to its own room": (file, code) =>
    imports(code).some(({ from }) => from === "pg") && !file.startsWith("engine/store/postgres/"),
  "loads no database and no bucket before a store is named": (file, _, sources) =>
    (file === "mcp/stdio.ts" || file === "cli/program.ts" || file === "cli/http.ts") &&
    [...startUp(file, sources)].some(loaded => /^(pg$|engine\/store\/(postgres|s3)\/)/.test(loaded)),
  "walks several components by no call of Node's": (_, code) =>
    /\b(rm|rmdir|mkdir|readdir|opendir|watch)(Sync)?\s*\([^;]*?\brecursive\b/.test(code) ||
    /\.(cp|glob)(Sync)?\s*\(/.test(code) ||
    /\{[^{}]*\b(cp|glob)(Sync)?\b[^{}]*\}\s*from\s*"(node:)?fs\b/.test(code),
  // About 120,000 arguments overflow the stack. What a person types on a command line is short.
  "passes no list of unknown length as arguments": (file, code) =>
    !/^(cli|selftest)\//.test(file) && /\.(push|unshift|splice)\((?:[^;(){}[\]]*,)?\s*\.\.\./.test(code),
  "keeps no variable at module level, but for those of the process": (file, code) =>
    changes(withoutTemplates(code), file) && !Object.hasOwn(variablesOfTheProcess, file),
  // `longest` and a number are characters; lists have a `most`.
  "returns data and no phrases, but for those listed": (file, code) =>
    file.startsWith("engine/") && hasPhrases(code) && !Object.hasOwn(wordsInTheEngine, file),
  "masks what a caller sends before it is cut for a record": (file, code) =>
    file.startsWith("mcp/") && /\.(slice|substring|substr)\(0, (longest\w*|\d+)\)/.test(code),
  "imports nothing that imports it": (file, _, sources) => circular(sources).has(file),
  "speaks of no tool, dialect or protocol in the engine": (file, code, sources) =>
    file.startsWith("engine/") && foreignWords(sources).test(code.replaceAll("unknown_tool", "")),
};

const root = join(import.meta.dirname, "../src");
const sources = sourcesIn(root);

function sourcesIn(folder: string): Sources {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter(file => /\.tsx?$/.test(file))
      .map(file => [file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8")]),
  );
}

describe("the sources keep the architecture rules", () => {
  it.each(Object.keys(rules))("every file %s", rule => {
    expect(sources.size).toBeGreaterThan(20);
    expect(offenders(rule, sources)).toEqual([]);
  });
});

describe("the variables of the process", () => {
  it("are all in use", () => {
    const rule = "keeps no variable at module level, but for those of the process";
    const found = [...sources].filter(([file, text]) => rules[rule]?.(`${file} anywhere`, text, sources));
    expect(found.map(([file]) => file).sort()).toEqual(Object.keys(variablesOfTheProcess).sort());
  });
});

describe("the phrases of the engine", () => {
  it("are all in use", () => {
    const found = [...sources].filter(
      ([file, text]) => file.startsWith("engine/") && hasPhrases(withoutComments(text)),
    );
    expect(found.map(([file]) => file).sort()).toEqual(Object.keys(wordsInTheEngine).sort());
  });
});

describe("a type name has one meaning", () => {
  it("no type name is declared twice in src and web; docs/glossary.md says what the names mean", () => {
    const page = [...sourcesIn(join(root, "../web"))].map(([file, text]) => [`web/${file}`, text] as const);
    expect(page.length).toBeGreaterThan(20);
    // The properties of a component are Props in each file of the page.
    const found = declaredTwice(new Map([...sources, ...page]));
    expect(found.filter(line => !/^Props: (web\/\S+\.tsx(, |$))+/.test(line))).toEqual([]);
  });

  it("a second declaration is found, wherever it is", () => {
    const two = new Map([
      ["engine/text/a.ts", "export interface Range {}\nexport type Other = Range;"],
      ["cli/b.ts", "class Range {}"],
      ["review/c.ts", "function c() {\n  type Other = string;\n}"],
    ]);
    expect(declaredTwice(two)).toEqual([
      "Range: engine/text/a.ts, cli/b.ts",
      "Other: engine/text/a.ts, review/c.ts",
    ]);
  });
});

describe("the documents name files that exist", () => {
  it.each(["ARCHITECTURE.md", "docs/glossary.md"])("%s", document => {
    const named = filesNamed(readFileSync(join(root, "..", document), "utf8"));
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(file => !existsSync(join(root, file)))).toEqual([]);
  });

  it("the comments of src and web do, too", () => {
    const all = [...sources, ...sourcesIn(join(root, "../web"))];
    const known = new Set(all.map(([file]) => posix.basename(file)));
    const gone = (text: string) =>
      filesInComments(text).filter(([path, name]) => !isThere(path, name, known));
    expect(all.flatMap(([file, text]) => gone(text).map(([, name]) => `${file}: ${name}`))).toEqual([]);
    const text =
      '// Locks (commit/gone.ts), as fault.ts says; `a.ts` is an example.\n/** See test/lost.ts. */\nconst x = "b.ts";';
    expect(gone(text).map(([, name]) => name)).toEqual(["gone.ts", "lost.ts"]);
  });

  it("docs/glossary.md names each type with the file that declares it", () => {
    const glossary = readFileSync(join(root, "../docs/glossary.md"), "utf8");
    expect(typesNamed(glossary).length).toBeGreaterThan(60);
    expect(undeclared(glossary)).toEqual([]);
    expect(undeclared("| a | b | `Fault`, `Gone`, `src/engine/fault.ts`; `src/cli/main.ts` |")).toEqual([
      "Gone: engine/fault.ts",
    ]);
  });

  it("a missing file is found, also where only its folder is named before it", () => {
    const text =
      "see `src/engine/fault.ts` and\n  engine/search/grep.ts → gone.ts, walk.ts\n`engine/gone.ts`";
    const gone = filesNamed(text).filter(file => !existsSync(join(root, file)));
    expect(gone).toEqual(["engine/search/gone.ts", "engine/gone.ts"]);
  });
});

describe("each rule catches an offence", () => {
  const offences: readonly (readonly [rule: keyof typeof rules, file: string, code: string])[] = [
    ["opens with a comment", "cli/a.ts", "export const a = 1;"],
    [
      "opens a workspace for serving in one place, where no option is forgotten",
      "cli/a.ts",
      "// a\nWorkspace.open(grants);",
    ],
    [
      "leaves opening by an address to the workspace and the sandbox",
      "engine/search/a.ts",
      "// a\nconst held = Handle.open(path);",
    ],
    [
      "keeps the archive apart from commits, and what both need below them",
      "engine/workspace/archive/a.ts",
      '// a\nimport type { Step } from "../commit/step.ts";',
    ],
    [
      "returns data and no phrases, but for those listed",
      "engine/text/a.ts",
      'throw new Fault("io", { reason: "the disk is full" });',
    ],
    ["masks what a caller sends before it is cut for a record", "mcp/a.ts", "log.warn(name.slice(0, 100));"],
    ["is named for what it holds", "engine/text/utils.ts", ""],
    ["is named for what it holds", "contract/path-helpers.ts", ""],
    ["re-exports nothing, but for the public entry", "contract/all.ts", 'export * from "./tool.ts";'],
    [
      "re-exports nothing, but for the public entry",
      "contract/all.ts",
      'export {\n  a,\n  b,\n} from "./tool.ts";',
    ],
    ["imports only what is below it", "engine/text/a.ts", 'import { commit } from "../workspace/commit.ts";'],
    [
      "imports only what is below it",
      "engine/edit/a.ts",
      'const { call } = await import("../../contract/call.ts");',
    ],
    ["imports only what is below it", "engine/shell/a.ts", 'import type { Hit } from "../search/grep.ts";'],
    ["imports only what is below it", "contract/a.ts", 'import { fs } from "../dialects/fs/index.ts";'],
    ["imports only what is below it", "dialects/fs/a.ts", 'import { tree } from "../replay/tree.ts";'],
    ["imports only what is below it", "dialects/fs/a.ts", 'import { dialects } from "../index.ts";'],
    ["imports only what is below it", "dialects/fs/a.ts", 'import { serve } from "../../mcp/stdio.ts";'],
    ["imports only what is below it", "mcp/a.ts", 'import { dialects } from "../dialects/index.ts";'],
    ["imports only what is below it", "host/a.ts", 'import { serve } from "../mcp/stdio.ts";'],
    ["imports only what is below it", "contract/a.ts", 'import { LogFile } from "../host/log-file.ts";'],
    ["imports only what is below it", "dialects/fs/a.ts", 'import { a } from "../../host/log-file.ts";'],
    ["imports only what is below it", "mcp/a.ts", 'import { options } from "../cli/options.ts";'],
    [
      "leaves disk, processes, network, SDK and packages to their own folder",
      "cli/a.ts",
      'import fs from "fs";',
    ],
    [
      "leaves disk, processes, network, SDK and packages to their own folder",
      "engine/search/a.ts",
      'import { readFile } from "node:fs/promises";',
    ],
    [
      "leaves disk, processes, network, SDK and packages to their own folder",
      "engine/search/a.ts",
      'import { spawn } from "node:child_process";',
    ],
    [
      "leaves disk, processes, network, SDK and packages to their own folder",
      "contract/a.ts",
      'import type { Tool } from "@modelcontextprotocol/server";',
    ],
    [
      "leaves disk, processes, network, SDK and packages to their own folder",
      "cli/a.ts",
      'import _ from "lodash";',
    ],
    ["leaves disk, processes, network, SDK and packages to their own folder", "cli/a.ts", 'import "lodash";'],
    [
      "names what a held directory holds by the system's own calls",
      "engine/workspace/tree/a.ts",
      '// a\nimport { constants, lstatSync } from "node:fs";\nlstatSync(directory.below(name));',
    ],
    [
      "leaves to workspace/system how this system is asked",
      "engine/search/a.ts",
      'if (process.platform === "linux") x();',
    ],
    [
      "leaves to workspace/system how this system is asked",
      "engine/workspace/a.ts",
      'readlinkSync("/proc/self/ns/pid")',
    ],
    ["loads no SDK to serve stdio", "mcp/stdio.ts", 'import { Server } from "@modelcontextprotocol/server";'],
    ["leaves the database to its own room", "engine/store/a.ts", 'const { Pool } = await import("pg");'],
    [
      "loads no database and no bucket before a store is named",
      "cli/http.ts",
      'import { PostgresStore } from "../engine/store/postgres/postgres-store.ts";',
    ],
    [
      "walks several components by no call of Node's",
      "engine/workspace/a.ts",
      'import { cp } from "node:fs/promises";',
    ],
    [
      "walks several components by no call of Node's",
      "engine/workspace/a.ts",
      'import { rmSync } from "node:fs";\nrmSync(path, { recursive: true });',
    ],
    [
      "walks several components by no call of Node's",
      "engine/workspace/a.ts",
      "sys.mkdir(path, {\n  recursive,\n});",
    ],
    ["walks several components by no call of Node's", "engine/workspace/a.ts", "await fs.cp(from, to);"],
    ["passes no list of unknown length as arguments", "engine/text/a.ts", "parts.push(...lines);"],
    [
      "passes no list of unknown length as arguments",
      "review/a.ts",
      "lines.splice(at, 1, ...made.slice(from));",
    ],
    [
      "keeps no variable at module level, but for those of the process",
      "engine/text/a.ts",
      "// a\nlet known: Known | undefined;",
    ],
    [
      "keeps no variable at module level, but for those of the process",
      "engine/text/a.ts",
      "// a\nconst known = new Map<string, number>();",
    ],
    ["imports nothing that imports it", "engine/text/a.ts", 'import type { A } from "./a.ts";'],
    [
      "speaks of no tool, dialect or protocol in the engine",
      "engine/text/a.ts",
      'if (style === "agent-tools") x();',
    ],
    ["speaks of no tool, dialect or protocol in the engine", "engine/text/a.ts", "const toolName = 1;"],
    ["speaks of no tool, dialect or protocol in the engine", "engine/text/a.ts", "return { isError: true };"],
  ];
  it.each(offences)("%s: %s", (rule, file, code) => {
    expect(offenders(rule, new Map([[file, code]]))).toEqual([file]);
  });

  it("an import cycle is found through several files, including type imports and dynamic imports", () => {
    const sources = new Map([
      ["cli/a.ts", 'import { b } from "./b.ts";'],
      ["cli/b.ts", 'const { c } = await import("./c.ts");'],
      ["cli/c.ts", 'import type { A } from "./a.ts";'],
      ["cli/d.ts", 'import { a } from "./a.ts";'],
    ]);
    const circle = offenders("imports nothing that imports it", sources);
    expect(circle).toEqual(["cli/a.ts", "cli/b.ts", "cli/c.ts"]);
  });

  it("indirect imports count, too", () => {
    const sources = new Map([
      ["mcp/stdio.ts", 'import { a } from "./a.ts";'],
      ["mcp/a.ts", 'import { Server } from "@modelcontextprotocol/server";'],
    ]);
    expect(offenders("loads no SDK to serve stdio", sources)).toEqual(["mcp/stdio.ts"]);
    sources.set("mcp/stdio.ts", 'const { a } = await import("./a.ts");');
    expect(offenders("loads no SDK to serve stdio", sources)).toEqual([]);
  });

  it("a tool's name in the engine is found, wherever the tool is", () => {
    const sources = new Map([
      ["dialects/fs/list-files.ts", 'export const listFiles = tool({ name: "list_files" });'],
      ["engine/search/a.ts", "const list_files = 1;"],
    ]);
    expect(offenders("speaks of no tool, dialect or protocol in the engine", sources)).toEqual([
      "engine/search/a.ts",
    ]);
  });

  it("every rule has an offence, and comments are not code", () => {
    expect(new Set(offences.map(([rule]) => rule))).toEqual(new Set(Object.keys(rules)));
    const comment =
      '// Each dialect imports its tool:\n/* import x from "lodash"; */\nexport interface A { b: "c"; recursive: boolean }';
    for (const rule in rules) expect(offenders(rule, new Map([["engine/text/a.ts", comment]]))).toEqual([]);
  });
});

/** Whether a file imports calls of node:fs that take a path. */
function namesByPath(code: string): boolean {
  const calls =
    /\b(access|chmod|l?chown|copyFile|exists|link|l?stat|l?utimes|mkdir|open|opendir|readdir|readFile|readlink|rename|rmdir|statfs|symlink|unlink|writeFile)(Sync)?\b/;
  return [...code.matchAll(/\{([^{}]*)\}\s*from\s*"node:fs(\/promises)?"/g)].some(([, names = ""]) =>
    calls.test(names),
  );
}

function declaredTwice(all: Sources): string[] {
  const declaration =
    /^\s*(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:type|interface|class|(?:const )?enum) ([A-Z]\w*)(?=\s*[<={]|\s+(?:extends|implements)\b)/gm;
  const files = new Map<string, string[]>();
  for (const [file, text] of all) {
    for (const [, name = ""] of withoutComments(text).matchAll(declaration))
      files.set(name, [...(files.get(name) ?? []), file]);
  }
  return [...files].flatMap(([name, all]) => (all.length > 1 ? [`${name}: ${all.join(", ")}`] : []));
}

/** The files of src that a document names. A name without a folder means the folder of the one before it. */
function filesNamed(text: string): string[] {
  let folder = "";
  return [...text.matchAll(/(?<![\w<>*./-])((?:[\w-]+\/)*)([\w-]+\.ts)\b/g)].flatMap(
    ([, path = "", name]) => {
      if (/^(test|proof|tools|bench|docs)\//.test(path)) return [];
      if (path !== "") folder = path.replace(/^src\//, "");
      return folder === "" ? [] : [`${folder}${name}`];
    },
  );
}

/** The files that comments name, outside of `examples`. */
function filesInComments(text: string): (readonly [path: string, name: string])[] {
  return [...text.matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)].flatMap(([line]) =>
    [...line.replace(/`[^`]*`/g, "").matchAll(/(?<![\w<>*./-])((?:[\w-]+\/)*)([\w-]+\.(?:tsx?|mjs))\b/g)].map(
      ([, path = "", name = ""]) => [path, name] as const,
    ),
  );
}

function isThere(path: string, name: string, known: ReadonlySet<string>): boolean {
  return /^(test|proof|tools|bench)\//.test(path)
    ? existsSync(join(root, "..", path, name))
    : known.has(name);
}

/** The types and functions in the last column of the glossary, each with the file that follows it. */
function typesNamed(glossary: string): { name: string; file: string }[] {
  return [...glossary.matchAll(/^\|.*\|([^|]*)\|$/gm)].flatMap(([, cell = ""]) => {
    const words = [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
    return words.flatMap((name, i) => {
      const file = words.slice(i).find(word => word.startsWith("src/"));
      return name.includes("/") || file === undefined ? [] : [{ name, file: file.slice("src/".length) }];
    });
  });
}

function undeclared(glossary: string): string[] {
  return typesNamed(glossary)
    .filter(({ name, file }) => {
      const declaration = new RegExp(`\\b(type|interface|class|function\\*?|const) ${name}\\b`);
      return !declaration.test(sources.get(file) ?? "");
    })
    .map(({ name, file }) => `${name}: ${file}`);
}

function offenders(rule: keyof typeof rules, sources: Sources): string[] {
  return [...sources]
    .filter(([file, text]) => rules[rule]?.(file, withoutComments(text), sources))
    .map(([file]) => file);
}

/** `engine/text/lines.ts` → text, `engine/engine.ts` → engine, `dialects/fs/index.ts` → dialects. */
function areaOf(file: string): string {
  const [top = "", second = "", third] = file.split("/");
  if (second === "") return "entry";
  if (top !== "engine") return top;
  return third === undefined ? second.replace(/\.ts$/, "") : second;
}

function mayImport(from: string, to: string): boolean {
  const [area, target] = [areaOf(from), areaOf(to)];
  // The version and the public entry: any file may import the first, none the second.
  if (target === "entry") return to === "version.ts";
  if (area === "cli" || area === "entry") return true;
  if (from === "dialects/index.ts") return ["dialects", "contract"].includes(target);
  if (area === "dialects" && target === "dialects") return from.split("/")[1] === to.split("/")[1];
  if (area === target) return true;
  const above: Readonly<Record<string, number>> = { dialects: chain.indexOf("host"), mcp: chain.length };
  const place = chain.includes(area) ? chain.indexOf(area) : (above[area] ?? -1);
  return chain.includes(target) && chain.indexOf(target) < place;
}

interface Import {
  readonly from: string;
  /** Loaded together with the file, and not later or never. */
  readonly atOnce: boolean;
}

function imports(code: string): Import[] {
  const statements = code.matchAll(/^\s*(?:import|export)\b(\s+type\b)?[^;=("]*?\bfrom\s*"([^"\n]+)"/gm);
  const bare = code.matchAll(/^\s*import\s*"([^"\n]+)"/gm);
  const calls = code.matchAll(/\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/g);
  return [
    ...[...statements].map(([, type, from = ""]) => ({ from, atOnce: type === undefined })),
    ...[...bare].map(([, from = ""]) => ({ from, atOnce: true })),
    ...[...calls].map(([, from = ""]) => ({ from, atOnce: false })),
  ];
}

const circularOf = new WeakMap<Sources, ReadonlySet<string>>();

/**
 * The files on a circle of imports of any kind, or between two circles: what remains after taking out, again and again,
 * the files that import none of the others and those that none of the others imports.
 */
function circular(sources: Sources): ReadonlySet<string> {
  const known = circularOf.get(sources);
  if (known !== undefined) return known;
  const left = new Map(
    [...sources].map(([file, text]) => {
      const all = imports(withoutComments(text)).filter(({ from }) => from.startsWith("."));
      return [file, all.map(({ from }) => posix.join(posix.dirname(file), from))];
    }),
  );
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const imported = new Set([...left.values()].flat());
    for (const [file, all] of left)
      if (!imported.has(file) || !all.some(other => left.has(other))) left.delete(file);
  }
  const found = new Set(left.keys());
  circularOf.set(sources, found);
  return found;
}

/** Everything that importing `file` loads: our files and the packages. */
function startUp(file: string, sources: Sources, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { from, atOnce } of imports(withoutComments(sources.get(file) ?? ""))) {
    if (atOnce) startUp(from.startsWith(".") ? posix.join(posix.dirname(file), from) : from, sources, seen);
  }
  return seen;
}

/** Also as a part of a name (`toolName`), but not of a longer word (`stool`). */
function foreignWords(sources: Sources): RegExp {
  const protocol = ["mcp", "MCP", "[jJ]son-?[rR]pc", "JSON-?RPC", "isError", "structuredContent"];
  // A dialect's name that is also an ordinary word counts only as a string.
  const names = readdirSync(join(root, "dialects")).filter(name => !/\.ts$|^polyfs$/.test(name));
  const house = [
    "[tT]ools?",
    "[dD]ialects?",
    ...names.map(name => (name.includes("-") ? name : `"${name}"`)),
  ];
  const dialects = [...sources].filter(([file]) => file.startsWith("dialects/")).map(([, text]) => text);
  const tools = dialects.flatMap(text =>
    [...text.matchAll(/\bname: "([a-z]+(?:_[a-z]+)+)"/g)].map(([, name]) => name),
  );
  return new RegExp(`(?<![a-zA-Z])(?:${[...protocol, ...house, ...tools].join("|")})(?![a-z])`);
}

/** Whether a file has variables at module level or, in the engine, collections that begin empty. */
function changes(code: string, file: string): boolean {
  const collection =
    /^(export )?const \w+(: (Weak)?(Map|Set)<.*>|: (?!readonly )[^=]+\[\])? = (new (Weak)?(Map|Set)(<.*>)?\(\)|\[\]);/m;
  return /^(export )?(let|var) /m.test(code) || (file.startsWith("engine/") && collection.test(code));
}

/** Whether strings of a file have three words in a row. Errors of programming may. */
function hasPhrases(code: string): boolean {
  const strings = /(\bError\(\s*)?("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;
  return [...code.matchAll(strings)].some(
    ([, isError, text = ""]) =>
      isError === undefined &&
      !text.includes("\n") &&
      /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text.replaceAll(/\$\{[^}]*\}/g, "1")),
  );
}

/** Programs for other processes are written in templates. */
function withoutTemplates(code: string): string {
  return code.replaceAll(/`(?:[^`\\]|\\.)*`/g, "``");
}

/** The code alone. Strings are stepped over, so that what looks like a comment inside one is kept. */
function withoutComments(text: string): string {
  const parts =
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|(?<![\\/[:])\/\/.*/g;
  return text.replace(/^#!.*/, "").replace(parts, (_, string?: string) => string ?? "");
}
