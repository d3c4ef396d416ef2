// `move_file`: moves or renames a file or directory. A link itself is moved, not its target.
import { text, tool } from "../../contract/tool.ts";
import { writable } from "./paths.ts";

export const moveFile = tool({
  name: "move_file",
  title: "Move file",
  description:
    "Move or rename a file or directory. Creates missing parents of the destination, and replaces a file that has " +
    "that name.",
  input: {
    type: "object",
    properties: {
      source: { type: "string", description: "Absolute source path." },
      destination: { type: "string", description: "Absolute destination path; missing parents are created." },
    },
    required: ["source", "destination"],
  },
  effect: "writes",
  paths: ["source", "destination"],
  async run({ source, destination }, { workspace, signal }) {
    const [from, to] = [writable(workspace, source), writable(workspace, destination)];
    workspace.lstat(from.path); // report a missing source before anything about the destination
    const { files } = await workspace.commit(
      [{ kind: "move", from: from.path, to: to.path, overwrite: true }],
      { parents: true, signal },
    );
    return text(`Moved ${files[0]?.from?.at} -> ${files[0]?.at}`);
  },
});
