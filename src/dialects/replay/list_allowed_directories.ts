// `list_allowed_directories`: what may be reached, and how.

import { text, tool } from "../../contract/tool.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";

export const listAllowedDirectories = tool({
  name: "list_allowed_directories",
  title: "List allowed directories",
  description: "The directories that the tools may use, one per line, each (read-write) or (read-only).",
  input: { type: "object", properties: {} },
  effect: "reads",
  leaf: true,
  run(_, { workspace }) {
    const lines = workspace.roots.map(({ path, access }) => `${nativeForm(path)} (${access})`);
    return text(lines.length === 0 ? "(no allowed directories: every path is denied)" : lines.join("\n"));
  },
});
