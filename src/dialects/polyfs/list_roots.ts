// `list_roots`: the served directories.
import { text } from "../../contract/tool.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { polyfsTool } from "./polyfs-tool.ts";

export const listRoots = polyfsTool({
  name: "list_roots",
  title: "List roots",
  description: "The served directories.",
  input: { type: "object", properties: {}, additionalProperties: false },
  effect: "reads",
  leaf: true,
  run(_, { workspace: { roots } }) {
    if (roots.length === 0) return text("[no directory is served]");
    return text(roots.map(({ path, access }) => `${nativeForm(path)} (${access})`).join("\n"));
  },
});
