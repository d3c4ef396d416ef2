// `write_file`: a whole file.
import { encode } from "../../engine/text/text.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const writeFile = textTool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a file, or replace all of it, with UTF-8 text. To change a part of a file, use edit_file. The path must be " +
    "within the allowed directories.",
  input: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  },
  effect: "writes",
  idempotent: true,
  paths: ["path"],
  call: "open",
  async run({ path: given, content }, call) {
    const path = pathAt(given, call);
    const { workspace, settings, signal } = call;
    const bytes = await encode(path.given, content);
    await workspace.commit([{ kind: "write", path, bytes }], { hardLinks: settings.hardLinks, signal });
    return `Successfully wrote to ${given}`;
  },
});
