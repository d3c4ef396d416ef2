// `list_allowed_directories`: what may be reached.

import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { allowedDirectories } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const listAllowedDirectories = textTool({
  name: "list_allowed_directories",
  title: "List allowed directories",
  description: "The directories that the tools may use, with everything below them, one per line.",
  input: { type: "object", properties: {} },
  effect: "reads",
  leaf: true,
  call: "stat",
  run: (_, { workspace }) =>
    `Allowed directories:\n${allowedDirectories(workspace).map(nativeForm).join("\n")}`,
});
