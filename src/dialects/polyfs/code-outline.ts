// The outline of a file: a line for each declaration, with the lines that it takes.
import type { Declared } from "../../engine/syntax/declared.ts";
import { outlineOf } from "../../engine/syntax/outline.ts";
import type { Structure } from "../../engine/syntax/structure.ts";
import { counted } from "./answer.ts";

/** An outline has at most this part of the file's bytes, so that it is worth reading first; small files have few anyway. */
const share = 0.08;
const least = 1500;

/** The lines that an outline is asked for. */
export interface OutlineWindow {
  readonly from: number;
  readonly to: number;
}

/** Its lines. Without declarations, one that says so. */
export function outlineLines(
  { declared, known }: Structure,
  fileBytes: number,
  room: number,
  { from, to }: OutlineWindow = { from: 1, to: Number.POSITIVE_INFINITY },
): string[] {
  const unknown = known ? [] : ["[not parsed as code: outlined by headings and indentation]"];
  const inside = declared.filter(one => one.to >= from && one.top <= to);
  if (inside.length === 0) return [...unknown, "[no declarations]"];
  const most = Math.min(Math.max(least, fileBytes * share), room);
  const { shown, smaller, after } = outlineOf(inside, most, lineOf);
  const lines = [...unknown, ...shown.map(lineOf)];
  if (smaller > 0)
    lines.push(
      `[${counted(smaller, "smaller declaration")} left out: outline with offset and limit has those of a part]`,
    );
  const [next] = after;
  if (next !== undefined)
    lines.push(`[${counted(after.length, "more declaration")}: outline with offset=${next.top}]`);
  return lines;
}

/** `  44-89 handleAuth(req, res, next)` */
function lineOf({ depth, top, to, head }: Declared): string {
  return `${"  ".repeat(Math.min(depth, 6))}${top === to ? top : `${top}-${to}`} ${head}`;
}
