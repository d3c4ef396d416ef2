// Secrets that are recognised by form: tokens with a fixed prefix, key blocks, passwords in URLs. A safety net for
// files without keys and for comments; the guarantee comes from a rule on the path.
import type { Secret } from "./secret.ts";

// `password = value` and its kin in text of any kind. The name may be the end of a longer one, such as `DB_PASSWORD`.
const name =
  /(?:\bpass|\bauth|passw(?:or)?d|passphrase|secret(?:[-_ ]?key)?|token|(?:api|access|private)[-_ ]?key)/
    .source;
// Quotes are escaped where the text is part of a string: a cell of a notebook, JSON in a script.
const assigned = /\\{0,8}["']?[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}/.source;
// A quoted value may hold blanks and escaped quotes. What adjoins it belongs to it: `b"..."`, `a"..."b`.
const triple = /[a-z]{0,2}(?:"""[\s\S]{0,4096}?"""|'''[\s\S]{0,4096}?''')/.source;
const quoted =
  /"(?:[^"\\\r\n]|\\[^\r\n]){1,4096}"|'(?:[^'\\\r\n]|\\[^\r\n]){1,4096}'|`(?:[^`\\\r\n]|\\[^\r\n]){1,4096}`/
    .source;
const escaped = /\\{0,8}"[^"\r\n]{1,4096}"|\\{0,8}'[^'\r\n]{1,4096}'|\\[^\r\n"'`]/.source;
const bare = /[^\s"',;\\`]{1,4096}/.source;
// A quote that is not closed on its line: the value goes on at least to the end of the line.
const unclosed =
  /[a-z]{0,2}(?:"(?:[^"\\\r\n]|\\[^\r\n]){1,4096}|'(?:[^'\\\r\n]|\\[^\r\n]){1,4096}|`(?:[^`\\\r\n]|\\[^\r\n]){1,4096})\\?(?=[\r\n]|$)/
    .source;
const opened = /\\{0,8}(?:"(?!")|'(?!')|`(?!`))[^\r\n]{1,4096}/.source;

const forms: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,40}-----|$)/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{22,255}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,}\b/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}\b/g,
  /\bsk-[A-Za-z0-9_-]{20,}\b/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}\b/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bpypi-[A-Za-z0-9_-]{50,}\b/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\b/g,
  /\bhf_[A-Za-z0-9]{30,}\b/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,256}(?=@)/gi,
  new RegExp(
    `(?<=${name}${assigned})(?:${triple}|${unclosed}|(?:${quoted}|${escaped}|${bare}){1,16}|${opened})`,
    "gi",
  ),
  /(?<=\b(?:password|passwd|account|Bearer|Basic)[ \t]{1,8})[A-Za-z0-9+/=_.~-]{8,4096}/g,
];

/** `auth:x`. Files may consist of hundreds of thousands of shorter parts. */
const fewestCharacters = 6;

/** The secrets in a part of a text, in order, none overlapping. */
export function knownSecrets(text: string, from = 0, to = text.length): Secret[] {
  if (to - from < fewestCharacters) return [];
  const part = text.slice(from, to);
  const spans: [number, number][] = [];
  for (const form of forms) {
    form.lastIndex = 0; // `matchAll` would copy the expression
    for (let found = form.exec(part); found !== null; found = form.exec(part))
      spans.push([from + found.index, from + form.lastIndex]);
  }
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const secrets: Secret[] = [];
  let reached = from;
  for (const [start, end] of spans) {
    if (start < reached) continue;
    secrets.push({ start, end });
    reached = end;
  }
  return secrets;
}
