// Indentation of blocks: taking it off, putting it on, and carrying it over from one style to another.

const leading = /^[ \t]*/;

export function indentOf(line: string): string {
  return leading.exec(line)?.[0] ?? "";
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** The smallest number of leading blanks over the lines that are not blank. */
function smallestIndent(lines: readonly string[]): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const line of lines) if (!isBlank(line)) smallest = Math.min(smallest, indentOf(line).length);
  return Number.isFinite(smallest) ? smallest : 0;
}

/** A block without its common indentation. */
export function dedent(lines: readonly string[]): string[] {
  const smallest = smallestIndent(lines);
  return lines.map(line => (isBlank(line) ? "" : line.slice(smallest)));
}

/** A block dedented by its own indentation and indented like another one. Empty lines stay empty. */
export function reindent(lines: readonly string[], like: readonly string[]): string[] {
  const smallest = smallestIndent(like);
  const model = like.find(line => !isBlank(line) && indentOf(line).length === smallest) ?? "";
  return dedent(lines).map(line => (line === "" ? "" : model.slice(0, smallest) + line));
}

const width = (indent: string) => indent.replaceAll("\t", "    ").length;

/** Which indentation of one block stands for which in another: its lines are the same but for that. */
export type IndentMap = ReadonlyMap<string, string>;

/** The map between two blocks; undefined where they differ in more, or one indentation would have to mean two. */
export function indentMap(from: readonly string[], to: readonly string[]): IndentMap | undefined {
  const map = new Map<string, string>();
  for (const [i, line] of from.entries()) {
    const other = to[i] ?? "";
    if (line.trim() !== other.trim()) return undefined;
    if (isBlank(line)) continue;
    const known = map.get(indentOf(line));
    if (known !== undefined && known !== indentOf(other)) return undefined;
    map.set(indentOf(line), indentOf(other));
  }
  // What is deeper in one must be deeper in the other.
  const steps = [...map].sort(([a], [b]) => width(a) - width(b));
  for (const [i, [, deep]] of steps.entries()) {
    const before = steps[i - 1]?.[1];
    if (before !== undefined && width(before) >= width(deep)) return undefined;
  }
  return map;
}

/** Lines with their indentation carried over by a map, and by its unit where the map does not know it. */
export function mapIndent(lines: readonly string[], map: IndentMap): string[] {
  const known = [...map].sort(([a], [b]) => width(b) - width(a));
  const convert = unitConversion(lines, map);
  return lines.map(line => {
    if (isBlank(line)) return "";
    const indent = indentOf(line);
    const rest = line.slice(indent.length);
    const exact = map.get(indent);
    if (exact !== undefined) return exact + rest;
    const base = known.find(([from]) => indent.startsWith(from));
    if (base !== undefined) return base[1] + convert(indent.slice(base[0].length)) + rest;
    // Shallower than anything known: take as much off the shallowest.
    const [from, to] = known.at(-1) ?? ["", ""];
    const less = convert(from.slice(indent.length));
    return (to.endsWith(less) ? to.slice(0, to.length - less.length) : "") + rest;
  });
}

/** How extra indentation is written in the other block: tabs for steps of spaces, spaces for tabs, or as it is. */
function unitConversion(lines: readonly string[], map: IndentMap): (extra: string) => string {
  const sources = [...map.keys(), ...lines.filter(line => !isBlank(line)).map(indentOf)];
  const targets = [...map.values()].join("");
  if (targets.includes("\t") && !sources.join("").includes("\t")) {
    const step = smallestStep(sources) || 4;
    return extra => "\t".repeat(Math.floor(extra.length / step)) + " ".repeat(extra.length % step);
  }
  if (targets.includes(" ") && !targets.includes("\t")) {
    const unit = " ".repeat(smallestStep([...map.values()]) || 4);
    return extra => extra.replaceAll("\t", unit);
  }
  return extra => extra;
}

function smallestStep(indents: readonly string[]): number {
  const widths = [...new Set(["", ...indents].map(width))].sort((a, b) => a - b);
  const steps = widths.slice(1).map((w, i) => w - (widths[i] ?? 0));
  return steps.length === 0 ? 0 : Math.min(...steps);
}
