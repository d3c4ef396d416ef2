// Edits of the text that a notebook is read as, carried over into its JSON by the lines that they name: comparing both
// texts would find other lines among those that are alike, and take a head for changed.
import { notebookSplices } from "../document/notebook.ts";
import { breaksOf } from "../text/endings.ts";
import type { Splice } from "../text/splice.ts";
import { type EditSplice, lineHunks, type TextEdits } from "./line-hunks.ts";

/** Undefined if more than the sources of cells was edited. */
export function notebookEdits(
  json: string,
  how: Omit<TextEdits, "splices">,
  splices: readonly EditSplice[],
): Splice[] | undefined {
  return notebookSplices(json, raw =>
    lineHunks({ raw, ...breaksOf(raw) }, { ...how, splices }).map(({ start, end, lines }) => ({
      start,
      end,
      lines: lines.map(line => line.replace(/\n$/, "")),
    })),
  );
}
