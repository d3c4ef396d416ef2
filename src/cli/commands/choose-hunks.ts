// `polyfs undo --interactive`: shows the hunks of changes one by one and asks which to undo. Answers come line by line
// from stdin, so a script can give them, too.
import { createInterface } from "node:readline";
import { hunkContext, isAt, type NetText, netTexts } from "../../engine/history/hunks.ts";
import { unifiedDiff } from "../../engine/text/diff.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { print } from "../print.ts";
import { colouredDiff, styleOf, visibleName } from "../style.ts";
import { type ShownPast, shownFrom } from "./past.ts";

const explained = "y: undo this hunk, n: keep it, a: undo this and all that follow, q: keep the rest\n";

/** The numbers of the hunks to undo, as `undoHunks` takes them. */
export async function chooseHunks(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  path: WorkspacePath | undefined,
  past: ShownPast,
): Promise<number[]> {
  const only = path && workspace.locate(path).path;
  const files = (await netTexts(workspace, records)).filter(file => !only || isAt(file, only));
  const total = files.reduce((sum, { at, hunks }) => sum + (past.isWhole(at) ? hunks.length : 0), 0);
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  const chosen: number[] = [];
  let asked = 0;
  let all = false;
  try {
    for (const file of files) {
      const name = visibleName(shownFrom(process.cwd(), file.at));
      if (file.opaque)
        await print(process.stderr, `${name}: only moved, or not text; undo the whole change for it\n`);
      // Where values are masked, hunks of the real text can look the same.
      const isWhole = past.isWhole(file.at);
      if (!file.opaque && !isWhole)
        await print(process.stderr, `${name}: the policy masks it; --reveal shows its hunks\n`);
      for (const [i, hunk] of isWhole ? hunkTexts(file, name).entries() : []) {
        asked++;
        if (!all) {
          await print(process.stdout, hunk);
          const answer = await answerTo(`Undo this hunk (${asked} of ${total})? [y,n,a,q,?] `, lines);
          if (answer === "q") return chosen;
          all = answer === "a";
          if (answer === "n") continue;
        }
        chosen.push(file.first + i);
      }
    }
    return chosen;
  } finally {
    input.close();
  }
}

/** End of input keeps the rest. */
async function answerTo(question: string, lines: AsyncIterator<string>): Promise<"y" | "n" | "a" | "q"> {
  for (;;) {
    await print(process.stderr, question);
    const { value, done } = await lines.next();
    const word = done ? "q" : String(value).trim().toLowerCase().slice(0, 1);
    if (word === "y" || word === "n" || word === "a" || word === "q") return word;
    await print(process.stderr, explained);
  }
}

function hunkTexts({ before, after, opaque }: NetText, name: string): string[] {
  if (opaque) return [];
  const style = styleOf(process.stdout);
  const from = before === undefined ? "/dev/null" : name;
  const to = after === undefined ? "/dev/null" : name;
  const diff = unifiedDiff(before?.body ?? "", after?.body ?? "", { context: hunkContext, from, to });
  const [head = "", ...hunks] = diff.split(/^(?=@@ )/m);
  return hunks.map(hunk => colouredDiff(head + hunk, style));
}
