// `get_file_info`: the attributes of a file or directory. For a link, those of its target.
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const getFileInfo = textTool({
  name: "get_file_info",
  title: "Get file info",
  description:
    "Size, times, kind and permissions of a file or directory, one per line. The path must be within the allowed " +
    "directories.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  call: "stat",
  run({ path }, call) {
    const stat = call.workspace.stat(pathAt(path, call));
    return [
      `size: ${stat.size}`,
      `created: ${stat.created}`,
      `modified: ${stat.modified}`,
      `accessed: ${stat.accessed}`,
      `isDirectory: ${stat.kind === "directory"}`,
      `isFile: ${stat.kind === "file"}`,
      `permissions: ${stat.mode.toString(8).padStart(3, "0").slice(-3)}`,
    ].join("\n");
  },
});
