// Replacement texts: `$1`, `${name}`, `$&` and so on. Parsed once, checked against the pattern's groups, then
// expanded for each match. The caller chooses which notations count.
import { Fault } from "../fault.ts";
import type { Match, RegexMatches } from "./find.ts";

export interface ReplacementStyle {
  /** `\0` to `\9`, and `\n`, `\t`, `\r`, `\\`; any other pair stays as it is. Also makes `$0` the whole match. */
  readonly backslash: boolean;
  /** `${name}` and `$<name>`. */
  readonly names: boolean;
  /** Whether `$12` may be group 12, if the pattern has that many. */
  readonly twoDigits: boolean;
  /** A group that the pattern does not have: refused with `missing_group`, or left standing as text. */
  readonly missing: "refuse" | "keep";
}

/** `$1`, `${name}`, `$&`, `$$`. */
export const dollarStyle: ReplacementStyle = {
  backslash: false,
  names: true,
  twoDigits: true,
  missing: "refuse",
};
/** `\1`, `$1`, `\0`, `$0`, `$&`, `$$`, `\n`; one digit. */
export const sedStyle: ReplacementStyle = {
  backslash: true,
  names: false,
  twoDigits: false,
  missing: "refuse",
};

/** Text, or the number of a group; 0 is the whole match. */
export type Replacement = readonly (string | number)[];

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\" };

/** Reads a replacement text. Throws `missing_group`. */
export function readReplacement(
  template: string,
  style: ReplacementStyle,
  pattern: Pick<RegexMatches, "groups" | "names">,
  where: { readonly path: string; readonly edit: number },
): Replacement {
  const notation = style.names
    ? /\$(?:\$|&|(\d\d?)|\{([^{}]*)\}|<([^<>]*)>)|\\([\s\S])/g
    : /\$(?:\$|&|(\d\d?))|\\([\s\S])/g;
  const parts: (string | number)[] = [];
  const group = (number: number | undefined, written: string) => {
    if (number !== undefined && number <= pattern.groups) return number;
    if (style.missing === "keep") return written;
    throw new Fault("missing_group", { ...where, reference: written, groups: pattern.groups });
  };
  let at = 0;
  for (let match = notation.exec(template); match !== null; match = notation.exec(template)) {
    parts.push(template.slice(at, match.index));
    const written = match[0];
    const digits = match[1];
    const name = style.names ? (match[2] ?? match[3]) : undefined;
    const escaped = style.names ? match[4] : match[2];
    if (written === "$$") parts.push("$");
    else if (written === "$&") parts.push(0);
    else if (digits !== undefined) {
      const taken =
        style.twoDigits && digits.length === 2 && Number(digits) <= pattern.groups
          ? digits
          : digits.slice(0, 1);
      notation.lastIndex = match.index + 1 + taken.length;
      const isWhole = Number(taken) === 0;
      parts.push(isWhole && !style.backslash ? `$${taken}` : group(Number(taken), `$${taken}`));
    } else if (name !== undefined) {
      const number = /^\d+$/.test(name) ? Number(name) : pattern.names.get(name);
      parts.push(group(number, written));
    } else if (!style.backslash || escaped === undefined) parts.push(written);
    else if (/\d/.test(escaped)) parts.push(group(Number(escaped), written));
    else parts.push(escapes[escaped] ?? written);
    at = notation.lastIndex;
  }
  parts.push(template.slice(at));
  return parts;
}

/**
 * How much text the replacements of this many matches are together; `lengthOf` tells how long a group of a match is.
 * Counted, not built: it can exceed the available memory.
 */
export function expandedLength(
  replacement: Replacement,
  matches: number,
  lengthOf: (match: number, group: number) => number,
): number {
  const times = new Map<number, number>();
  let length = 0;
  for (const part of replacement) {
    if (typeof part === "string") length += part.length * matches;
    else times.set(part, (times.get(part) ?? 0) + 1);
  }
  for (const [group, count] of times)
    for (let match = 0; match < matches; match++) length += count * lengthOf(match, group);
  return length;
}

/** Whether a match is the empty one after the final line break, where no line is. */
export function isBehindLastLine(text: string, start: number): boolean {
  return start > 0 && start === text.length && text.endsWith("\n");
}

/** The replacement of a match. A group that did not participate is empty. */
export function expand(replacement: Replacement, text: string, match: Match): string {
  let result = "";
  for (const part of replacement) {
    if (typeof part === "string") result += part;
    else {
      const span = part === 0 ? match : match.groups[part - 1];
      if (span !== undefined) result += text.slice(span.start, span.end);
    }
  }
  return result;
}
