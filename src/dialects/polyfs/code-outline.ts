// The outline of a file: a line for each declaration, with the lines that it takes.
import type { Declared } from "../../engine/syntax/declared.ts";
import { isListed, outlineOf } from "../../engine/syntax/outline.ts";
import type { Structure } from "../../engine/syntax/structure.ts";
import { counted, number } from "./answer.ts";

/** An outline has at most this part of the file's bytes, so that it is worth reading first; small files have few anyway. */
const share = 0.08;
const least = 1500;

/** The lines that an outline is asked for. */
export interface OutlineWindow {
  readonly from: number;
  readonly to: number;
  /** A page of the file, which counts what follows it; a part that was asked for by its name does not. */
  readonly page?: boolean;
}

/** Its lines. Without declarations, one that says so. */
export function outlineLines(
  { declared, known, unparsed, cut }: Structure,
  fileBytes: number,
  room: number,
  { from, to, page = false }: OutlineWindow = { from: 1, to: Number.POSITIVE_INFINITY },
): string[] {
  const unknown = known ? [] : [`[${notParsed(unparsed)}: outlined by headings and indentation]`];
  const inside = declared.filter(one => one.to >= from && one.top <= to);
  const most = Math.min(Math.max(least, fileBytes * share), room);
  const { shown, smaller, after } = outlineOf(inside, most, lineOf);
  const lines = [...unknown, ...shown.map(lineOf)];
  if (inside.length === 0)
    lines.push(declared.length === 0 ? "[no declarations]" : "[no declarations in these lines]");
  if (smaller > 0)
    lines.push(
      `[${counted(smaller, "smaller declaration")} left out: outline with offset and limit has those of a part]`,
    );
  const left = [...after, ...declared.filter(one => page && one.top > to && isListed(one))];
  const [next] = left;
  if (next !== undefined)
    lines.push(`[${counted(left.length, "more declaration")}: outline with offset=${next.top}]`);
  if (cut)
    lines.push(
      `[the file has more than ${number(declared.length)}; those after line ${declared.at(-1)?.top} are not listed: find them with search_text]`,
    );
  return lines;
}

/** Why headings and indentation are used instead of a grammar. */
export function notParsed(unparsed: boolean | undefined): string {
  return unparsed ? "too large to parse as code" : "not parsed as code";
}

/** `  44-89 handleAuth(req, res, next)` */
function lineOf({ depth, top, to, head }: Declared): string {
  return `${"  ".repeat(Math.min(depth, 6))}${top === to ? top : `${top}-${to}`} ${head}`;
}
