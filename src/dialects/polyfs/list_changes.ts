// `list_changes`: the changes here with author and time, newest first, and their net effect.
import { text } from "../../contract/tool.ts";
import { changeNamed, listChanges as changesOf, concerns } from "../../engine/history/changes.ts";
import { isAt } from "../../engine/history/hunks.ts";
import { savedOutput } from "../../engine/history/standing.ts";
import type { RecordedFile } from "../../engine/workspace/archive/log.ts";
import { AnswerLines, answerBytes } from "./answer.ts";
import { changeLines } from "./change-lines.ts";
import { addNetLines } from "./net-lines.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { isForCaller, noteLine, unreadNotes } from "./reviewer-notes.ts";
import { latestChange, noteShown } from "./shown-diff.ts";
import { sinceOf } from "./since.ts";

export const listChanges = polyfsTool({
  name: "list_changes",
  title: "List changes",
  description: "The latest changes by any agent: id, time, tool, client (you: yours), files.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer", minimum: 1, default: 20 },
      before: { type: "string", description: "A change." },
      since: { type: "string", description: "A change, 2h, or `start` of this connection." },
      diff: { type: "boolean", description: "Net difference, hunks numbered." },
      mine: { type: "boolean" },
    },
  },
  effect: "reads",
  page: "review",
  paths: ["path"],
  async run({ path, limit, before, since, diff, mine }, call) {
    const { workspace, session } = call;
    const at = path === undefined ? undefined : pathAt(call, path);
    const from = await sinceOf(since, call);
    if (before !== undefined) await changeNamed(workspace, before); // otherwise nothing would seem to be before it
    const latest = diff ? await latestChange(call) : undefined;
    const connection = mine ? session.connection : undefined;
    const found = await changesOf(workspace, { path: at, before, ...from, connection, limit: limit + 1 });
    const lines = new AnswerLines(answerBytes(call.settings) - 100);
    const unread = unreadNotes(call).filter(note => lines.add(noteLine(call, note)));
    call.notes?.delivered(unread);
    if (found.length === 0) {
      if (at !== undefined) workspace.lstat(at); // report a path that neither exists nor existed
      lines.note("[no changes]");
      return text(lines.toString());
    }
    const listed = found.slice(0, limit);
    const others = (call.notes?.about(listed.map(({ id }) => id)) ?? []).filter(
      note => !unread.some(({ id }) => id === note.id) && isForCaller(workspace, note),
    );
    const place = at && workspace.locate(at).path;
    const isWanted = (file: RecordedFile) => place === undefined || concerns(file, place);
    let last: string | undefined;
    for (const record of listed) {
      if (diff && lines.room < answerBytes(call.settings) / 2) break;
      if (!lines.add(changeLines(record, workspace, session.connection, isWanted).join("\n"))) break;
      for (const note of others) if (note.change === record.id) lines.add(noteLine(call, note));
      last = record.id;
    }
    if (last !== found.at(-1)?.id) lines.note(`[there are more: before=${last}]`);
    if (diff) {
      const all = listed.filter(({ id }) => last !== undefined && id >= last);
      // What commands printed would leave no room for what was changed.
      const made = all.filter(({ action }) => action !== savedOutput);
      const shown = made.length > 0 ? made : all;
      const left = shown.length < all.length ? ", saved output left out" : "";
      lines.note(
        `[net difference of ${shown.length === 1 ? "this change" : `these ${shown.length} changes`}${left}]`,
      );
      await addNetLines(lines, shown, call, file => place === undefined || isAt(file, place));
      noteShown(session, shown, latest);
    }
    return text(lines.toString());
  },
});
