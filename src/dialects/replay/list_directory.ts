// `list_directory`: the names in one directory.
import { text, tool } from "../../contract/tool.ts";
import { sortByName } from "../../engine/search/order.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import { leadsTo } from "./leads-to.ts";
import { CheckedLines } from "./room.ts";

export const listDirectory = tool({
  name: "list_directory",
  title: "List directory",
  description:
    "List a directory, one entry per line, each with [FILE] or [DIR]. Hidden entries are included.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Absolute path of the directory." } },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  run({ path: given }, { workspace }) {
    const path = workspace.at(given);
    using directory = workspace.directory(path);
    const isDirectory = ({ name, kind }: DirectoryEntry) =>
      kind === "directory" || (kind === "symlink" && leadsTo(workspace, path.below(name)) === "directory");
    const lines = new CheckedLines(given);
    for (const entry of sortByName(directory.entries())) {
      lines.add(`${isDirectory(entry) ? "[DIR] " : "[FILE]"} ${entry.name}`);
    }
    return text(lines.toString());
  },
});
