// The expensive calls, each with the tree that it works on and the calls that come before it.
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Answer, call } from "../client/client.ts";
import type { StdioClient } from "../client/stdio-client.ts";

export interface Case {
  readonly id: string;
  /** Sizes in the long form and in the short form; a case without a short size is left out there. */
  readonly size: number;
  readonly short?: number;
  /** Makes the tree, before the server starts. */
  make(root: string, size: number): void;
  /** Calls that are not measured. What they return is given to `run`. */
  before?(client: StdioClient, size: number): Promise<Answer>;
  run(client: StdioClient, size: number, before: Answer | undefined): Promise<Answer>;
  /** Whether the expensive call may be refused. */
  mayFail?: boolean;
}

/** Small files with content of their own. */
function manyFiles(root: string, count: number, perDirectory = 100): void {
  for (let i = 0; i < count; i++) {
    const directory = join(root, "tree", `d${Math.floor(i / perDirectory)}`);
    if (i % perDirectory === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${i}.txt`), `file ${i}\nconst value = ${i * 7};\n`);
  }
}

/** A text file of some megabytes with lines that differ, in which every `nth` line is changed. */
function largeText(path: string, megabytes: number, nth = 0): void {
  const fd = openSync(path, "w");
  let line = 0;
  for (let written = 0; written < megabytes * 1_000_000; ) {
    let piece = "";
    for (let i = 0; i < 10_000; i++, line++)
      piece += `${nth > 0 && line % nth === 0 ? "changed" : "line"} ${line} of a text with words in it\n`;
    written += writeSync(fd, piece);
  }
  closeSync(fd);
}

const nothing = () => undefined;
const remove = (client: StdioClient) => call(client, "delete_path", { path: "tree", recursive: true });
const takeBack = (client: StdioClient) => call(client, "undo", {});
const deep = (depth: number) => Array.from({ length: depth }, () => "d").join("/");
const versionIn = ({ text }: Answer) => / v:([0-9a-f]+)/.exec(text)?.[1];

/** Overwrites the text of `largeText`: every fiftieth line has another word. */
function overwriteWithChanges(client: StdioClient, megabytes: number): Promise<Answer> {
  const line = (i: number) => `${i % 50 === 0 ? "changed" : "line"} ${i} of a text with words in it\n`;
  const content = Array.from({ length: (megabytes * 1e6) / 40 }, (_, i) => line(i)).join("");
  return call(client, "write_file", { path: "large.txt", content });
}

const editOldVersion: Case["run"] = (client, _size, before) =>
  call(client, "edit_file", {
    path: "large.txt",
    if_version: before && versionIn(before),
    edits: [{ old: "line 77777 of", new: "other 77777 of" }],
  });

/** A notebook with this many cells, each of one line. */
function notebook(root: string, count: number): void {
  const cell = { cell_type: "code", metadata: {}, outputs: [], source: "x" };
  writeFileSync(join(root, "n.ipynb"), JSON.stringify({ cells: Array(count).fill(cell), nbformat: 4 }));
}

export const cases: readonly Case[] = [
  {
    id: "edit every cell of a notebook",
    size: 100_000,
    short: 10_000,
    make: notebook,
    run: client =>
      call(client, "edit_file", {
        path: "n.ipynb",
        edits: [{ old: "^x$", new: "y", regex: true, all: true }],
      }),
  },
  { id: "delete a tree", size: 100_000, short: 2_000, make: manyFiles, run: remove },
  {
    id: "undo the delete of a tree",
    size: 30_000,
    short: 1_000,
    make: manyFiles,
    before: remove,
    run: takeBack,
  },
  {
    id: "replace in many files",
    size: 10_000,
    short: 1_000,
    make: manyFiles,
    run: (client, size) =>
      call(client, "replace_in_files", { paths: ["tree"], old: "value", new: "number", max_files: size }),
  },
  {
    id: "create a deep directory",
    size: 400,
    short: 150,
    make: nothing,
    run: (client, size) => call(client, "create_directory", { path: deep(size) }),
  },
  {
    id: "undo a deep directory",
    size: 400,
    short: 150,
    make: nothing,
    before: (client, size) => call(client, "create_directory", { path: deep(size) }),
    run: takeBack,
  },
  {
    id: "delete a deep directory",
    size: 400,
    make: nothing,
    before: (client, size) => call(client, "create_directory", { path: deep(size) }),
    run: client => call(client, "delete_path", { path: "d", recursive: true }),
  },
  {
    id: "a command that makes directories",
    size: 19_000,
    short: 2_000,
    make: nothing,
    run: (client, size) =>
      call(client, "run_command", {
        command: `seq 1 ${size} | sed 's/^/tree-/' | xargs mkdir`,
        timeout_ms: 300_000,
      }),
  },
  {
    id: "a command in a tree of many files",
    size: 100_000,
    short: 10_000,
    make: manyFiles,
    run: client => call(client, "run_command", { command: "true", timeout_ms: 300_000 }),
  },
  {
    id: "undo of a command that made files",
    size: 30_000,
    short: 2_000,
    make: nothing,
    before: (client, size) =>
      call(client, "run_command", {
        command: `mkdir made; cd made; for i in $(seq 1 ${size}); do echo $i > f$i; done`,
        timeout_ms: 300_000,
      }),
    run: takeBack,
  },
  {
    id: "write a large file",
    size: 48,
    short: 20,
    make: nothing,
    run: (client, size) =>
      call(client, "write_file", {
        path: "large.txt",
        content: "0123456789 abcdef\n".repeat((size * 1e6) / 18),
      }),
  },
  {
    id: "overwrite a large file",
    size: 1000,
    make: (root, size) => {
      const fd = openSync(join(root, "large.bin"), "w");
      const piece = Buffer.alloc(1_000_000, "some text in a large file\n");
      for (let i = 0; i < size; i++) writeSync(fd, piece);
      closeSync(fd);
    },
    run: client => call(client, "write_file", { path: "large.bin", content: "small now\n" }),
  },
  {
    id: "read what changed in a large file",
    size: 48,
    short: 10,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    before: readThenEdited,
    run: (client, _size, before) =>
      call(client, "read_file", { path: "large.txt", since: before && versionIn(before) }),
    mayFail: true,
  },
  {
    id: "overwrite with a large text that differs",
    size: 48,
    short: 10,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    run: overwriteWithChanges,
  },
  {
    id: "edit with an old version in a large file",
    size: 12,
    short: 6,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    before: readThenEdited,
    run: editOldVersion,
  },
  {
    id: "edit with an old version among repeated lines",
    size: 12,
    short: 3,
    make: (root, size) => {
      const repeated = "  }\n\n  return x;\n  {\n".repeat((size * 1e6) / 22);
      writeFileSync(join(root, "large.txt"), `line 777 of it\n${repeated}line 77777 of it\n`);
    },
    before: readThenEdited,
    run: editOldVersion,
  },
  {
    id: "list the diff of a large file",
    size: 48,
    short: 10,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    before: overwriteWithChanges,
    run: client => call(client, "list_changes", { diff: true }),
  },
  {
    id: "list the diff of files whose directories were moved",
    size: 20_000,
    short: 5_000,
    make: (root, size) => manyFiles(root, size, 5),
    before: async (client, size) => {
      const edited = await call(client, "replace_in_files", {
        paths: ["tree"],
        old: "value",
        new: "number",
        max_files: size,
      });
      if (edited.failed) return edited;
      const command = 'mkdir moved; for d in tree/*; do echo "$d" moved; done | xargs -n 2 mv';
      return await call(client, "run_command", { command, timeout_ms: 300_000 });
    },
    run: client => call(client, "list_changes", { diff: true, since: "start" }),
  },
  {
    id: "undo the overwriting of a large file",
    size: 48,
    short: 10,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    before: overwriteWithChanges,
    run: takeBack,
  },
  {
    id: "undo of a command that edited files",
    size: 10_000,
    short: 1_000,
    make: manyFiles,
    before: client =>
      call(client, "run_command", {
        command: "find tree -type f -print0 | xargs -0 sed -i s/const/let/",
        timeout_ms: 300_000,
      }),
    run: takeBack,
  },
  {
    id: "replace everywhere in a large file",
    size: 40,
    short: 8,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    run: client => call(client, "replace_in_files", { paths: ["large.txt"], old: "o", new: "0" }),
  },
  {
    id: "replace an expression everywhere in a large file",
    size: 40,
    short: 8,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    run: client =>
      call(client, "replace_in_files", { paths: ["large.txt"], old: "(o)", new: "0$1", match: "regex" }),
  },
  {
    id: "search with many hits",
    size: 40,
    short: 8,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    run: client => call(client, "search_text", { pattern: "line", limit: 1000 }),
  },
  {
    id: "multi-line search with many hits",
    size: 40,
    short: 8,
    make: (root, size) => largeText(join(root, "large.txt"), size),
    run: client => call(client, "search_text", { pattern: "it\\nline", multiline: true }),
  },
  {
    id: "search one long line of matches",
    size: 100,
    make: (root, size) => writeFileSync(join(root, "line.txt"), "match ".repeat((size * 1e6) / 6)),
    run: client => call(client, "search_text", { pattern: "match" }),
    mayFail: true,
  },
  {
    id: "search a sparse file",
    size: 4000,
    make: (root, size) => {
      const fd = openSync(join(root, "sparse.txt"), "w");
      writeSync(fd, "text\n");
      ftruncateSync(fd, size * 1e6);
      closeSync(fd);
    },
    run: client => call(client, "search_text", { pattern: "needle" }),
    mayFail: true,
  },
  {
    id: "copy a tree",
    size: 20_000,
    short: 2_000,
    make: manyFiles,
    run: client => call(client, "copy_path", { from: "tree", to: "copy" }),
  },
];

/** Reads a large text, whose version is then an old one: the file is edited. */
async function readThenEdited(client: StdioClient): Promise<Answer> {
  const read = await call(client, "read_file", { path: "large.txt", limit: 2 });
  const edit = await call(client, "edit_file", {
    path: "large.txt",
    edits: [{ old: "line 777 of", new: "new line 777 of" }],
  });
  return edit.failed ? edit : read;
}
