// `write_file`: a whole file, with the directories above it.
import { tool } from "../../contract/tool.ts";
import { encode } from "../../engine/text/text.ts";
import { written } from "./other-names.ts";
import { writable } from "./paths.ts";

export const writeFile = tool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a file, or replace all of it, with UTF-8 text. Creates missing parent directories. To change a part of " +
    "a file, use edit_file.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Absolute path of the file; missing parents are created." },
      content: { type: "string", description: "The whole content (UTF-8)." },
    },
    required: ["path", "content"],
  },
  effect: "writes",
  idempotent: true,
  paths: ["path"],
  async run({ path: given, content }, { workspace, settings, signal }) {
    const { path } = writable(workspace, given);
    const bytes = await encode(given, content);
    const options = { parents: true, hardLinks: settings.hardLinks, signal };
    const commit = await workspace.commit([{ kind: "write", path, bytes }], options);
    return written(`Successfully wrote ${commit.files[0]?.at}`, commit, settings);
  },
});
