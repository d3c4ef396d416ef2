// The place of a command in the history. It is recorded when it has ended, and by then others may have changed what it
// made: undone newest first, its change would go before theirs. So its id sorts after the changes that the command
// followed and before those that followed it, as far as the paths that both changed tell the order.
import type { ChangeLog } from "../workspace/archive/log.ts";
import type { TreeChange } from "../workspace/footprint/compare-trees.ts";
import { pathsAbove } from "../workspace/within.ts";
import type { PathState, Transition } from "./transitions.ts";

/** What a command did to a path that others changed, too; the same state twice if nothing. */
export interface OwnPart {
  readonly from: PathState;
  readonly to: PathState;
  /** What others did to it before that, and after it. */
  readonly earlier: readonly Transition[];
  readonly later: readonly Transition[];
}

/** Others' changes of the same paths, with the command's part in each. */
export interface Others {
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
  readonly parts: ReadonlyMap<string, OwnPart>;
}

/** Ids of changes: the last one that a command followed, and the first one that followed it. */
export interface Place {
  readonly after: string | undefined;
  readonly before: string | undefined;
}

export function placeOf(changes: readonly TreeChange[], { transitions, parts }: Others): Place {
  let after: string | undefined;
  let before: string | undefined;
  const follows = (steps: readonly Transition[]) => {
    for (const { id } of steps) if (after === undefined || id > after) after = id;
  };
  const precedes = (steps: readonly Transition[]) => {
    for (const { id } of steps) if (before === undefined || id < before) before = id;
  };
  if (transitions.size === 0) return { after, before };
  const own = new Map(changes.map(change => [change.bytes, change]));
  for (const [path, { before: from, after: to }] of own) {
    const { earlier = [], later = [] } = parts.get(path) ?? {};
    follows(earlier);
    precedes(later);
    // It was made while the directories above existed, unless the command made or removed them itself.
    for (const above of pathsAbove(path)) {
      const steps = own.has(above) ? [] : (transitions.get(above) ?? []);
      const isLater = ({ id }: Transition) => earlier.every(one => one.id < id);
      const isEarlier = ({ id }: Transition) => later.every(one => id < one.id);
      if (from !== undefined) precedes(steps.filter(step => isRemoval(step) && isLater(step)));
      if (to !== undefined) follows(steps.filter(step => isCreation(step) && isEarlier(step)));
    }
  }
  // In a directory that the command created, others worked afterwards; in one that it removed, before.
  for (const [path, steps] of transitions) {
    for (const above of pathsAbove(path)) {
      const change = own.get(above);
      if (change === undefined) continue;
      const { earlier = [], later = [] } = parts.get(above) ?? {};
      const { before: from, after: to } = change;
      if (isCreation({ before: from, after: to }))
        precedes(steps.filter(step => earlier.every(one => one.id < step.id)));
      else if (isRemoval({ before: from, after: to }))
        follows(steps.filter(step => later.every(one => step.id < one.id)));
    }
  }
  return { after, before };
}

/** An id for a change at this place. `id` is one from the time when the command ended. */
export function idAt({ after, before }: Place, id: string, began: number, changes: ChangeLog): string {
  if (before !== undefined && before < id) return changes.idBetween(after, before, began) ?? id;
  return after === undefined || after < id ? id : changes.newId();
}

function isCreation({ before, after }: Pick<Transition, "before" | "after">): boolean {
  return before?.kind !== "directory" && after?.kind === "directory";
}

function isRemoval({ before, after }: Pick<Transition, "before" | "after">): boolean {
  return before?.kind === "directory" && after?.kind !== "directory";
}
