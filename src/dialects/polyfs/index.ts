// The `polyfs` dialect: our own tool set, and the default.
import type { Dialect } from "../../contract/dialect.ts";
import { applyPatch } from "./apply_patch.ts";
import { commandOutput } from "./command_output.ts";
import { copyPath } from "./copy_path.ts";
import { createDirectory } from "./create_directory.ts";
import { deletePath } from "./delete_path.ts";
import { editFile } from "./edit_file.ts";
import { failure } from "./failure.ts";
import { fileInfo } from "./file_info.ts";
import { findFiles } from "./find_files.ts";
import { instructions } from "./instructions.ts";
import { listChanges } from "./list_changes.ts";
import { listDirectory } from "./list_directory.ts";
import { listRoots } from "./list_roots.ts";
import { movePath } from "./move_path.ts";
import { readFile } from "./read_file.ts";
import { replaceInFiles } from "./replace_in_files.ts";
import { runCommand } from "./run_command.ts";
import { searchText } from "./search_text.ts";
import { stopCommand } from "./stop_command.ts";
import { undo } from "./undo.ts";
import { wording } from "./wording.ts";
import { workspace } from "./workspace.ts";
import { writeFile } from "./write_file.ts";

export const polyfs: Dialect = {
  name: "polyfs",
  title: "polyfs",
  summary:
    "everything: versions, merging, undo, all kinds of edits, search, and commands where they are allowed",
  tools: [
    readFile,
    listDirectory,
    findFiles,
    searchText,
    fileInfo,
    listRoots,
    writeFile,
    editFile,
    replaceInFiles,
    applyPatch,
    movePath,
    copyPath,
    deletePath,
    createDirectory,
    listChanges,
    undo,
    runCommand,
    commandOutput,
    stopCommand,
    workspace,
  ],
  wording,
  instructions,
  resources: true,
  defaultPolicy: true,
  withoutRoots: "usage",
  failure,
  offers({ effect, name }, { workspace: { roots }, settings }) {
    if (name === workspace.name && !settings.workspaces) return false;
    if (effect === "runs") return settings.commands === "sandboxed" || settings.commands === "unsandboxed";
    return effect === "reads" || roots.some(({ access }) => access === "read-write");
  },
};
