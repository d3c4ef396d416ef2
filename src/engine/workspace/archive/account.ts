// What a commit does, as plain data that its journal can hold: after a crash, what was done can still be recorded.
import type { Kind } from "../../fault.ts";
import type { By, Effect } from "../commit/change.ts";
import type { Held, Outcome } from "../commit/outcome.ts";
import type { Spot } from "../commit/place.ts";
import type { Range } from "../commit/step.ts";

/** Something that stands at a spot, or whose bytes the journal holds. */
export interface Kept {
  readonly kind: Kind;
  readonly spot?: Spot;
  readonly blob?: Range;
  readonly mode?: number;
  readonly target?: string;
}

export interface AccountFile {
  readonly at: string;
  readonly effect: Effect;
  readonly kind: Kind;
  readonly from?: string;
  /** What stood there; for a move with new content, what stood where it came from. */
  readonly before?: Kept;
  /** What stands there now. Left out for what only moved. */
  readonly after?: Kept;
  /** What a move or a copy replaced. */
  readonly replaced?: Kept;
}

export interface Account {
  readonly time: number;
  readonly by: By;
  readonly files: readonly AccountFile[];
  readonly parents: readonly string[];
}

export function accountOf(outcomes: readonly Outcome[], by: By, parents: readonly string[]): Account {
  const files: AccountFile[] = [];
  for (const outcome of outcomes) {
    if (outcome.effect === "none" || "root" in outcome) continue;
    const { effect, kind, source, before, change } = outcome;
    const relocated = (effect === "moved" || effect === "copied") && !outcome.edited;
    const old = before && kept(before);
    files.push({
      at: change.at,
      effect,
      kind,
      ...(source && { from: source.at }),
      ...(old && (relocated ? { replaced: old } : { before: old })),
      ...(outcome.after && !(relocated && effect === "moved") && { after: { kind, spot: change.spot } }),
    });
  }
  return { time: Date.now(), by, files, parents };
}

function kept({ kind, mode, target, spot, blob }: Held): Kept {
  return {
    kind,
    ...(mode !== undefined && { mode }),
    ...(target !== undefined && { target }),
    ...(spot && { spot }),
    ...(blob && { blob }),
  };
}
