// `multi_edit`: several edits of one file, all or none.
import { text, tool } from "../../contract/tool.ts";
import { disclosure, editFile, replacement } from "./editing.ts";
import { failed } from "./failure.ts";
import { pathAt } from "./names.ts";

export const multiEdit = tool({
  name: "multi_edit",
  title: "Edit file in several places",
  description:
    "Apply several edits to ONE file in a single atomic call. Edits run in order, each on the result of the one " +
    "before, and match as in edit_file. If one fails, nothing is written and the error names its index.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to edit." },
      edits: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: replacement,
          required: ["old_string", "new_string"],
          additionalProperties: false,
        },
        description: "Edits in order.",
      },
    },
    required: ["path", "edits"],
    additionalProperties: false,
  },
  effect: "writes",
  paths: ["path"],
  async run({ path, edits }, call) {
    const at = pathAt(call, path);
    const edited = await editFile(at, edits, call);
    if ("fault" in edited) return failed(edited.fault, edited.index);
    const disclosed = edited.applied.flatMap(({ tolerance }, i) =>
      tolerance ? [`edit[${i}]: ${disclosure(tolerance)}`] : [],
    );
    const how =
      disclosed.length > 0 ? ` (${disclosed.join("; ")}; re-read the file to check the result)` : "";
    const count = edits.length === 1 ? "1 edit" : `${edits.length} edits`;
    return text(`Applied ${count} to ${at.given}${how}.${edited.note}`);
  },
});
