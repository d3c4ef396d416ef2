// The outline of a file: a line for each declaration, with the lines that it takes.
import type { Declared } from "../../engine/syntax/declared.ts";
import { outlineOf } from "../../engine/syntax/outline.ts";
import type { Structure } from "../../engine/syntax/structure.ts";
import { counted } from "./answer.ts";

/** An outline has at most this part of the file's bytes, so that it is worth reading first. */
const share = 0.08;
const least = 600;

/** Its lines. Without declarations, one that says so. */
export function outlineLines({ declared, known }: Structure, fileBytes: number, room: number): string[] {
  const unknown = known ? [] : ["[not parsed as code: outlined by headings and indentation]"];
  if (declared.length === 0) return [...unknown, "[no declarations]"];
  const most = Math.min(Math.max(least, fileBytes * share), room);
  const { shown, left } = outlineOf(declared, most, lineOf);
  const more = left > 0 ? [`[${counted(left, "smaller declaration")} left out]`] : [];
  return [...unknown, ...shown.map(lineOf), ...more];
}

/** `  44-89 handleAuth(req, res, next)` */
function lineOf({ depth, top, to, head }: Declared): string {
  return `${"  ".repeat(Math.min(depth, 6))}${top === to ? top : `${top}-${to}`} ${head}`;
}
