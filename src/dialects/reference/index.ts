// The `reference` dialect: the tools of `@modelcontextprotocol/server-filesystem`, as a drop-in replacement. Answers
// are the same; where that server is wrong they are better, and docs/dialects/reference.md lists how. Every failure
// is a result with `isError` and one sentence.
import type { Dialect } from "../../contract/dialect.ts";
import { text } from "../../contract/tool.ts";
import { say } from "../../contract/wording.ts";
import { createDirectory } from "./create_directory.ts";
import { directoryTree } from "./directory_tree.ts";
import { editFile } from "./edit_file.ts";
import { getFileInfo } from "./get_file_info.ts";
import { listAllowedDirectories } from "./list_allowed_directories.ts";
import { listDirectory } from "./list_directory.ts";
import { listDirectoryWithSizes } from "./list_directory_with_sizes.ts";
import { moveFile } from "./move_file.ts";
import { readFile, readTextFile } from "./read_file.ts";
import { readMediaFile } from "./read_media_file.ts";
import { readMultipleFiles } from "./read_multiple_files.ts";
import { searchFiles } from "./search_files.ts";
import { wordingFor } from "./wording.ts";
import { writeFile } from "./write_file.ts";

/** For faults outside of any tool; a tool says its own. */
const wording = wordingFor({ call: "open", allowed: [] });

export const reference: Dialect = {
  name: "reference",
  title: "Filesystem",
  summary: "the fourteen tools of @modelcontextprotocol/server-filesystem, as a drop-in replacement",
  tools: [
    readFile,
    readTextFile,
    readMediaFile,
    readMultipleFiles,
    writeFile,
    editFile,
    createDirectory,
    listDirectory,
    listDirectoryWithSizes,
    directoryTree,
    moveFile,
    searchFiles,
    getFileInfo,
    listAllowedDirectories,
  ],
  wording,
  withoutRoots: "client-roots",
  missingRoots: "skip",
  narrowedByClient: true,
  failure(fault, { tool }) {
    const sentence = say(wording, fault);
    const body =
      fault.code === "invalid_params" && tool !== undefined
        ? `MCP error -32602: Input validation error: Invalid arguments for tool ${tool.name}: ${sentence}`
        : sentence;
    return { ...text(body), isError: true };
  },
  offers: ({ effect }, { workspace: { roots } }) =>
    effect === "reads" || roots.length === 0 || roots.some(({ access }) => access === "read-write"),
};
