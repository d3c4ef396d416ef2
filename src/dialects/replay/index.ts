// The `replay` dialect: sixteen tools on several directories, each read-only or read-write, with absolute paths.
// Failures are JSON-RPC errors with the contract's codes.
import type { Dialect } from "../../contract/dialect.ts";
import { createDirectory } from "./create_directory.ts";
import { deleteFile } from "./delete_file.ts";
import { directoryTree } from "./directory_tree.ts";
import { editFile } from "./edit_file.ts";
import { editFiles } from "./edit_files.ts";
import { executeCommand } from "./execute_command.ts";
import { getFileInfo } from "./get_file_info.ts";
import { globSearch } from "./glob_search.ts";
import { grepFiles } from "./grep_files.ts";
import { listAllowedDirectories } from "./list_allowed_directories.ts";
import { listDirectory } from "./list_directory.ts";
import { moveFile } from "./move_file.ts";
import { readFile } from "./read_file.ts";
import { readMultipleFiles } from "./read_multiple_files.ts";
import { searchFiles } from "./search_files.ts";
import { failure, wording } from "./words.ts";
import { writeFile } from "./write_file.ts";

export const replay: Dialect = {
  name: "replay",
  title: "File tools with absolute paths",
  summary:
    "sixteen tools: read, write, edit by text or regex, search, run; absolute paths, JSON-RPC error codes",
  tools: [
    readFile,
    readMultipleFiles,
    writeFile,
    createDirectory,
    listDirectory,
    directoryTree,
    moveFile,
    deleteFile,
    getFileInfo,
    listAllowedDirectories,
    editFile,
    editFiles,
    searchFiles,
    grepFiles,
    globSearch,
    executeCommand,
  ],
  wording,
  withoutRoots: "none",
  failure,
  offers: ({ effect }, { settings }) => effect !== "runs" || settings.commands !== "none",
};
