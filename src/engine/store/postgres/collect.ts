// Removes what is no longer needed: dropped workspaces that no fork descends from, objects that no entry names, and large
// objects that no row names.
import type { LargeObjects } from "../large-objects.ts";
import { neededBy } from "../lineage.ts";
import type { Collected, CollectOptions, WorkspaceStore } from "../store.ts";
import type { Connections } from "./connection.ts";

/** What the names of this database's large objects begin with. A copy made from a dump has another one. */
export async function ownerOf(connections: Connections): Promise<string> {
  const [row] = await connections.query<{ owner: string }>(
    `select md5(concat_ws('/', (select system_identifier from pg_control_system()), current_database(),
      'polyfs_object'::regclass::oid)) as owner`,
  );
  return row?.owner ?? "";
}

export async function collect(
  store: Pick<WorkspaceStore, "list">,
  connections: Connections,
  large: LargeObjects | undefined,
  { graceMs, dryRun = false }: CollectOptions,
): Promise<Collected> {
  const all = [...(await store.list()), ...(await store.list({ dropped: true }))];
  const [now] = await connections.query<{ now: string }>("select extract(epoch from now()) * 1000 as now");
  const isOld = (time: number) => Number(now?.now) - time >= graceMs;
  const needed = neededBy(all, ({ dropped }) => dropped === undefined || !isOld(dropped));
  const unneeded = all.filter(({ id }) => !needed.has(id)).map(({ id }) => id);
  const old = `used <= now() - make_interval(secs => $1::float8 / 1000) and not exists (
    select from polyfs_reference r where r.hash = polyfs_object.hash and r.workspace <> all ($2::text[]))`;
  if (dryRun) {
    const [row] = await connections.query<{ objects: string; bytes: string }>(
      `select count(*) as objects, coalesce(sum(size), 0) as bytes from polyfs_object where ${old}`,
      [graceMs, unneeded],
      { isOfAll: true },
    );
    return { workspaces: unneeded.length, objects: Number(row?.objects), bytes: Number(row?.bytes) };
  }
  // One statement, so that no fork loses its origin; a workspace that was restored since is kept.
  const workspaces = await connections.query(
    "delete from polyfs_workspace where id = any ($1::text[]) and dropped is not null returning id",
    [unneeded],
    { isOfAll: true },
  );
  const removed = await connections.query<{ size: string; location: string | null }>(
    `delete from polyfs_object where ${old} returning size, location`,
    [graceMs, []],
    { isOfAll: true },
  );
  if (large !== undefined) {
    for (const { location } of removed) if (location !== null) await large.remove(location);
    await removeUnnamed(connections, large, graceMs);
  }
  const bytes = removed.reduce((sum, { size }) => sum + Number(size), 0);
  return { workspaces: workspaces.length, objects: removed.length, bytes };
}

/**
 * Objects of a writer that died before it wrote the row. Other databases may have objects in the same bucket, which no
 * row here names: they are known by how their names begin.
 */
async function removeUnnamed(connections: Connections, large: LargeObjects, graceMs: number): Promise<void> {
  const own = `${await ownerOf(connections)}-`;
  for await (const names of large.olderThan(graceMs)) {
    const locations = names.filter(name => name.startsWith(own));
    const known = await connections.query<{ location: string }>(
      "select location from polyfs_object where location = any ($1::text[])",
      [locations],
    );
    const named = new Set(known.map(({ location }) => location));
    for (const location of locations) if (!named.has(location)) await large.remove(location);
  }
}
