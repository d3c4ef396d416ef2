// `edit_file`: replaces texts in a file, all of them or none, and answers with the difference.
import type { CallContext } from "../../contract/context.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import type { Edit } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import { decode, type Text, withMarkInText } from "../../engine/text/text.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { difference } from "./difference.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const editFile = textTool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Replace texts in a file, one after the other, all or none. oldText must occur exactly once; a block that differs " +
    "only in indentation is found too, and newText is indented to match. Keeps line endings and encoding. Returns a " +
    "diff of the change. The path must be within the allowed directories.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: {
            oldText: { type: "string", description: "The text to replace, exactly as in the file." },
            newText: { type: "string", description: "What to put in its place." },
          },
          required: ["oldText", "newText"],
        },
      },
      dryRun: { type: "boolean", default: false, description: "Only show the diff; change nothing." },
    },
    required: ["path", "edits"],
  },
  effect: "writes",
  paths: ["path"],
  call: "read",
  async run({ path: given, edits: asked, dryRun }, call) {
    const path = pathAt(given, call);
    const { workspace, settings, signal } = call;
    const edits = asked.map(engineEdit);
    const limit = settings.maxFileBytes;
    if (dryRun) {
      using file = await workspace.openFile(path);
      const before = await textOf(path.given, await file.bytes(limit));
      return difference(nativeForm(file.path), before, await edited(before, edits, call));
    }
    let answer = "";
    await workspace.edit(
      path,
      async bytes => {
        const before = await textOf(path.given, bytes);
        const after = await edited(before, edits, call);
        answer = await difference(nativeForm(workspace.locate(path).path), before, after);
        return after === before ? undefined : after.bytes;
      },
      { hardLinks: settings.hardLinks, signal, maxBytes: limit },
    );
    return answer;
  },
});

function engineEdit({ oldText, newText }: { oldText: string; newText: string }, i: number): Edit {
  if (oldText === "") {
    const message = `edits[${i}].oldText is empty, which matches everywhere: give the text that newText should replace`;
    throw new Fault("invalid_argument", { message });
  }
  return {
    kind: "replace",
    old: oldText,
    new: newText,
    times: "unique",
    tolerances: ["reindented", "indentation"],
  };
}

/** A byte-order mark is part of the text, as it is when the file is read. */
async function textOf(path: string, bytes: Buffer): Promise<Text> {
  return withMarkInText(await decode(path, bytes, { legacy: true }));
}

async function edited(text: Text, edits: readonly Edit[], { signal }: CallContext): Promise<Text> {
  const result = await applyEdits(text, edits, { order: "sequence", signal });
  return result.text;
}
