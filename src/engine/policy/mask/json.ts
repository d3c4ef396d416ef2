// JSON, also JSON5 or broken: every string that is not a key and every other scalar is hidden, except true, false and
// null. Only what begins an entry of an object can be a key: in a broken file, `"a": "value": 1` has one.
import { append } from "../../append.ts";
import { knownSecrets } from "./known-secrets.ts";
import { labelBelow, labelOf, mostOfPath, mostSecrets, type Secret } from "./secret.ts";

const token =
  /"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\[\s\S])*'?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]:,]|\s+|[^\s{}[\]:,"]+/g;

export function jsonSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  const path: string[] = [];
  /** The labels of the outermost containers, as far as values have needed them. */
  const labels: string[] = [];
  const isObject: boolean[] = [];
  let key = "";
  let mayBeKey = true;
  let previous: { start: number; end: number } | undefined;
  const hide = (): void => {
    if (previous === undefined) return;
    const { start, end } = previous;
    previous = undefined;
    const quote = text[start];
    const isString = quote === '"' || quote === "'";
    const [from, to] = isString
      ? [start + 1, end - (text[end - 1] === quote && end - start > 1 ? 1 : 0)]
      : [start, end];
    if (to > from && (isString || !/^(?:true|false|null)$/.test(text.slice(from, to)))) {
      while (labels.length < path.length - mostOfPath) labels.push(""); // too far away to count
      for (let i = labels.length; i < path.length; i++)
        labels.push(labelBelow(labels[i - 1] ?? "", path[i] ?? ""));
      secrets.push({ start: from, end: to, label: `${labels.at(-1) ?? ""}.${labelOf(key)}` });
    }
  };
  for (const { 0: found, index } of text.matchAll(token)) {
    if (secrets.length > mostSecrets) break;
    const first = found[0] ?? "";
    if (/\s/.test(first)) continue;
    if (found.startsWith("//") || found.startsWith("/*")) {
      append(secrets, knownSecrets(text, index, index + found.length));
    } else if (first === ":") {
      if (mayBeKey && previous !== undefined) {
        key = text.slice(previous.start, previous.end).replace(/^["']|["']$/g, "");
        previous = undefined;
      }
      mayBeKey = false;
    } else if (first === "{" || first === "[") {
      hide();
      path.push(key);
      isObject.push(first === "{");
      mayBeKey = first === "{";
      key = first === "[" ? "0" : "";
    } else if (first === "}" || first === "]") {
      hide();
      isObject.pop();
      mayBeKey = false;
      key = path.pop() ?? "";
      labels.length = Math.min(labels.length, path.length);
    } else if (first === ",") {
      hide();
      mayBeKey = isObject.at(-1) ?? true;
      if (/^\d+$/.test(key)) key = String(Number(key) + 1);
    } else {
      if (previous !== undefined) mayBeKey = false;
      hide();
      previous = { start: index, end: index + found.length };
    }
  }
  hide();
  return secrets.sort((a, b) => a.start - b.start);
}
