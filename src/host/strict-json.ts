// JSON that a person writes to restrict something: a policy, tokens, a configuration. A key that appears twice in
// one object is an error. A parser takes the last one, and a restriction in the first would be lost silently.

/** Throws an error that says what is wrong. A byte order mark is skipped. */
export function parseStrictJson(text: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  const value: unknown = JSON.parse(json);
  const key = repeatedKey(json);
  if (key !== undefined) throw new Error(`the key ${key} appears twice in one object`);
  return value;
}

/** The texts and brackets of valid JSON; `colon` is there after a key. */
const tokens = /(?<text>"(?:[^"\\]+|\\.)*")(?<colon>\s*:)?|[{}[\]]/g;

function repeatedKey(json: string): string | undefined {
  const open: Set<unknown>[] = [];
  for (const { 0: token, groups: { text = "", colon } = {} } of json.matchAll(tokens)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const key: unknown = JSON.parse(text); // "a" and "\\u0061" are one key
      if (open.at(-1)?.has(key)) return text;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}
