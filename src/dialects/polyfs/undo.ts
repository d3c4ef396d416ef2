// `undo`: takes a change back, or what it did to one path. Later edits elsewhere in the same files stay.
import { text } from "../../contract/tool.ts";
import { type Restored, undo as takeBack } from "../../engine/history/undo.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { decode } from "../../engine/text/text.ts";
import { version } from "../../engine/text/version.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { answerBytes, counted, Lines } from "./answer.ts";
import { changeOf, diffOf } from "./diff.ts";
import { pathAt, shownAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { syntaxNotesOf } from "./syntax-notes.ts";
import { dryRunProperty, ending } from "./writing.ts";

const diffBytes = 2000;

export const undo = polyfsTool({
  name: "undo",
  title: "Undo",
  description: "Take back a change (default: the last) or one path of it; later edits elsewhere stay.",
  input: {
    type: "object",
    properties: { change: { type: "string" }, path: { type: "string" }, dry_run: dryRunProperty },
  },
  effect: "writes",
  paths: ["path"],
  async run({ change, path, dry_run }, call) {
    const { workspace, session, signal } = call;
    const at = path === undefined ? undefined : pathAt(call, path);
    const options = { change, path: at, dryRun: dry_run, client: session.client, signal };
    const { change: record, restored, commit } = await takeBack(workspace, options);
    const lines = new Lines(answerBytes(call.settings) - 200);
    lines.note(`${dry_run ? "would undo" : "undid"} ${record.id} (${record.action || "?"})`);
    if (restored.length === 0) lines.note("[nothing is left of it: all is as it was before]");
    let shown = 0;
    for (const one of restored) {
      if (!lines.add(await describe(one, workspace))) break;
      shown++;
    }
    if (shown < restored.length) lines.note(`[${counted(restored.length - shown, "more path")}]`);
    if (commit !== undefined) for (const line of ending(commit, call)) lines.note(line);
    if (dry_run) lines.note("[dry run: nothing was written]");
    const changed = restored.filter(one => one.after !== undefined);
    const named = changed.map(({ at: place, before, after }) => ({
      path: shownAt(workspace, place),
      before,
      after,
    }));
    for (const line of await syntaxNotesOf(named)) lines.note(line);
    return text(lines.toString());
  },
});

async function describe({ at, did, from, before, after }: Restored, workspace: Workspace): Promise<string> {
  const path = shownAt(workspace, at);
  if (did === "moved back")
    return `moved back ${from === undefined ? "" : `${shownAt(workspace, from)} -> `}${path}`;
  if (before === undefined || after === undefined) return `${did} ${path}`;
  const head = `${did} ${path} · ${version(after)}`;
  if (isNoText(before) || isNoText(after)) return head;
  const [old, made] = [
    await decode(path, before, { legacy: true }),
    await decode(path, after, { legacy: true }),
  ];
  return `${head}\n${diffOf(changeOf(old, made), diffBytes)}`;
}
