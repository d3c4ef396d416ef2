// `list_changes`: what was changed here, by whom and when, the newest first.
import { text } from "../../contract/tool.ts";
import { listChanges as changesOf } from "../../engine/history/changes.ts";
import { answerBytes, Lines } from "./answer.ts";
import { changeLines } from "./change-lines.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";

export const listChanges = polyfsTool({
  name: "list_changes",
  title: "List changes",
  description: "The latest changes by any agent: id, time, tool, client, files.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer", minimum: 1, default: 20 },
      before: { type: "string", description: "A change." },
    },
  },
  effect: "reads",
  paths: ["path"],
  async run({ path, limit, before }, call) {
    const at = path === undefined ? undefined : pathAt(call, path);
    const found = await changesOf(call.workspace, { path: at, before, limit: limit + 1 });
    if (found.length === 0) {
      if (at !== undefined) call.workspace.lstat(at); // what neither is nor was there is told as that
      return text("[no changes]");
    }
    const lines = new Lines(answerBytes(call.settings) - 100);
    let last: string | undefined;
    for (const record of found.slice(0, limit)) {
      if (!lines.add(changeLines(record, call.workspace).join("\n"))) break;
      last = record.id;
    }
    if (last !== found.at(-1)?.id) lines.note(`[there are more: before=${last}]`);
    return text(lines.toString());
  },
});
