// Notes that a person left about changes: a line in the next answer says that there are some, and list_changes shows
// them.
import type { CallContext, CallerNote } from "../../contract/context.ts";
import type { Slot } from "../../contract/session.ts";
import type { Reply } from "../../contract/tool.ts";
import { isVisible } from "../../engine/history/changes.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import { counted } from "./answer.ts";
import { shownAt } from "./paths.ts";

/** The notes that were announced to a connection; each is announced once. */
const told: Slot<Set<string>> = { initial: () => new Set() };

export function withNoteCount(reply: Reply, call: CallContext): Reply {
  const { session } = call;
  const unread = unreadNotes(call);
  if (unread.length === 0) return reply;
  const known = session.get(told);
  const fresh = unread.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return reply;
  for (const { id } of fresh) known.add(id);
  const line = `[${counted(fresh.length, "note")} from a reviewer about your changes: list_changes shows ${fresh.length === 1 ? "it" : "them"}]`;
  const [first, ...rest] = reply.content;
  if (first?.type !== "text") return { ...reply, content: [...reply.content, { type: "text", text: line }] };
  return { ...reply, content: [{ ...first, text: `${first.text}\n${line}` }, ...rest] };
}

/** What the caller has yet to get, as far as it may see what it is about. */
export function unreadNotes({ notes, session, workspace }: CallContext): readonly CallerNote[] {
  return (notes?.unread(session) ?? []).filter(note => isForCaller(workspace, note));
}

/** A note on a file that a rule hides from the caller would reveal that file. */
export function isForCaller(
  workspace: CallContext["workspace"],
  { path, change }: Pick<CallerNote, "path" | "change">,
): boolean {
  if (path !== undefined)
    return workspace.roots.some(root => isWithin(path, root.path)) && !workspace.isHidden(path);
  const record = workspace.archive.changes.get(change);
  return record !== undefined && isVisible(workspace, record);
}

/** `note on m4x… src/a.ts:12: Use the other helper.` */
export function noteLine({ workspace }: CallContext, { change, path, line, side, text }: CallerNote): string {
  const name = path === undefined ? "" : ` ${shownAt(workspace, path)}`;
  const at = line === undefined ? "" : `:${line}${side === "old" ? " (before the change)" : ""}`;
  return `note from a reviewer on ${change}${name}${at}: ${text.replaceAll("\n", "\n  ")}`;
}
