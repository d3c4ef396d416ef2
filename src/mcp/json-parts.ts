// Results as JSON in which large texts are encoded only when they are written (message-writer.ts): a file of 10 MB is
// never in memory three times, and its start reaches the client while the rest is being encoded.
import { type JsonPart, LargeText } from "./jsonrpc.ts";
import type { MethodResult } from "./method.ts";

/** From here on a text is worth the trouble. */
const largeText = 65_536;
/** Large texts are near the top (`content[0].text`, `structuredContent.results[0].content`), and in short lists. */
const deepest = 4;
const longestList = 200;

/** The JSON of a result, as `JSON.stringify` has it. */
export function jsonParts(result: MethodResult): string | readonly JsonPart[] {
  if (!hasLargeText(result)) return JSON.stringify(result);
  const parts: JsonPart[] = [];
  let plain = "";
  const put = (value: unknown, depth: number): void => {
    if (isLarge(value)) {
      parts.push(plain, new LargeText(value));
      plain = "";
    } else if (depth === deepest || !isOpen(value)) {
      plain += JSON.stringify(value) ?? "null";
    } else if (!Array.isArray(value)) {
      let between = "{";
      for (const [key, item] of Object.entries(value)) {
        if (item === undefined) continue;
        plain += `${between}${JSON.stringify(key)}:`;
        put(item, depth + 1);
        between = ",";
      }
      plain += between === "{" ? "{}" : "}";
    } else {
      let between = "[";
      for (const item of value) {
        plain += between;
        put(item, depth + 1);
        between = ",";
      }
      plain += between === "[" ? "[]" : "]";
    }
  };
  put(result, 0);
  parts.push(plain);
  return parts;
}

function isLarge(value: unknown): value is string {
  return typeof value === "string" && value.length >= largeText;
}

/** A list or a plain object that is worth looking into. */
function isOpen(value: unknown): value is object {
  if (Array.isArray(value)) return value.length <= longestList;
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Large texts occur only in content items and in resources. */
function hasLargeText({ content, contents }: MethodResult): boolean {
  const items = content ?? contents;
  return Array.isArray(items) && items.some(item => holdsLarge(item));
}

function holdsLarge(item: unknown): boolean {
  if (!isOpen(item)) return false;
  for (const value of Object.values(item))
    if (isLarge(value) || (typeof value === "object" && holdsLarge(value))) return true;
  return false;
}
