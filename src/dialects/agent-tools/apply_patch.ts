// `apply_patch`: a patch over any number of files, all of it or nothing.
import { text, tool } from "../../contract/tool.ts";
import { parsePatch } from "../../engine/edit/patch.ts";
import { Block } from "./patch-block.ts";
import { otherNames, writing } from "./writing.ts";

export const applyPatch = tool({
  name: "apply_patch",
  title: "Apply patch",
  description:
    "Apply a unified diff across one or more files, atomically: all changes or none. `--- /dev/null` creates a file, " +
    "`+++ /dev/null` deletes one, differing paths rename (with hunks: rename and edit). Paths are relative to the " +
    "workspace; `a/` and `b/` prefixes are stripped. Missing parent directories of created files are made. A hunk whose lines " +
    "have moved is found by its context, if that leaves exactly one place.",
  input: {
    type: "object",
    properties: {
      patch: { type: "string", description: "A unified diff spanning one or more files." },
    },
    required: ["patch"],
    additionalProperties: false,
  },
  effect: "writes",
  async run({ patch }, call) {
    const blocks = parsePatch(patch).map(file => new Block(file, call));
    const read = blocks.filter(block => block.isRead);
    const commit = await call.workspace.editAll(
      read.map(block => block.path),
      async files => {
        const contents = new Map(files.map(({ path, bytes }) => [path, bytes]));
        const changes = await Promise.all(blocks.map(block => block.changes(contents.get(block.path))));
        return changes.flat();
      },
      { ...writing(call), parents: true },
    );
    const note = otherNames(commit, call.settings).trim();
    return text(
      ["Applied patch:", ...blocks.map(block => block.summary()), ...(note ? [note] : [])].join("\n"),
    );
  },
});
