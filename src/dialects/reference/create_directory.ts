// `create_directory`: creates a directory and its parents. An existing one is fine.
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const createDirectory = textTool({
  name: "create_directory",
  title: "Create directory",
  description:
    "Create a directory, and its missing parents. Succeeds if it already exists. The path must be within the allowed " +
    "directories.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  effect: "writes",
  destructive: false,
  idempotent: true,
  paths: ["path"],
  call: "mkdir",
  async run({ path: given }, call) {
    const path = pathAt(given, call);
    await call.workspace.commit([{ kind: "mkdir", path }], { parents: true, signal: call.signal });
    return `Successfully created directory ${given}`;
  },
});
