// JSON, also with comments or broken: every string that is not a key and every other scalar is hidden, except true,
// false and null.
import { knownSecrets } from "./known-secrets.ts";
import type { Secret } from "./secret.ts";

const token = /"(?:[^"\\\r\n]|\\.)*"?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]:,]|\s+|[^\s{}[\]:,"]+/g;

export function jsonSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  const path: (string | number)[] = [];
  let key = "";
  let previous: { start: number; end: number } | undefined;
  const hide = (): void => {
    if (previous === undefined) return;
    const { start, end } = previous;
    previous = undefined;
    const isString = text[start] === '"';
    const [from, to] = isString
      ? [start + 1, end - (text[end - 1] === '"' && end - start > 1 ? 1 : 0)]
      : [start, end];
    if (to > from && (isString || !/^(?:true|false|null)$/.test(text.slice(from, to))))
      secrets.push({ start: from, end: to, label: [...path, key].join(".") });
  };
  for (const { 0: found, index } of text.matchAll(token)) {
    const first = found[0] ?? "";
    if (/\s/.test(first)) continue;
    if (found.startsWith("//") || found.startsWith("/*")) {
      secrets.push(...knownSecrets(text, index, index + found.length));
    } else if (first === ":" && previous !== undefined) {
      key = text.slice(previous.start, previous.end).replace(/^"|"$/g, "");
      previous = undefined;
    } else if ("{[".includes(first)) {
      hide();
      path.push(key);
      key = first === "[" ? "0" : "";
    } else if ("}]".includes(first)) {
      hide();
      key = String(path.pop() ?? "");
    } else if (first === ",") {
      hide();
      if (/^\d+$/.test(key)) key = String(Number(key) + 1);
    } else if (first !== ":") {
      hide();
      previous = { start: index, end: index + found.length };
    }
  }
  hide();
  return secrets.sort((a, b) => a.start - b.start);
}
