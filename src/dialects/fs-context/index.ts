// The `fs-context` dialect: eight read-only tools with structured answers. Every failure of a tool is a result with
// `isError`, one of the contract's codes and a suggestion. An unknown tool is a protocol error, as the protocol
// requires.
import type { Dialect } from "../../contract/dialect.ts";
import { text } from "../../contract/tool.ts";
import { getFileInfo } from "./get_file_info.ts";
import { getMultipleFileInfo } from "./get_multiple_file_info.ts";
import { instructions } from "./instructions.ts";
import { listAllowedDirectories } from "./list_allowed_directories.ts";
import { listDirectory } from "./list_directory.ts";
import { readFile } from "./read_file.ts";
import { readMultipleFiles } from "./read_multiple_files.ts";
import { searchContent } from "./search_content.ts";
import { searchFiles } from "./search_files.ts";
import { failureOf, wording } from "./wording.ts";

export const fsContext: Dialect = {
  name: "fs-context",
  title: "Filesystem Context",
  summary: "eight read-only tools: list, find, search, read and describe files, one or many at a time",
  tools: [
    listAllowedDirectories,
    listDirectory,
    searchFiles,
    searchContent,
    readFile,
    readMultipleFiles,
    getFileInfo,
    getMultipleFileInfo,
  ],
  wording,
  instructions,
  withoutRoots: "client-roots",
  failure(fault, { tool, params }) {
    const error = failureOf(fault, pathIn(params));
    if (tool === undefined) return { error: { code: -32602, message: error.message } };
    const lines = [`Error [${error.code}]: ${error.message}`];
    if (error.path !== undefined) lines.push(`Path: ${error.path}`);
    lines.push(`Suggestion: ${error.suggestion}`);
    return { ...text(lines.join("\n"), { ok: false, error }), isError: true };
  },
};

/** The path that a call was given. */
function pathIn(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null || !("path" in params)) return undefined;
  return typeof params.path === "string" ? params.path : undefined;
}
