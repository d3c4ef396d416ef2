// `apply_patch`: a patch over any number of files, all of it or nothing.
import { text, tool } from "../../contract/tool.ts";
import { parsePatch } from "../../engine/edit/patch.ts";
import { type PatchBlock, patchBlocks, patchChanges } from "../../engine/workspace/commit/patch-block.ts";
import { pathAt } from "./names.ts";
import { editableTextOf } from "./text-file.ts";
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
    const options = {
      workspace: call.workspace,
      at: (path: string) => pathAt(call, path),
      textOf: editableTextOf,
      maxBytes: call.settings.maxFileBytes,
      links: "refuse",
    } as const;
    const blocks = await patchBlocks(parsePatch(patch), options);
    const commit = await call.workspace.editAll(
      blocks.filter(block => block.isRead).map(block => block.path),
      files => patchChanges(blocks, files),
      { ...writing(call), parents: true },
    );
    const note = otherNames(commit, call.settings).trim();
    return text(["Applied patch:", ...blocks.map(summary), ...(note ? [note] : [])].join("\n"));
  },
});

function summary({ patch, path, to }: PatchBlock): string {
  switch (patch.kind) {
    case "modify":
      return `M ${path.given} (+${patch.added} -${patch.removed})`;
    case "create":
    case "copy":
      return `A ${to.given}`;
    case "delete":
      return `D ${path.given}`;
    case "rename":
      return `R ${path.given} -> ${to.given}`;
  }
}
