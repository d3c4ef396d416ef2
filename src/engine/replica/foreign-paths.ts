// What a directory lacks or holds although no change of this machine made it so, because it was emptied, replaced or
// restored while no server ran. It is not sent to other replicas.
import type { ChangeLog } from "../workspace/archive/log.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { type EarlierTree, earlierPaths } from "./earlier-paths.ts";
import { lostPaths } from "./lost-paths.ts";

export interface ForeignPaths {
  /** Absolute paths. */
  readonly paths: ReadonlySet<string>;
  /** Relative to the root: what is gone, and what is as it was earlier. */
  readonly gone: readonly string[];
  readonly earlier: readonly string[];
}

/** `operations` turn the latest of the trees into the directory; `gone` are those that remove something. */
export async function foreignPaths(
  operations: readonly Operation[],
  gone: readonly Operation[],
  root: string,
  changes: Pick<ChangeLog, "newestInTurns">,
  trees: () => AsyncIterable<EarlierTree>,
): Promise<ForeignPaths> {
  const absolute = (at: string) => under(root, at);
  const lost = await lostPaths(
    gone.map(({ at }) => absolute(at)),
    changes,
  );
  const earlier = [...(await earlierPaths(operations, root, changes, trees))];
  return {
    paths: new Set([...lost, ...earlier.map(absolute)]),
    gone: gone.flatMap(({ at }) => (lost.has(absolute(at)) ? [at] : [])),
    earlier,
  };
}
