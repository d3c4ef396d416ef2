// `replace_in_files`: the same replacement in many files, all or none.
import type { CallContext } from "../../contract/context.ts";
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { isNotebook } from "../../engine/document/notebook.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import type { Edit } from "../../engine/edit/edits.ts";
import { occurrences } from "../../engine/edit/literal.ts";
import { Fault } from "../../engine/fault.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { likeBody } from "../../engine/text/endings.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import { version } from "../../engine/text/version.ts";
import type { Change } from "../../engine/workspace/commit/change.ts";
import { TimeSlice } from "../../engine/workspace/footprint/time-slice.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { AnswerLines, answerBytes, counted, unreadDirectories } from "./answer.ts";
import { addChangedLines } from "./changed-lines.ts";
import { asRead, isReadAsPdf, type ReplacedPlaces, refusePdf, replaceReadable } from "./documents.ts";
import { regexEdit } from "./edits.ts";
import { filesMatching } from "./files-matching.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { refuseNoName, renamed } from "./renaming.ts";
import { type NameInFile, type SymbolName, symbolNameOf } from "./symbol-name.ts";
import { syntaxNotesOf } from "./syntax-notes.ts";
import { decoding } from "./text-file.ts";
import { dryRunProperty, notes, writing } from "./writing.ts";

/** The most to show of changed lines. */
const changedBytes = 12_000;

export const replaceInFiles = polyfsTool({
  name: "replace_in_files",
  title: "Replace in files",
  description: "Replace every occurrence in all matching files: all or none.",
  input: {
    type: "object",
    properties: {
      paths: {
        type: "array",
        minItems: 1,
        items: { type: "string" },
        description: "Globs, files, directories.",
      },
      old: { type: "string", minLength: 1 },
      new: { type: "string" },
      match: {
        type: "string",
        enum: ["text", "regex", "name"],
        default: "text",
        description: "name: one identifier, not in strings or comments.",
      },
      ignore_case: { type: "boolean" },
      max_files: { type: "integer", minimum: 1, default: 100 },
      dry_run: dryRunProperty,
    },
    required: ["paths", "old", "new"],
  },
  effect: "writes",
  paths: ["paths"],
  async run(
    { paths, old: written, new: added, match, ignore_case: ignoreCase = false, max_files, dry_run },
    call,
  ) {
    const symbol = match === "name" ? symbolNameOf(written, call) : undefined;
    const old = symbol?.name ?? written;
    if (symbol !== undefined) refuseNoName(old, added);
    if (match !== "regex" && old === added)
      throw new Fault("no_change", { path: paths.join(", "), edit: -1 });
    const isRegex = match === "regex";
    const edit: Edit = isRegex
      ? regexEdit(old, added, ignoreCase, "all")
      : { kind: "replace", old, new: added, times: "all", ignoreCase };
    const { files: candidates, unreadable } = await filesMatching(paths, call);
    const { files, skipped } = await holding(candidates, edit, max_files, call);
    if (unreadable > 0) skipped.push(unreadDirectories(unreadable));
    if (files.length === 0) throw new Fault("no_match", { path: paths.join(", "), old, edit: -1 });
    let replaced: ReplacedFile[] = [];
    let unsure: readonly string[] = [];
    const commit = await call.workspace.editAll(
      files,
      async current => {
        const found = current.flatMap(({ path, bytes }) => (bytes === undefined ? [] : [{ path, bytes }]));
        const slice = new TimeSlice();
        if (symbol !== undefined) ({ replaced, unsure } = await renamedIn(found, symbol, added, call));
        else {
          replaced = [];
          for (const { path, bytes } of found) {
            if (slice.isOver) await slice.turn();
            const one = await replacedIn(path, bytes, edit, call);
            if (one !== undefined) replaced.push(one);
          }
        }
        return dry_run ? [] : replaced.map(({ change }) => change);
      },
      writing(call),
    );
    const lines = new AnswerLines(answerBytes(call.settings) - 400);
    const total = replaced.reduce((sum, { count }) => sum + count, 0);
    const did = dry_run ? "would replace" : "replaced";
    lines.note(`${did} ${counted(total, "occurrence")} in ${counted(replaced.length, "file")}`);
    let shown = 0;
    let room = new AnswerLines(Math.min(lines.room / 2, changedBytes));
    for (const { path, count, before, after } of replaced) {
      if (!lines.add(`${printable(path.given)}: ${count} · ${version(after.bytes)}`)) break;
      shown++;
      const changed = new AnswerLines(room.room);
      const fits = await addChangedLines(changed, ...(await asRead(before, after)));
      if (changed.count > 0) lines.add(changed.toString());
      room = new AnswerLines(fits ? changed.room : 0);
    }
    if (shown < replaced.length) lines.note(`[${counted(replaced.length - shown, "more file")}]`);
    if (room.room === 0) lines.note("[not all changed lines are shown]");
    for (const line of unsure) lines.note(line);
    for (const line of skipped) lines.note(line);
    for (const line of dry_run ? ["[dry run: nothing was written]"] : notes(commit, call)) lines.note(line);
    const changed = replaced.map(({ path, before, after }) => ({
      path: path.given,
      before: before.bytes,
      after: after.bytes,
    }));
    for (const line of await syntaxNotesOf(changed)) lines.note(line);
    return text(lines.toString());
  },
});

interface ReplacedFile {
  readonly path: WorkspacePath;
  readonly count: number;
  readonly before: Text;
  readonly after: Text;
  readonly change: Change & { readonly kind: "write" };
}

/** The files in which there is something to replace. Faults if there is none, and a file was too large to tell. */
async function holding(
  candidates: readonly WorkspacePath[],
  edit: Edit,
  most: number,
  call: CallContext,
): Promise<{ files: WorkspacePath[]; skipped: string[] }> {
  const { workspace, settings, signal } = call;
  const files: WorkspacePath[] = [];
  let large = 0;
  let pdfs = 0;
  let pdf: { readonly path: WorkspacePath; readonly bytes: Buffer } | undefined;
  let tooLarge: Fault | undefined;
  const slice = new TimeSlice();
  for (const [i, path] of candidates.entries()) {
    if (slice.isOver) await slice.turn();
    signal.throwIfAborted();
    if (i % 100 === 99) call.progress(i + 1, candidates.length);
    using file = await workspace.openFile(path);
    if (file.size > settings.maxFileBytes) {
      large++;
      tooLarge ??= new Fault("too_large", {
        path: path.given,
        size: file.size,
        limit: settings.maxFileBytes,
      });
      continue;
    }
    const bytes = await file.bytes(settings.maxFileBytes);
    if (!(await isHolding(path, bytes, edit, call))) continue;
    if (!(await isReadAsPdf(bytes))) files.push(path);
    else if (pdfs++ === 0) pdf = { path, bytes };
  }
  if (files.length > most) throw new Fault("too_many_files", { limit: most, count: files.length });
  if (files.length === 0 && tooLarge !== undefined) throw tooLarge;
  if (files.length === 0 && pdf !== undefined) await refusePdf(pdf.path.given, pdf.bytes, undefined);
  const skipped = [
    ...(large > 0 ? [`[${counted(large, "file")} left out: too large]`] : []),
    ...(pdfs > 0 ? [`[${counted(pdfs, "PDF")} left out]`] : []),
  ];
  return { files, skipped };
}

/** Whether there is something to replace in a file. */
async function isHolding(
  path: WorkspacePath,
  bytes: Buffer,
  edit: Edit,
  call: CallContext,
): Promise<boolean> {
  if (edit.kind !== "replace" || isNotebook(path.given))
    return (await replacedIn(path, bytes, edit, call)) !== undefined;
  if (isNoText(bytes)) return false;
  const file = await decode(path.given, bytes, decoding);
  return holds(file.body, likeBody(file, edit.old), edit.ignoreCase ?? false);
}

/** The result for a file; undefined if there is nothing to replace, or it is not text. */
async function replacedIn(
  path: WorkspacePath,
  bytes: Buffer,
  edit: Edit,
  { signal }: CallContext,
): Promise<ReplacedFile | undefined> {
  if (isNoText(bytes)) return undefined;
  const before = await decode(path.given, bytes, decoding);
  const made = await replaceReadable(before, shown => replacedInText(shown, edit, signal));
  if (made === undefined || made.text.bytes.equals(bytes)) return undefined;
  const { text: after, count } = made;
  return { path, count, before, after, change: { kind: "write", path, bytes: after.bytes } };
}

async function replacedInText(
  before: Text,
  edit: Edit,
  signal: AbortSignal,
): Promise<ReplacedPlaces | undefined> {
  // Looking why a text is not there costs far more than seeing that it is not.
  if (edit.kind === "replace" && !holds(before.body, likeBody(before, edit.old), edit.ignoreCase ?? false))
    return undefined;
  try {
    const { text: after, count } = await applyEdits(before, [edit], { order: "original", signal });
    return after.bytes.equals(before.bytes) ? undefined : { text: after, count };
  } catch (error) {
    if (Fault.is(error, "no_match")) return undefined;
    throw error;
  }
}

/** The results of renaming a symbol. */
async function renamedIn(
  found: readonly { readonly path: WorkspacePath; readonly bytes: Buffer }[],
  symbol: SymbolName,
  added: string,
  call: CallContext,
): Promise<{ replaced: ReplacedFile[]; unsure: readonly string[] }> {
  const files: NameInFile[] = [];
  for (const { path, bytes } of found) {
    const canonical = call.workspace.locate(path).path;
    files.push({ path, canonical, text: await decode(path.given, bytes, decoding) });
  }
  const { after, notes: unsure } = await renamed(files, symbol, added, path => shownText(path, call));
  const replaced = files.flatMap(({ path, text: before }, i): ReplacedFile[] => {
    const made = after[i];
    if (made === undefined) return [];
    const change = { kind: "write", path, bytes: made.text.bytes } as const;
    return [{ path, count: made.count, before, after: made.text, change }];
  });
  return { replaced, unsure };
}

/** A file that an import may lead through; undefined if there is none, or it is not shown. */
async function shownText(path: string, call: CallContext): Promise<string | undefined> {
  try {
    using file = await call.workspace.openFile(pathAt(call, path));
    const bytes = await file.bytes(call.settings.maxFileBytes);
    return (await decode(path, bytes, decoding)).body;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function holds(body: string, old: string, ignoreCase: boolean): boolean {
  return occurrences(body, old, { most: 1, ignoreCase }).length > 0;
}
