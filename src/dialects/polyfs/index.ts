// The `polyfs` dialect: our own tool set, and the one that is served when nobody chooses.
import type { Dialect } from "../../contract/dialect.ts";
import { failure } from "./failure.ts";
import { fileInfo } from "./file_info.ts";
import { findFiles } from "./find_files.ts";
import { listDirectory } from "./list_directory.ts";
import { listRoots } from "./list_roots.ts";
import { readFile } from "./read_file.ts";
import { searchText } from "./search_text.ts";
import { wording } from "./wording.ts";

export const polyfs: Dialect = {
  name: "polyfs",
  title: "polyfs",
  summary:
    "everything: versions, merging, undo, all kinds of edits, search, and commands where they are allowed",
  tools: [readFile, listDirectory, findFiles, searchText, fileInfo, listRoots],
  wording,
  withoutRoots: "usage",
  failure,
  offers({ effect }, { workspace, settings }) {
    if (effect === "runs") return settings.commands === "sandboxed" || settings.commands === "unsandboxed";
    return effect === "reads" || workspace.roots.some(({ access }) => access === "read-write");
  },
};
