// `list_files`: the entries of a directory, or the tree below it.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { walk } from "../../engine/search/walk.ts";
import { workspaceTool } from "./workspace-tool.ts";

/** The contract has no limit; an answer needs one. */
const mostEntries = 100_000;

export const listFiles = workspaceTool({
  name: "list_files",
  title: "List files",
  description: "List the files and subdirectories in the specified directory.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "The directory path to list contents of" },
      recursive: {
        type: "boolean",
        description: "Whether to recursively list subdirectory contents",
        default: false,
      },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  async run({ path, recursive }, workspace, { signal }) {
    using directory = workspace.directory(workspace.at(path));
    const maxDepth = recursive ? undefined : 0;
    const entries = walk(directory, { order: "tree", maxDepth, maxEntries: mostEntries, signal });
    const lines: string[] = [];
    await entries.each(entry => {
      lines.push(`${entry.kind === "directory" ? "directory" : "file"}: ${printable(entry.path)}`);
      return true;
    });
    const { inaccessible, stopped } = entries.report;
    if (lines.length === 0) lines.push("(empty directory)");
    if (inaccessible > 0) lines.push(`(not listed: ${inaccessible} directories that could not be read)`);
    if (stopped !== undefined) lines.push(`(stopped after ${mostEntries} entries: list subdirectories)`);
    return text(lines.join("\n"));
  },
});
