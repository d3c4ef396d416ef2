// The intersection of roots and directories. A directory in a root becomes a root with that root's access; a
// directory above roots keeps those roots. Each directory is opened once, and the decision is made on the handle, so
// nothing can be swapped in between.
import { resolve } from "node:path";
import { system } from "./errno.ts";
import { Handle } from "./handle.ts";
import { isWithin, Root, rootHolding } from "./root.ts";
import { byDescriptor } from "./system/descriptors.ts";
import { isOwnMount } from "./system/mounts.ts";

interface Narrowed {
  readonly roots: readonly Root[];
  /** Those among them that were opened here. */
  readonly own: readonly Root[];
}

/** Faults: those of opening a directory. A directory outside the roots adds nothing. */
export function narrow(roots: readonly Root[], directories: readonly string[]): Narrowed {
  const found: Root[] = [];
  const own: Root[] = [];
  const isFound = (root: Root) => found.some(other => other.is({ dev: root.device, ino: root.inode }));
  try {
    for (const directory of directories.map(path => resolve(path))) {
      const handle = system(directory, () => Handle.open(directory));
      const whereabouts = handle.whereabouts();
      // A root inside of the directory still decides about itself.
      const inside = roots.filter(root => isWithin(root.handle.whereabouts(), whereabouts));
      const reached = rootHolding(roots, whereabouts);
      // A path in another mount namespace may look like one of ours.
      const holder =
        reached !== undefined && byDescriptor && !isOwnMount(handle, reached) ? undefined : reached;
      if (holder === undefined || inside.includes(holder)) handle.close();
      else {
        const root = new Root(directory, holder.access, handle, holder.rules, holder.caches);
        own.push(root);
        inside.unshift(root);
      }
      for (const root of inside) if (!isFound(root)) found.push(root);
    }
  } catch (error) {
    for (const root of own) root[Symbol.dispose]();
    throw error;
  }
  return { roots: found, own };
}
