// `list_allowed_directories`: what the other tools can reach.
import { text, tool } from "../../contract/tool.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { output } from "./output.ts";

export const listAllowedDirectories = tool({
  name: "list_allowed_directories",
  title: "List allowed directories",
  description:
    "List all directories this server can access. Run it first to confirm scope: every other tool works only " +
    "inside these directories.",
  input: { type: "object", properties: {} },
  output: output({ allowedDirectories: { type: "array", items: { type: "string" } } }),
  effect: "reads",
  leaf: true,
  run(_, { workspace }) {
    const allowedDirectories = workspace.roots.map(root => nativeForm(root.path));
    const said =
      allowedDirectories.length === 0
        ? "No directories are allowed. Start the server with directories to serve, with --allow-cwd, or from a " +
          "client that offers roots."
        : [
            `Allowed directories (${allowedDirectories.length}):`,
            ...allowedDirectories.map(path => `- ${path}`),
          ].join("\n");
    return text(said, { ok: true, allowedDirectories });
  },
});
