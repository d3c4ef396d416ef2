// The server's own directories, held open: its state, and the user lock that it shares with other servers. They may
// be in a root, as when the home directory is served. No caller sees or reaches them, and the check is by identity,
// not by path: a command may have renamed their parents.
//
// While one is in a root, paths are opened name by name, and each directory on the way is compared. Every path into
// a directory leads through it, whatever is renamed.
import type { Stats } from "node:fs";
import { ifAllowed, system } from "./errno.ts";
import { display, Handle } from "./handle.ts";
import { mayLieIn, type Root } from "./root.ts";
import { lstatIfThere } from "./system/identity.ts";

interface Concealed {
  readonly handle: Handle;
  readonly device: number;
  readonly inode: number;
}

const concealed: Concealed[] = [];
const holders = new WeakMap<Root, { readonly known: number; readonly holds: boolean }>();

/** From now on, no caller can reach the directory at a path, if there is one. Faults where that is not known. */
export function conceal(path: string): void {
  const handle = ifAllowed(() => system(path, () => Handle.open(path, { directory: true })));
  if (handle === undefined) return;
  const stat = handle.stat();
  if (isConcealed(stat)) handle.close();
  else concealed.push({ handle, device: stat.dev, inode: stat.ino }); // held for the life of the process, so that its inode is not reused
}

export function isConcealed({ dev, ino }: Pick<Stats, "dev" | "ino">): boolean {
  return concealed.some(({ device, inode }) => inode === ino && device === dev);
}

/** All of them. The handles stay this file's own. */
export function concealedDirectories(): readonly Handle[] {
  return concealed.map(({ handle }) => handle);
}

/** Whether one of them is inside one of these roots. */
export function concealsIn(roots: readonly Root[]): boolean {
  return roots.some(conceals);
}

/** Whether one of them is inside this root. */
export function conceals(root: Root): boolean {
  const last = holders.get(root);
  if (last?.known === concealed.length) return last.holds;
  const holds = places().some(place => root.holds(place));
  holders.set(root, { known: concealed.length, holds });
  return holds;
}

/** The concealed directories in or at a directory, by its current path (`whereabouts`). */
export function concealedBelow(where: string): string[] {
  return places().filter(path => mayLieIn(display(path), display(where)));
}

/** Whether a directory is the parent of one of them. */
export function isParentOfConcealed({ dev, ino }: Pick<Stats, "dev" | "ino">): boolean {
  return concealed.some(({ handle }) => {
    const parent = lstatIfThere(handle.below(".."));
    return parent?.ino === ino && parent.dev === dev;
  });
}

/** Whether a handle is one of them, or is in one. */
export function liesInConcealed(handle: Handle): boolean {
  const where = handle.whereabouts();
  return places().some(place => mayLieIn(display(where), display(place)));
}

/**
 * Their current paths. One that was deleted, or whose file system was unmounted, has none: the kernel then reports a
 * path that may be another directory's, such as `/`.
 */
function places(): string[] {
  return concealed.flatMap(({ handle, device, inode }) => {
    const place = handle.whereabouts();
    const stat = lstatIfThere(Buffer.from(place, "latin1"));
    return stat?.dev === device && stat.ino === inode ? [place] : [];
  });
}
