// A change as a fenced unified diff: with the headers that the contract's clients know, four lines of context, plain
// line feeds, and a fence that is longer than any in the text.
import { textJob } from "../../engine/edit/thread/thread.ts";
import { changedParts } from "../../engine/text/changed-part.ts";
import { shown } from "../../engine/text/escape.ts";
import type { Text } from "../../engine/text/text.ts";

const context = 4;

export async function difference(path: string, before: Text, after: Text): Promise<string> {
  const header = [`Index: ${path}`, "=".repeat(67), `--- ${path}\toriginal`, `+++ ${path}\tmodified`];
  const hunks: string[] = [];
  for (const { before: old, after: made, skipped, drift } of await changedParts(before, after, context)) {
    const [from, to] = [plain(old.raw), plain(made.raw)];
    const size = from.length + to.length;
    hunks.push(await textJob("unifiedDiff", size, from, to, { context, skipped, drift }));
  }
  const numbered = hunks
    .join("")
    .replace(
      /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$/gm,
      (_, first, removed = ",1", second, added = ",1") => `@@ -${first}${removed} +${second}${added} @@`,
    );
  const diff = `${header.join("\n")}\n${shown(numbered)}`;
  const longest = (diff.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}

function plain(raw: string): string {
  return raw.replaceAll("\r\n", "\n");
}
