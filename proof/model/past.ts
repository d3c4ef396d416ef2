// The changes of a program, as the model remembers them, and what undoing one must give.

import { joined } from "./expect.ts";
import { bytesOf, contentOf, isBinary, linesIn, merged } from "./lines.ts";
import { differences, isWithin, type Node, parentOf, Refused, sameNode, type Tree } from "./tree.ts";

export interface Change {
  readonly id: string;
  readonly before: Tree;
  readonly after: Tree;
  /** The file, where the change is about one only. */
  readonly file?: string;
  /** Whether it is not known what exactly it changed between `before` and `after`. */
  readonly open?: boolean;
}

/** The tree after an undo; "open" where the contract does not say enough. Throws what it is refused with. */
export function undone(tree: Tree, { before, after, open }: Change): Tree | "open" {
  if (open) return "open";
  const next = new Map(tree);
  const paths = differences(before, after);
  const gone = paths.filter(path => !after.has(path));
  const backs = paths.map(path => {
    const [was, made, is] = [before.get(path), after.get(path), tree.get(path)];
    if (sameNode(is, made)) return { path, back: was };
    // A file that was moved here goes back with what was changed in it since.
    const wasMoved = made !== undefined && gone.some(one => sameNode(before.get(one), made));
    return { path, back: wasMoved ? ("open" as const) : changedBack(was, made, is) };
  });
  // Of several reasons to refuse it, any one may be given.
  if (backs.some(({ back }) => back === "open")) return "open";
  for (const { path, back } of backs) {
    if (back === "overlap") throw new Refused("stale");
    if (back === undefined) next.delete(path);
    else if (back !== "open") next.set(path, back);
  }
  const touched = new Set(paths);
  const whole = [...next.keys()].every(path => path === "" || next.get(parentOf(path))?.kind === "directory");
  const alone = paths
    .filter(path => after.get(path)?.kind === "directory")
    .every(path => [...tree.keys()].every(one => !isWithin(one, path) || touched.has(one)));
  return whole && alone ? next : "open";
}

/** The old content, with what was changed elsewhere in the file since. */
function changedBack(
  was: Node | undefined,
  made: Node | undefined,
  is: Node | undefined,
): Node | undefined | "open" | "overlap" {
  if (was?.kind !== "file" || made?.kind !== "file" || is?.kind !== "file") return "open";
  if (was.mode !== made.mode || made.mode !== is.mode) return "open";
  if ([was, made, is].some(({ bytes }) => isBinary(bytes))) return "open";
  const [old, base, current] = [contentOf(was.bytes), contentOf(made.bytes), contentOf(is.bytes)];
  if (old.form !== base.form || base.form !== current.form || !old.mark.equals(current.mark)) return "open";
  const result = merged(joined(base.lines), joined(old.lines), joined(current.lines));
  if (result === "overlap") return "overlap";
  if (!result.sure) return "open";
  return { ...is, bytes: bytesOf({ ...current, lines: linesIn(result.lines.join("")) }) };
}

/** What an undo that the contract leaves open must keep: whatever the change had nothing to do with. */
export function untouchedBy(tree: Tree, { before, after }: Change): string[] {
  const paths = differences(before, after);
  return [...tree.keys()].filter(
    path => !paths.some(one => isWithin(path, one) || (isWithin(one, path) && path !== "")),
  );
}
