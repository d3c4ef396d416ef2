// The `fs` dialect: three read-only tools for one directory, aware of ignore files. Every failure is a JSON-RPC
// error whose message begins with the tool's name.
import type { Dialect } from "../../contract/dialect.ts";
import { plainWording, say, type Wording } from "../../contract/wording.ts";
import { listFiles } from "./list_files.ts";
import { readFile } from "./read_file.ts";
import { searchText } from "./search_text.ts";

const escapes = ({ path }: { path: string }) => `path escapes repository root: ${path}`;
const missing = ({ path }: { path: string }) => `failed to canonicalize path: ${path}`;

const wording: Wording = {
  ...plainWording,
  outside_roots: escapes,
  not_found: missing,
  invalid_pattern: ({ kind, pattern }) =>
    kind === "glob" ? `invalid glob pattern: ${pattern}` : `invalid regex: ${pattern}`,
  not_text: ({ path }) => `file is not valid UTF-8, binary files are not supported: ${path}`,
};

export const fs: Dialect = {
  name: "fs",
  title: "Read-only file tools",
  summary: "three read-only tools: list, read, search; aware of .gitignore",
  prefix: "fs.",
  tools: [listFiles, readFile, searchText],
  wording,
  withoutRoots: "working-directory",
  maxRoots: 1,
  failure(fault, { tool }) {
    const message = say(wording, fault);
    if (tool === undefined || fault.code === "invalid_params") return { error: { code: -32602, message } };
    return { error: { code: -32603, message: `${tool.name}_failed: ${message}` } };
  },
};
