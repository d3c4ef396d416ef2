// The figures of what is shared with other servers, over all workspaces that are open here.
import { Fault } from "../../engine/fault.ts";
import type { Replication } from "../../engine/workspace/commit/publication.ts";
import type { Gauge } from "./metrics.ts";

export function storeGauges(replications: () => readonly Replication[]): Gauge[] {
  /** Undefined if nothing is shared: then there is no such figure. */
  const over = (fold: (all: readonly Replication[]) => number) => () => {
    const all = replications();
    return all.length === 0 ? undefined : fold(all);
  };
  const sum = (figure: (one: Replication) => number) =>
    over(all => all.reduce((total, one) => total + figure(one), 0));
  return [
    {
      name: "polyfs_store_up",
      help: "Whether the shared store can be reached",
      value: over(all => (all.some(({ staleCause }) => Fault.is(staleCause, "store_unavailable")) ? 0 : 1)),
    },
    {
      name: "polyfs_store_workspaces",
      help: "Shared workspaces that are open here",
      value: over(({ length }) => length),
    },
    {
      name: "polyfs_store_revision",
      help: "Revisions of the shared workspaces that this server has: the rate is that of changes",
      value: sum(({ revision }) => revision),
    },
    {
      name: "polyfs_store_bytes",
      help: "Bytes that the shared workspaces have in the store",
      value: sum(({ storedBytes }) => storedBytes),
    },
    {
      name: "polyfs_store_growth_bytes_per_hour",
      help: "How fast the shared workspaces grow in the store, over the last hour",
      value: sum(({ bytesPerHour }) => bytesPerHour),
    },
    {
      name: "polyfs_store_published_bytes",
      help: "Bytes that this server has added to the shared store",
      value: sum(({ publishedBytes }) => publishedBytes),
    },
  ];
}

/**
 * Why no shared workspace that is open here follows its log, where someone has to mend that: the store has lost changes,
 * or this machine cannot take what is there. A store that is out of reach is no reason: reads continue on every server.
 */
export function notFollowing(replications: readonly Replication[]): string | undefined {
  const causes = replications.map(({ staleCause }) => staleCause);
  if (causes.length === 0 || !causes.every(isStopped)) return undefined;
  return Fault.is(causes[0], "store_unavailable")
    ? "the shared store is damaged or has lost changes"
    : "the changes of others cannot be written to the disk";
}

function isStopped(cause: Fault | undefined): boolean {
  if (cause === undefined || cause.code === "locked") return false;
  return !Fault.is(cause, "store_unavailable") || cause.data.reason === "damaged";
}
