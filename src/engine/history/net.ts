// The net effect of several changes, file by file: its state before the first and after the last.
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";

export interface NetFile {
  readonly at: string;
  readonly before: Snapshot | undefined;
  readonly after: Snapshot | undefined;
  /** The path it was moved from: contents of moves are not compared. */
  readonly from?: string;
  /** Between these changes something else changed it, too: the net effect contains that. */
  readonly mixed?: boolean;
}

interface NetFileSoFar extends NetFile {
  /** What it held when it was first changed after a move. */
  readonly original?: Snapshot | undefined;
}

/** In path order. `records` come newest first, as they are listed. */
export function netOf(records: readonly ChangeRecord[]): NetFile[] {
  const files = new Map<string, NetFileSoFar>();
  for (const { files: changed } of records.toReversed()) {
    for (const { at, effect, from, before, after, replaced } of changed) {
      if (effect === "none") continue;
      const known = files.get(at);
      const old =
        known === undefined ? (effect === "moved" || effect === "copied" ? replaced : before) : known.before;
      if (effect === "moved" && from !== undefined) {
        const source = files.get(from);
        if (source?.before === undefined) files.delete(from);
        else files.set(from, { at: from, before: source.before, after: undefined });
        const origin = source?.from ?? from;
        const { original } = source ?? {};
        if (origin !== at)
          files.set(at, { at, before: old, after: after ?? source?.after, from: origin, original });
        else if (original === undefined)
          files.delete(at); // moved away and back
        else files.set(at, { at, before: original, after: after ?? source?.after });
      } else
        files.set(at, {
          at,
          before: old,
          after: effect === "removed" ? undefined : after,
          ...(known?.from && { from: known.from, original: known.original ?? before }),
          ...(known !== undefined && (known.mixed || !same(known.after, before)) && { mixed: true }),
        });
    }
  }
  return [...files.values()]
    .filter(file => file.from !== undefined || !same(file.before, file.after))
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}

function same(a: Snapshot | undefined, b: Snapshot | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.kind === "file" && b.kind === "file" && a.hash !== undefined && a.hash === b.hash;
}
