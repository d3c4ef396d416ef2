// JSON, also JSON5 or broken: every string that is not a key and every other scalar is hidden, except true, false and
// null. Only what begins an entry of an object can be a key: in a broken file, `"a": "value": 1` has one.
import { append } from "../../append.ts";
import { knownSecrets } from "./known-secrets.ts";
import { labelOf, type Secret } from "./secret.ts";

const token =
  /"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\[\s\S])*'?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]:,]|\s+|[^\s{}[\]:,"]+/g;

/** How many of the names above a value its label includes. */
const mostNames = 50;

export function jsonSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  const path: string[] = [];
  const isObject: boolean[] = [];
  /** The label of `path`, once a value needs it. */
  let within: string | undefined;
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
      within ??= labelOf(...path.slice(-mostNames));
      secrets.push({ start: from, end: to, label: `${within}.${labelOf(key)}` });
    }
  };
  for (const { 0: found, index } of text.matchAll(token)) {
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
      within = undefined;
      isObject.push(first === "{");
      mayBeKey = first === "{";
      key = first === "[" ? "0" : "";
    } else if (first === "}" || first === "]") {
      hide();
      isObject.pop();
      mayBeKey = false;
      key = path.pop() ?? "";
      within = undefined;
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
