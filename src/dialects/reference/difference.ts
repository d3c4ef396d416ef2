// A change as a fenced unified diff: with the headers that the contract's clients know, four lines of context, plain
// line feeds, and a fence that is longer than any in the text.
import { changedPart } from "../../engine/text/changed-part.ts";
import { unifiedDiff } from "../../engine/text/diff.ts";
import { shown } from "../../engine/text/escape.ts";
import type { Text } from "../../engine/text/text.ts";

const context = 4;

export function difference(path: string, before: Text, after: Text): string {
  const header = [`Index: ${path}`, "=".repeat(67), `--- ${path}\toriginal`, `+++ ${path}\tmodified`];
  const { before: old, after: made, skipped } = changedPart(before, after, context);
  const hunks = unifiedDiff(plain(old.raw), plain(made.raw), { context, skipped }).replace(
    /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$/gm,
    (_, from, removed = ",1", to, added = ",1") => `@@ -${from}${removed} +${to}${added} @@`,
  );
  const diff = `${header.join("\n")}\n${shown(hunks)}`;
  const longest = (diff.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}

function plain(raw: string): string {
  return raw.replaceAll("\r\n", "\n");
}
