// A change record in an answer: a line that begins with its id, then its files with the numbers of added and removed
// lines.
import { printable } from "../../contract/wording.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { diffCounts } from "../../engine/text/diff.ts";
import type { ChangeRecord, RecordedFile } from "../../engine/workspace/archive/log.ts";
import type { Snapshot } from "../../engine/workspace/archive/snapshot.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { counted } from "./answer.ts";
import { deniedNote } from "./footprint-lines.ts";
import { shownAt } from "./paths.ts";

const mostFiles = 10;
/** Counting lines of larger files is not worth the time. */
const maxCountedBytes = 1024 * 1024;

/** `own` is the connection that is called "you"; files that `isWanted` refuses are only counted. */
export function changeLines(
  record: ChangeRecord,
  workspace: Workspace,
  own: string,
  isWanted: (file: RecordedFile) => boolean = () => true,
): string[] {
  const { id, action, connection, undoes, partial, files, kept, uncertain, others } = record;
  const who = connection === own ? "you" : authorOf(record);
  const back = undoes && `undoes ${partial ? "a part of " : ""}${undoes}`;
  const head = [id, timeOf(record), action || "?", who, ...(back ? [back] : [])];
  const visible = files.filter(({ at }) => !workspace.isHidden(at));
  const listed = visible.filter(isWanted).slice(0, mostFiles);
  const left = visible.length - listed.length;
  const denied = files.length - visible.length;
  return [
    head.join(" · ") +
      (uncertain || others ? " · or another command at the same time" : "") +
      (kept ? "" : " · cannot be undone"),
    ...listed.map(file => `  ${fileLine(file, workspace)}`),
    ...(left > 0 ? [`  [${counted(left, "more file")}]`] : []),
    ...(denied > 0 ? [`  ${deniedNote(denied)}`] : []),
  ];
}

/** Client and connection. */
export function authorOf({ client, connection }: Pick<ChangeRecord, "client" | "connection">): string {
  return `${printable(client) || "?"}${connection === undefined ? "" : ` (${printable(connection)})`}`;
}

export function timeOf({ time }: Pick<ChangeRecord, "time">): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

const letters = { created: "A", modified: "M", removed: "D", moved: "R", copied: "A", none: " " } as const;

function fileLine({ at, effect, kind, from, before, after }: RecordedFile, workspace: Workspace): string {
  const name = shownAt(workspace, at) + (kind === "directory" ? "/" : "");
  const named =
    from === undefined || workspace.isHidden(from) ? name : `${shownAt(workspace, from)} -> ${name}`;
  return `${letters[effect]} ${named}${counts(at, before, after, workspace)}`;
}

/** ` +3 -1`, where both sides are kept and text. */
function counts(
  at: string,
  before: Snapshot | undefined,
  after: Snapshot | undefined,
  workspace: Workspace,
): string {
  if (before === undefined && after === undefined) return "";
  const [old, made] = [textOf(at, before, workspace), textOf(at, after, workspace)];
  if (old === undefined || made === undefined) return "";
  const { added, removed } = diffCounts(old, made);
  return ` +${added} -${removed}`;
}

/** As the rules show it. */
function textOf(at: string, snapshot: Snapshot | undefined, workspace: Workspace): string | undefined {
  if (snapshot === undefined) return "";
  if (snapshot.kind !== "file" || snapshot.hash === undefined || snapshot.size > maxCountedBytes)
    return undefined;
  const bytes = workspace.isHidden(at) ? undefined : workspace.archive.objects.get(snapshot.hash);
  return bytes === undefined || isNoText(bytes) ? undefined : workspace.shown(at, bytes).toString("latin1");
}
