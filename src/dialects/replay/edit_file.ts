// `edit_file`: replaces text in one file, all edits or none.
import { text, tool } from "../../contract/tool.ts";
import { dryRunProperty, editFile as edit, editsProperty, preview } from "./editing.ts";
import { written } from "./other-names.ts";
import { readable, writable } from "./paths.ts";

export const editFile = tool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Replace text in a file. Prefer literal edits where the text is known: oldText must then occur exactly once " +
    "(or differ only in the indentation of the whole block); set limit to replace more. A regex matches the whole " +
    "file, with ^ and $ at every line; preview it with dryRun. All edits are made, or none.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Absolute path to the file." },
      edits: editsProperty,
      dryRun: dryRunProperty,
    },
    required: ["path", "edits"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path: given, edits, dryRun }, call) {
    if (dryRun) return text(await preview(readable(call.workspace, given), edits, call));
    const file = writable(call.workspace, given);
    const commit = await edit(file, edits, call);
    return written(`Successfully edited ${file.at}`, commit, call.settings);
  },
});
