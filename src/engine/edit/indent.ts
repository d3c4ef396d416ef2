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

/** Maps the indentations of one block to those of another whose lines are otherwise equal. */
export type IndentMap = ReadonlyMap<string, string>;

/** The map between two blocks that differ in indentation only; undefined if one indentation would have to mean two. */
export function indentMap(from: readonly string[], to: readonly string[]): IndentMap | undefined {
  const map = new Map<string, string>();
  for (const [i, line] of from.entries()) {
    const other = to[i] ?? "";
    if (isBlank(line)) continue;
    const known = map.get(indentOf(line));
    if (known !== undefined && known !== indentOf(other)) return undefined;
    map.set(indentOf(line), indentOf(other));
  }
  // Deeper in one must be deeper in the other.
  const steps = [...map].sort(([a], [b]) => width(a) - width(b));
  for (const [i, [, deep]] of steps.entries()) {
    const before = steps[i - 1]?.[1];
    if (before !== undefined && width(before) >= width(deep)) return undefined;
  }
  return map;
}

/** Lines with mapped indentation; undefined if the map does not cover one of them. */
export function mapIndent(lines: readonly string[], map: IndentMap): string[] | undefined {
  const texts = lines.filter(line => !isBlank(line));
  const unknown = [...new Set(texts.map(indentOf))].filter(indent => !map.has(indent));
  const carried = new Map(map);
  const carry = unknown.length === 0 ? undefined : carrier(unknown, map);
  for (const indent of unknown) {
    const made = carry?.(indent);
    if (made === undefined) return undefined;
    carried.set(indent, made);
  }
  return lines.map(line => {
    if (isBlank(line)) return "";
    const indent = indentOf(line);
    return (carried.get(indent) ?? indent) + line.slice(indent.length);
  });
}

/** An indentation outside the map is scaled in proportion to those in it. */
function carrier(
  unknown: readonly string[],
  map: IndentMap,
): ((indent: string) => string | undefined) | undefined {
  const known = [...map].sort(([a], [b]) => a.length - b.length);
  const source = unitOf([...map.keys(), ...unknown]);
  const target = unitOf([...map.values()]);
  const [from, to] = known[0] ?? ["", ""];
  if (source === "mixed" || target === "mixed") {
    // Only extensions of a known indentation can be mapped.
    const start = (indent: string) => known.findLast(([one]) => indent.startsWith(one));
    return indent => {
      const base = start(indent);
      return base && base[1] + indent.slice(base[0].length);
    };
  }
  const unit = target === "" ? source : target;
  const ratio = ratioOf(known, source === unit, unknown, unit);
  if (ratio === undefined) return undefined;
  return indent => {
    const length = to.length + (indent.length - from.length) * ratio;
    return length >= 0 && Number.isInteger(length) ? unit.repeat(length) : undefined;
  };
}

/** How many characters of the target one of the source corresponds to; undefined if unknown. */
function ratioOf(
  known: readonly (readonly [string, string])[],
  sameUnit: boolean,
  unknown: readonly string[],
  unit: string,
): number | undefined {
  const [first, ...others] = known;
  if (first === undefined) return undefined;
  const [from, to] = [first[0].length, first[1].length];
  const ratios = others.map(([a, b]) => (b.length - to) / (a.length - from));
  const [ratio] = ratios;
  if (ratio !== undefined) return ratios.every(one => one === ratio) ? ratio : undefined;
  if (sameUnit) return 1;
  if (from > 0 && to > 0) return to / from;
  // The smallest step of the new text is one tab; how many spaces a tab is cannot be known.
  const steps = unknown.map(indent => Math.abs(indent.length - from));
  return unit === "\t" ? 1 / Math.min(...steps) : undefined;
}

/** What indentations consist of. */
function unitOf(indents: readonly string[]): "" | " " | "\t" | "mixed" {
  const all = indents.join("");
  if (all.includes(" ") && all.includes("\t")) return "mixed";
  return all === "" ? "" : all.includes("\t") ? "\t" : " ";
}
