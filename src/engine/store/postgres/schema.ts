// The tables, as steps from one version to the next. A step only adds: replicas of the version before go on working
// while it runs and after it, so replicas are upgraded one by one. A step that older versions could not live with
// raises `oldest`, and those refuse to start.
import type { SqlQuery } from "./connection.ts";

/** What this program knows. */
export const schemaVersion = 1;

interface SchemaStep {
  readonly sql: string;
  /** The oldest version of the program that can use what comes out. */
  readonly oldest: number;
}

const steps: readonly SchemaStep[] = [
  {
    oldest: 1,
    sql: `
    create table polyfs_object (
      hash bytea primary key,
      size bigint not null,
      bytes bytea,                      -- null: the object store has it, under \`location\`
      location text,
      used timestamptz not null default now()
    );
    alter table polyfs_object alter column bytes set storage external;
    create index polyfs_object_used on polyfs_object (used);
    create table polyfs_workspace (
      id text primary key,
      name text not null,
      parent text references polyfs_workspace (id),
      parent_revision bigint,
      revision bigint not null default 0,
      bytes bigint not null default 0,
      created timestamptz not null default now(),
      dropped timestamptz,
      about jsonb not null default '{}'
    );
    create unique index polyfs_workspace_name on polyfs_workspace (name) where dropped is null;
    create index polyfs_workspace_parent on polyfs_workspace (parent);
    create table polyfs_entry (
      workspace text not null references polyfs_workspace (id) on delete cascade,
      revision bigint not null,
      id text not null,
      body text not null,
      objects bytea[] not null,
      bytes bigint not null,
      time timestamptz not null default now(),
      primary key (workspace, revision)
    );
    create table polyfs_reference (
      workspace text not null references polyfs_workspace (id) on delete cascade,
      hash bytea not null,
      revision bigint not null,         -- the first one that names the object
      primary key (workspace, hash)
    );
    create index polyfs_reference_hash on polyfs_reference (hash);`,
  },
];

export interface SchemaState {
  /** 0 where there are no tables yet. */
  readonly version: number;
  /** The oldest version of the program that the tables allow. */
  readonly oldest: number;
}

export async function schemaState(query: SqlQuery): Promise<SchemaState> {
  const [there] = await query<{ there: boolean }>("select to_regclass('polyfs_schema') is not null as there");
  if (!there?.there) return { version: 0, oldest: 0 };
  const [state] = await query<SchemaState>("select version, oldest from polyfs_schema");
  return state ?? { version: 0, oldest: 0 };
}

/** Brings the tables up to date, in one transaction; of several that try, one does. */
export async function migrate(query: SqlQuery): Promise<{ readonly from: number; readonly to: number }> {
  await query("begin");
  try {
    await query("select pg_advisory_xact_lock(hashtext('polyfs schema'))");
    const { version: from } = await schemaState(query);
    if (from === 0) await query("create table polyfs_schema (version int not null, oldest int not null)");
    for (const { sql } of steps.slice(from)) await query(sql);
    if (from < schemaVersion) {
      const oldest = Math.max(...steps.map(step => step.oldest));
      await query("delete from polyfs_schema");
      await query("insert into polyfs_schema (version, oldest) values ($1, $2)", [schemaVersion, oldest]);
    }
    await query("commit");
    return { from, to: Math.max(from, schemaVersion) };
  } catch (error) {
    await query("rollback").catch(() => {});
    throw error;
  }
}
