// `get_file_info`: the attributes of a file or directory.
import { text, tool } from "../../contract/tool.ts";
import { readable } from "./paths.ts";

export const getFileInfo = tool({
  name: "get_file_info",
  title: "Get file info",
  description: "Type, size in bytes, time of modification and permissions of a file or directory.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Absolute path to a file or directory." } },
    required: ["path"],
  },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  run({ path: given }, { workspace }) {
    const { kind, size, modified, mode } = workspace.stat(readable(workspace, given).path);
    return text(
      [
        `type: ${kind === "directory" ? "directory" : "file"}`,
        `size: ${size}`,
        `modified: ${modified.toISOString()}`,
        `permissions: ${mode.toString(8).padStart(3, "0")}`,
      ].join("\n"),
    );
  },
});
