// How the whitespace of a text differs from the lines that it nearly matches, in words: an agent that knows the
// difference can send the right text.
import type { NumberedLine } from "../../engine/fault.ts";

export function whitespaceOf(old: string, current: readonly NumberedLine[]): string {
  const sent = old.replaceAll("\r\n", "\n").split("\n");
  const differing = current
    .map(({ text }, i) => ({ there: text, sent: sent[i] ?? "" }))
    .filter(({ there, sent }) => there.trim() === sent.trim() && there !== sent);
  const words = new Set<string>();
  for (const { there, sent } of differing) {
    if (indent(there) !== indent(sent)) words.add(indentation(indent(there), indent(sent)));
    if (tail(there) !== tail(sent))
      words.add(tail(there) === "" ? "no trailing whitespace" : "trailing whitespace");
  }
  return words.size === 0 ? "other whitespace or line breaks" : [...words].join(" and ");
}

function indentation(there: string, sent: string): string {
  if (there.includes("\t") && sent.includes(" ") && !sent.includes("\t")) return "tabs where old has spaces";
  if (sent.includes("\t") && there.includes(" ") && !there.includes("\t")) return "spaces where old has tabs";
  return there.length > sent.length ? "deeper indentation" : "less indentation";
}

function indent(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function tail(line: string): string {
  return /[ \t]*$/.exec(line)?.[0] ?? "";
}
