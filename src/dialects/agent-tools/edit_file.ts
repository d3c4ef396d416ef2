// `edit_file`: replaces one place, or every exact one.
import { text, tool } from "../../contract/tool.ts";
import { disclosure, editFile, replacement } from "./editing.ts";
import { failed } from "./failure.ts";
import { pathAt } from "./names.ts";

export const edit = tool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Replace one occurrence of old_string with new_string in a file. old_string must match exactly once, or set " +
    "replace_all. Where nothing matches exactly, whitespace is overlooked if that leaves exactly one place, and the " +
    "answer says so. Line endings and byte-order mark are kept.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "File to edit." }, ...replacement },
    required: ["path", "old_string", "new_string"],
    additionalProperties: false,
  },
  effect: "writes",
  paths: ["path"],
  async run({ path, ...change }, call) {
    const at = pathAt(call, path);
    const edited = await editFile(at, [change], call);
    if ("fault" in edited) return failed(edited.fault);
    const { count = 0, tolerance } = edited.applied[0] ?? {};
    const places = count === 1 ? "1 occurrence" : `${count} occurrences`;
    const how = tolerance ? ` (${disclosure(tolerance)}; re-read the file to check the result)` : "";
    return text(`Replaced ${places} in ${at.given}${how}.${edited.note}`);
  },
});
