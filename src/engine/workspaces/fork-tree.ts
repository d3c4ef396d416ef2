// The files of a fork. Comparing the base with its newest snapshot takes longer than a mount, so an overlay is mounted
// over that snapshot meanwhile, and again over a newer one where the base has changed.
import { nextTurn } from "../turn.ts";
import type { Layout } from "./layout.ts";
import { dismantle, materialise } from "./materialise.ts";
import type { CopyMethod, WorkspaceRecord } from "./record.ts";
import type { HeldSnapshot, Snapshots } from "./snapshots.ts";

export interface ForkTree {
  /** The folder below `trees`. The caller holds the claim on it, and removes what a failure leaves. */
  readonly tree: string;
  readonly method: CopyMethod;
  readonly signal?: AbortSignal | undefined;
}

/** Makes the files of a fork, and returns the snapshot of the base that they are. Faults: those of `Snapshots.of`. */
export async function makeForkTree(
  layout: Layout,
  snapshots: Snapshots,
  base: WorkspaceRecord,
  { tree, method, signal }: ForkTree,
): Promise<HeldSnapshot> {
  const make = ({ id, tree: directory }: HeldSnapshot) =>
    materialise(layout, tree, { directory, method, snapshot: id }, signal);
  const current = snapshots.of(base, signal);
  current.catch(() => {}); // it may fail before it is waited for
  if (method === "overlay") await nextTurn(); // the look begins first: it takes longest
  using likely = method === "overlay" ? await snapshots.latest(base) : undefined;
  const [mounted] = await Promise.allSettled(likely === undefined ? [] : [make(likely)]);
  const snapshot = await current;
  try {
    if (mounted?.status === "fulfilled" && likely?.id === snapshot.id) return snapshot;
    if (mounted !== undefined) await dismantle(layout, tree);
    await make(snapshot);
    return snapshot;
  } catch (error) {
    snapshot[Symbol.dispose]();
    throw error;
  }
}
