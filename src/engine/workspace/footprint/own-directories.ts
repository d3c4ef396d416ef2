// The server's own directories by device and inode: a command may have renamed their parents.
import { concealedDirectories } from "../concealed.ts";
import { Handle } from "../handle.ts";
import { identityOf } from "./tree-snapshot.ts";

const identities = new Set<string>();

/** The identity of the state directory, and of its predecessors; of configuration and compiled code, where they are served. */
export function ownDirectories(state: string): ReadonlySet<string> {
  try {
    using handle = Handle.open(state);
    identities.add(identityOf(handle));
  } catch {
    // Gone, or under another name: then it is known already.
  }
  for (const handle of concealedDirectories()) identities.add(identityOf(handle));
  return identities;
}
