// `list_directory`: the names in one directory. A link is a file here, whatever its target.
import { sortByName } from "../../engine/search/order.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";
import { BoundedLines } from "./room.ts";

export const listDirectory = textTool({
  name: "list_directory",
  title: "List directory",
  description:
    "List a directory, one entry per line, each after [FILE] or [DIR], sorted by name. Includes hidden entries. The " +
    "path must be within the allowed directories.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  effect: "reads",
  paths: ["path"],
  call: "scandir",
  run({ path }, call) {
    using directory = call.workspace.directory(pathAt(path, call));
    const entries = sortByName(directory.entries());
    const lines = new BoundedLines();
    for (const { name, kind } of entries) {
      if (lines.add(`${kind === "directory" ? "[DIR]" : "[FILE]"} ${name}`)) continue;
      lines.note(`cut: ${lines.count} of ${entries.length} entries; find others with search_files`);
      break;
    }
    return lines.toString();
  },
});
