// `edit_file`: any number of edits of any kind in one file, all or none. All of them refer to the file as it was read.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { type Applied, applyEdits } from "../../engine/edit/apply.ts";
import { Fault } from "../../engine/fault.ts";
import { type Rebased, rebased } from "../../engine/history/versions.ts";
import type { Text } from "../../engine/text/text.ts";
import { version } from "../../engine/text/version.ts";
import { changeOf, diffOf, type ShownDiff } from "./diff.ts";
import { asRead, editReadable, refusePdf } from "./documents.ts";
import { editsProperty, engineEdits, overlooked } from "./edits.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { withSymbolsAsLines } from "./symbol-edit.ts";
import { syntaxNotes } from "./syntax-notes.ts";
import { decoding, refuseBinary } from "./text-file.ts";
import { dryRunProperty, mergedNote, notes, refuseNoVersion, versionProperty, writing } from "./writing.ts";

/** Bytes of the diff that is answered: enough to check a change, not to read the file again. */
const diffBytes = 6000;
/** The diff of a file of more bytes is computed while the file is written: a thread may do it. */
const largeBytes = 256 * 1024;

export const editFile = polyfsTool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Edit a file, all edits or none. An edit: old+new (exact, unique), start_line+end_line+new, " +
    "insert_after+new, or symbol+new; line numbers as read. Changes since if_version are merged in. " +
    "Returns the diff and new syntax errors.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      edits: editsProperty,
      if_version: versionProperty,
      encoding: { type: "string" },
      dry_run: dryRunProperty,
    },
    required: ["path", "edits"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path, edits: asked, if_version, encoding, dry_run }, call) {
    refuseNoVersion(if_version);
    const { workspace, signal } = call;
    const at = pathAt(call, path);
    const { given } = at;
    const edits = engineEdits(asked, given);
    let outcomes: readonly (Applied | Fault)[] = [];
    let result: Rebased | undefined;
    let syntax: Promise<string[]> | undefined;
    let early: Promise<ShownDiff> | undefined;
    const commit = await workspace.edit(
      at,
      async bytes => {
        refuseBinary(given, bytes, encoding);
        await refusePdf(given, bytes, encoding);
        const options = { encoding, ...decoding };
        const apply = (file: Text) =>
          editReadable(file, async read => {
            const placed = await withSymbolsAsLines(edits, read);
            const applied = await applyEdits(read, placed, { order: "original", signal });
            outcomes = applied.outcomes;
            return applied;
          });
        result = await rebased(
          given,
          bytes,
          if_version,
          () => ({ workspace, at: workspace.locate(at).path }),
          apply,
          options,
        );
        const { text: after, current: before } = result;
        syntax = syntaxNotes({ path: given, before, after }); // while the file is written
        const made = after.bytes;
        early = made.length > largeBytes ? diffBetween(before, after) : undefined;
        early?.catch(() => {}); // the file may not be written
        return dry_run || made.equals(bytes) ? undefined : made;
      },
      { ...writing(call), maxBytes: call.settings.maxFileBytes },
    );
    if (result === undefined) throw new Fault("not_found", { path: given });
    const { current: before, text: after } = result;
    const diff = await (early ?? diffBetween(before, after));
    const did = dry_run ? "would edit" : before === after ? "unchanged" : "edited";
    return text(
      [
        `${did} ${printable(given)} · +${diff.added} -${diff.removed} · ${version(after.bytes)}`,
        ...outcomes.flatMap((outcome, i) => overlooked(outcome, i)),
        ...mergedNote(result),
        ...(dry_run ? ["[dry run: nothing was written]"] : notes(commit, call)),
        diff.text,
        ...((await syntax) ?? []),
      ].join("\n"),
    );
  },
});

async function diffBetween(before: Text, after: Text): Promise<ShownDiff> {
  return diffOf(await changeOf(...(await asRead(before, after))), diffBytes);
}
