// `create_directory`: creates a directory and its parents. An existing one is fine.
import { text, tool } from "../../contract/tool.ts";
import { writable } from "./paths.ts";

export const createDirectory = tool({
  name: "create_directory",
  title: "Create directory",
  description: "Create a directory, and its missing parents. Succeeds if it already exists.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Absolute path (mkdir -p)." } },
    required: ["path"],
  },
  effect: "writes",
  destructive: false,
  idempotent: true,
  paths: ["path"],
  async run({ path: given }, { workspace, signal }) {
    const { path, at } = writable(workspace, given);
    await workspace.commit([{ kind: "mkdir", path }], { parents: true, signal });
    return text(`Created directory ${at}`);
  },
});
