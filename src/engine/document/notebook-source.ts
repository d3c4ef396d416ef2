// The source of a notebook's cell as JSON has it: a string, or a list of strings that are put together. Splices change
// it: a list keeps the items whose text stays, and a line that stays keeps its own spelling.
import type { Splice } from "../text/splice.ts";
import type { Placed } from "./json-places.ts";

/** A string, or a list of strings put together, as notebooks write texts. */
export function textOf(placed: Placed | undefined): string | undefined {
  if (placed === undefined) return undefined;
  const { value } = placed;
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const parts = (value as readonly Placed[]).map(item => item.value);
  return parts.every(part => typeof part === "string") ? parts.join("") : undefined;
}

/** The splices that make a source these lines. Whether its last line is ended stays. */
export function sourceSplices(json: string, source: Placed, lines: readonly string[]): Splice[] {
  const text = textOf(source) ?? "";
  const made = lines.join("\n") + (text.endsWith("\n") && lines.length > 0 ? "\n" : "");
  if (made === text) return [];
  const spelled = spellings(json, source);
  if (Array.isArray(source.value)) return [listSplice(json, source, made, spelled)];
  const parts = lines.map(line => spell(line, spelled)).join("\\n");
  return [{ start: source.start, end: source.end, text: `"${parts}${made.endsWith("\n") ? "\\n" : ""}"` }];
}

/** Replaces the items between those at both ends that stay. Kept items leave whole lines between them. */
function listSplice(
  json: string,
  { value, start, end }: Placed,
  made: string,
  spelled: ReadonlyMap<string, string>,
): Splice {
  const items = value as readonly Placed[];
  const isLineStart = (at: number) => at === 0 || at === made.length || made[at - 1] === "\n";
  let [head, from] = [0, 0];
  for (let i = 0, at = 0; i < items.length && made.startsWith(textIn(items[i]), at); i++) {
    at += textIn(items[i]).length;
    if (isLineStart(at)) [head, from] = [i + 1, at];
  }
  let [tail, to] = [items.length, made.length];
  for (let i = items.length - 1, at = made.length; i >= head; i--) {
    at -= textIn(items[i]).length;
    if (at < from || !made.startsWith(textIn(items[i]), at)) break;
    if (isLineStart(at)) [tail, to] = [i, at];
  }
  const added = made
    .slice(from, to)
    .split(/(?<=\n)/)
    .filter(line => line !== "")
    .map(line => `"${spell(line.replace(/\n$/, ""), spelled)}${line.endsWith("\n") ? "\\n" : ""}"`);
  const [first, last] = [items[0], items.at(-1)];
  if (made === "") return { start, end, text: "[]" };
  if (first === undefined || last === undefined) {
    const gap = gapBefore(json, start);
    return { start, end, text: `[${gap}${added.join(`,${gap}`)}${gap.replace(/ $/, "")}]` };
  }
  const second = items[1];
  const between = second ? json.slice(first.end, second.start) : `,${json.slice(start + 1, first.start)}`;
  const [before, after] = [items[head - 1], items[tail]];
  const text = added.join(between);
  if (added.length === 0) {
    if (before !== undefined) return { start: before.end, end: (items[tail - 1] ?? before).end, text: "" };
    return { start: first.start, end: after?.start ?? last.end, text: "" };
  }
  const [opens, closes] = [items[head], items[tail - 1]];
  if (head < tail && opens && closes) return { start: opens.start, end: closes.end, text };
  if (after !== undefined) return { start: after.start, end: after.start, text: text + between };
  return { start: last.end, end: last.end, text: between + text };
}

function textIn(item: Placed | undefined): string {
  return typeof item?.value === "string" ? item.value : "";
}

function spell(line: string, spelled: ReadonlyMap<string, string>): string {
  return spelled.get(line) ?? JSON.stringify(line).slice(1, -1);
}

/** How JSON spells each line of a source. */
function spellings(json: string, source: Placed): Map<string, string> {
  const found = new Map<string, string>();
  let [line, spelling] = ["", ""];
  const keep = () => {
    found.set(line, spelling);
    [line, spelling] = ["", ""];
  };
  for (const { start, end } of Array.isArray(source.value) ? (source.value as readonly Placed[]) : [source]) {
    for (const [part] of json.slice(start + 1, end - 1).matchAll(/[^\\]+|\\u.{4}|\\./gs)) {
      const text = part.startsWith("\\") ? (JSON.parse(`"${part}"`) as string) : part;
      if (text === "\n") keep();
      else {
        line += text;
        spelling += part;
      }
    }
  }
  keep();
  return found;
}

/** How far before a list the start of its line is looked for: all of the JSON may be one line. */
const longestIndented = 1000;

/** How the items of an empty list would be indented: one step more than the list. */
function gapBefore(json: string, at: number): string {
  const before = json.slice(Math.max(0, at - longestIndented), at);
  const line = before.lastIndexOf("\n") + 1;
  if (line === 0) return "";
  return `\n${/^[ \t]*/.exec(before.slice(line))?.[0] ?? ""} `;
}
