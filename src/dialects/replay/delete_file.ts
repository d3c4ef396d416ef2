// `delete_file`: deletes a file, or a directory with all that is in it. Of a link only the link goes.
import { text, tool } from "../../contract/tool.ts";
import { writable } from "./paths.ts";

export const deleteFile = tool({
  name: "delete_file",
  title: "Delete file",
  description: "Delete a file, or a directory with everything in it.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Absolute path of a file or directory." } },
    required: ["path"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path: given }, { workspace, signal }) {
    const { path } = writable(workspace, given);
    const { files } = await workspace.commit([{ kind: "remove", path, recursive: true }], { signal });
    return text(`Deleted ${files[0]?.at}`);
  },
});
