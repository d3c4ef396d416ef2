// A change as a fenced unified diff: with the headers that the contract's clients know, four lines of context, plain
// line feeds, and a fence that is longer than any in the text.
import { unifiedDiff } from "../../engine/text/diff.ts";
import { shown } from "../../engine/text/escape.ts";
import type { Text } from "../../engine/text/text.ts";

export function difference(path: string, before: Text, after: Text): string {
  const header = [`Index: ${path}`, "=".repeat(67), `--- ${path}\toriginal`, `+++ ${path}\tmodified`];
  const hunks = unifiedDiff(plain(before), plain(after), { context: 4 }).replace(
    /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$/gm,
    (_, from, removed = ",1", to, added = ",1") => `@@ -${from}${removed} +${to}${added} @@`,
  );
  const diff = `${header.join("\n")}\n${shown(hunks)}`;
  const longest = (diff.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}

function plain({ raw }: Text): string {
  return raw.replaceAll("\r\n", "\n");
}
