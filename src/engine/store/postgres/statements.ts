// The statements of the store. A commit is one statement: it puts the objects, moves the head if that is where it was
// expected, and writes the entry, all or nothing.

/** Objects come as one array of bytes with their sizes: drivers send arrays of bytes as text, twice as long. */
const given = `
  given as (
    select substring($1::bytea from (n::int - 1) * 32 + 1 for 32) as hash,
           substring($3::bytea from (sum(size) over (order by n) - size)::int + 1 for size) as bytes, size
    from unnest($2::int[]) with ordinality as one (size, n)
  )`;

const putting = "insert into polyfs_object (hash, size, bytes) select hash, size, bytes from given";
const again =
  "on conflict (hash) do update set used = now() where polyfs_object.used < now() - interval '5 minutes'";

export const put = `with ${given}, put as (${putting} ${again}) select 1`;

/** $4 workspace, $5 expected, $6 id, $7 body, $8 hashes that are named (joined), $9 bytes, $10 limit, $11 the id at $5 */
export const append = `
  with ${given},
  named as (
    select distinct substring($8::bytea from n * 32 + 1 for 32) as hash
    from generate_series(0, length($8::bytea) / 32 - 1) as n
  ),
  moved as (
    update polyfs_workspace set revision = revision + 1, bytes = bytes + $9::bigint
    where id = $4::text and dropped is null and revision = $5::bigint
      and ($10::bigint is null or bytes + $9::bigint <= $10::bigint)
      and ($11::text is null or exists (
        select from polyfs_entry e where e.workspace = $4::text and e.revision = $5::bigint and e.id = $11::text))
      and not exists (
        select from named where hash not in (select hash from given)
          and not exists (select from polyfs_object where polyfs_object.hash = named.hash))
    returning revision
  ),
  put as (${putting} where exists (select from moved) ${again}),
  written as (
    insert into polyfs_entry (workspace, revision, id, body, objects, bytes)
    select $4::text, revision, $6::text, $7::text, array(select hash from named), $9::bigint from moved
  ),
  referenced as (
    insert into polyfs_reference (workspace, hash, revision) select $4::text, hash, revision from moved, named
    on conflict do nothing
  )
  select revision from moved`;

/** Why nothing was appended. */
export const refusal = `
  select w.revision, w.bytes, w.dropped is not null as dropped,
         (select id from polyfs_entry e where e.workspace = w.id and e.revision = $2::bigint) as last,
         (select id from polyfs_entry e where e.workspace = w.id and e.revision = $2::bigint + 1) as next
  from polyfs_workspace w where w.id = $1::text`;

/** Being asked for keeps an object as being put does. */
export const has = `
  with asked as (
    select substring($1::bytea from n * 32 + 1 for 32) as hash
    from generate_series(0, length($1::bytea) / 32 - 1) as n
  ),
  used as (
    update polyfs_object set used = now() from asked
    where polyfs_object.hash = asked.hash and used < now() - interval '5 minutes'
  )
  select encode(hash, 'hex') as hash from polyfs_object where hash in (select hash from asked)`;

/** $1 workspace, $2 hash, $3 the first byte that is wanted, from 1, $4 how many */
export const get = `
  with recursive line (id, parent, parent_revision, until) as (
    select id, parent, parent_revision, 9223372036854775807::bigint from polyfs_workspace where id = $1::text
    union -- not "union all": damaged rows may form a circle
    select w.id, w.parent, w.parent_revision, line.parent_revision
    from line join polyfs_workspace w on w.id = line.parent
  )
  select substring(bytes from $3::int for $4::int) as bytes, location from polyfs_object
  where hash = $2::bytea and exists (
    select from line join polyfs_reference r on r.workspace = line.id
    where r.hash = $2::bytea and r.revision <= line.until)`;

export const info = `
  select id, name, parent, parent_revision, revision, bytes, about,
         extract(epoch from created) * 1000 as created, extract(epoch from dropped) * 1000 as dropped,
         (select e.id from polyfs_entry e where e.workspace = w.id and e.revision = w.revision) as last
  from polyfs_workspace w`;

/** $1 id, $2 name, $3 about, $4 parent, $5 its revision */
export const create = `
  insert into polyfs_workspace (id, name, about, parent, parent_revision)
  select $1::text, $2::text, $3::jsonb, $4::text, $5::bigint
  where $4::text is null or exists (
    select from polyfs_workspace where id = $4::text and dropped is null and revision >= $5::bigint)
  on conflict do nothing
  returning extract(epoch from created) * 1000 as created`;

export const entries = `
  select revision, id, body, bytes, (select array_agg(encode(one, 'hex')) from unnest(objects) as one) as objects
  from polyfs_entry where workspace = $1::text and revision > $2::bigint order by revision limit $3`;

export const damages = `
  select 'missing_object' as what, encode(r.hash, 'hex') as place, array_agg(distinct w.name) as names
    from polyfs_reference r join polyfs_workspace w on w.id = r.workspace
    where not exists (select from polyfs_object o where o.hash = r.hash) group by r.hash
  union all
  select 'damaged_object', encode(o.hash, 'hex'),
         array(select distinct w.name from polyfs_reference r join polyfs_workspace w on w.id = r.workspace
               where r.hash = o.hash)
    from polyfs_object o where bytes is not null and (sha256(bytes) <> hash or length(bytes) <> size)
  union all
  select 'missing_entry', w.name || '/' || case when behind - ahead = 2 then '' else ahead + 1 || '-' end || behind - 1,
         array[w.name]
    from polyfs_workspace w, lateral (
      select n as behind, lag(n) over (order by n) as ahead from (
        select 0::numeric as n
        union select revision from polyfs_entry e where e.workspace = w.id and e.revision > 0
        union select w.revision::numeric + 1) as known) as gap
    where behind - ahead > 1
  union all
  select 'damaged_workspace', w.name, array[w.name]
    from polyfs_workspace w
    where revision not between 0 and ${Number.MAX_SAFE_INTEGER} or bytes not between 0 and ${Number.MAX_SAFE_INTEGER}
  union all
  select 'damaged_workspace', w.name, array[w.name]
    from polyfs_workspace w join polyfs_workspace p on p.id = w.parent
    where w.parent_revision is null or w.parent_revision not between 0 and p.revision
  union all
  select 'damaged_entry', w.name || '/' || e.revision, array[w.name]
    from polyfs_entry e join polyfs_workspace w on w.id = e.workspace
    where e.revision > w.revision or exists (
      select from unnest(e.objects) as one where not exists (
        select from polyfs_reference r where r.workspace = w.id and r.hash = one and r.revision <= e.revision))
  union all
  select 'missing_parent', c.parent, array[c.name]
    from polyfs_workspace c where c.parent is not null
      and not exists (select from polyfs_workspace p where p.id = c.parent)
  order by 1, 2`;
