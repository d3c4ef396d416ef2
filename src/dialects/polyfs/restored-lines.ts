// What an undo did to each path: with a diff where they are few, and in short where they are many.
import type { Restored } from "../../engine/history/undo.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { decode } from "../../engine/text/text.ts";
import { hashInTurns, version } from "../../engine/text/version.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { type AnswerLines, counted } from "./answer.ts";
import { changeOf, countsOf, diffOf } from "./diff.ts";
import { asRead } from "./documents.ts";
import { shownAt } from "./paths.ts";

const diffBytes = 2000;
/** More paths than these have no diff of their own, and more than those are only counted. */
const mostWithDiff = 5;
const mostNamed = 20;

export async function addRestored(
  lines: AnswerLines,
  restored: readonly Restored[],
  workspace: Workspace,
): Promise<void> {
  const withDiff = restored.length <= mostWithDiff;
  let shown = 0;
  for (const one of restored.slice(0, mostNamed)) {
    if (!lines.add(await describe(one, workspace, withDiff))) break;
    shown++;
  }
  if (shown === restored.length) return;
  const rest = new Map<string, number>();
  for (const { did } of restored.slice(shown)) rest.set(did, (rest.get(did) ?? 0) + 1);
  const kinds = [...rest].map(([did, count]) => `${count} ${did}`).join(", ");
  lines.note(`[${counted(restored.length - shown, "more path")}: ${kinds}]`);
}

async function describe(
  { at, did, from, before, after }: Restored,
  workspace: Workspace,
  withDiff: boolean,
): Promise<string> {
  const path = shownAt(workspace, at);
  if (did === "moved back")
    return `moved back ${from === undefined ? "" : `${shownAt(workspace, from)} -> `}${path}`;
  if (before === undefined || after === undefined) return `${did} ${path}`;
  await hashInTurns(after);
  const head = `${did} ${path} · ${version(after)}`;
  if (isNoText(before) || isNoText(after)) return head;
  const [old, made] = [
    await decode(path, before, { legacy: true }),
    await decode(path, after, { legacy: true }),
  ];
  const change = await changeOf(...(await asRead(old, made)));
  if (withDiff && before.equals(after)) return `${head}\n[no difference in what is shown]`;
  if (withDiff) return `${head}\n${(await diffOf(change, diffBytes)).text}`;
  const { added, removed } = await countsOf(change);
  return `${did} ${path} +${added} -${removed} · ${version(after)}`;
}
