// The figures of what is shared with other servers, over all workspaces that are open here.
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
      value: over(all => (all.every(({ staleMs }) => staleMs === undefined) ? 1 : 0)),
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
