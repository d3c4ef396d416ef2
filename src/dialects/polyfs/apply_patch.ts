// `apply_patch`: a unified diff or a patch envelope over any number of files, all of it or nothing.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { parsePatch } from "../../engine/edit/patch.ts";
import { version } from "../../engine/text/version.ts";
import type { Change } from "../../engine/workspace/commit/change.ts";
import { type PatchBlock, patchBlocks, patchChanges } from "../../engine/workspace/commit/patch-block.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { type ChangedBytes, syntaxNotesOf } from "./syntax-notes.ts";
import { textOf } from "./text-file.ts";
import { dryRunProperty, notes, writing } from "./writing.ts";

export const applyPatch = polyfsTool({
  name: "apply_patch",
  title: "Apply patch",
  description:
    "Apply a unified diff, or `*** Begin Patch` … `*** End Patch`, to any number of files: all or none.",
  input: {
    type: "object",
    properties: { patch: { type: "string" }, dry_run: dryRunProperty },
    required: ["patch"],
  },
  effect: "writes",
  async run({ patch, dry_run }, call) {
    const options = {
      workspace: call.workspace,
      at: (path: string) => pathAt(call, path),
      textOf: (path: string, bytes: Buffer) => textOf(path, bytes),
      maxBytes: call.settings.maxFileBytes,
      links: "follow",
      createdEnding: "patch",
    } as const;
    const blocks = await patchBlocks(parsePatch(patch), options);
    let changes: Change[] = [];
    let found: ReadonlyMap<string, Buffer> = new Map();
    const commit = await call.workspace.editAll(
      blocks.filter(block => block.isRead).map(block => block.path),
      async files => {
        changes = await patchChanges(blocks, files);
        found = new Map(files.flatMap(({ path, bytes }) => (bytes ? [[path.absolute, bytes]] : [])));
        if (!dry_run) return changes;
        for (const { to } of blocks) call.workspace.locate(to); // refuse now what the commit would refuse
        return [];
      },
      writing(call),
    );
    const lines = blocks.flatMap(block => [summary(block, changes), ...positionNotes(block)]);
    const end = dry_run ? ["[dry run: nothing was written]"] : notes(commit, call);
    const syntax = await syntaxNotesOf(blocks.map(block => bytesOf(block, changes, found)));
    return text([...lines, ...end, ...syntax].join("\n"));
  },
});

/** `M src/a.ts +3 -1 · v:3f9a1c2b77d0` */
function summary({ patch, path, to }: PatchBlock, changes: readonly Change[]): string {
  const counts = `+${patch.added} -${patch.removed}`;
  const bytes = writtenTo(to, changes);
  const end = bytes === undefined ? "" : ` · ${version(bytes)}`;
  switch (patch.kind) {
    case "modify":
      return `M ${printable(path.given)} ${counts}${end}`;
    case "create":
      return `A ${printable(path.given)} ${counts}${end}`;
    case "copy":
      return `A ${printable(to.given)} (copy of ${printable(path.given)}) ${counts}${end}`;
    case "delete":
      return `D ${printable(path.given)}`;
    case "rename":
      return `R ${printable(path.given)} -> ${printable(to.given)} ${counts}${end}`;
  }
}

/** Names the hunks that did not apply at their line numbers or did not match exactly: the agent has an older copy. */
function positionNotes({ patch, positions }: PatchBlock): string[] {
  const notes = positions.flatMap(({ at, offset, isTrimmed }, i) => {
    const moved = `applied at line ${at + 1}, not ${patch.hunks[i]?.oldStart ?? 0}: lines have moved`;
    const reasons = [
      ...(offset === 0 ? [] : [moved]),
      ...(isTrimmed ? ["no exact match; matched ignoring trailing whitespace"] : []),
    ];
    return reasons.map(reason => `  [hunk ${i + 1}: ${reason}]`);
  });
  const more = notes.length - mostPositionNotes;
  return more > 0 ? [...notes.slice(0, mostPositionNotes), `  [and ${counted(more, "hunk")} more]`] : notes;
}

/** Notes about the hunks of one file that an answer shows. */
const mostPositionNotes = 5;

function bytesOf(
  { path, to }: PatchBlock,
  changes: readonly Change[],
  found: ReadonlyMap<string, Buffer>,
): ChangedBytes {
  return { path: to.given, before: found.get(path.absolute), after: writtenTo(to, changes) };
}

function writtenTo(path: WorkspacePath, changes: readonly Change[]): Uint8Array | undefined {
  const written = changes.find(change => changedPath(change) === path);
  return written !== undefined && "bytes" in written ? written.bytes : undefined;
}

function changedPath(change: Change) {
  return "to" in change ? change.to : change.path;
}
