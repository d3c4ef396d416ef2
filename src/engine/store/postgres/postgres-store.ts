// The store in PostgreSQL: for replicas on several machines. All times are the database's own, so the clocks of
// replicas do not matter. Notifications are sent beside the commit and not in it, because commits that notify wait for
// each other; one that is lost costs a question.
import { randomBytes } from "node:crypto";
import { Fault } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import type { LargeObjects } from "../large-objects.ts";
import type {
  Appended,
  AppendOptions,
  Collected,
  CollectOptions,
  Creation,
  Damage,
  Entry,
  Hash,
  LogEntry,
  Revision,
  StoredObject,
  WorkspaceId,
  WorkspaceInfo,
  WorkspaceStore,
} from "../store.ts";
import { collect, ownerOf } from "./collect.ts";
import { Connections, type SqlConnectionOptions } from "./connection.ts";
import type { PlainRow } from "./plain-rows.ts";
import { migrate, schemaState, schemaVersion } from "./schema.ts";
import * as statements from "./statements.ts";

export interface PostgresOptions extends SqlConnectionOptions {
  /** Where objects go that are larger than `largeBytes`. Without it they are in the database too. */
  readonly large?: LargeObjects | undefined;
}

/** Objects larger than this go to the other store, where there is one. */
const largeBytes = 1024 * 1024;
/** What one statement carries. */
const statementBytes = 8 * 1024 * 1024;
/** An object is fetched in slices of this: as a whole, its text could be longer than a string can be. */
const sliceBytes = 4 * 1024 * 1024;
/** What an entry of many files has, about. */
const entryBytes = 50_000;

interface InfoRow {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly parent_revision: string | null;
  readonly revision: string;
  readonly bytes: string;
  readonly about: Record<string, string>;
  readonly created: string;
  readonly dropped: string | null;
  readonly last: string | null;
}

export class PostgresStore implements WorkspaceStore {
  readonly #connections: Connections;
  readonly #large: LargeObjects | undefined;
  #owner: string | undefined;
  readonly #listeners = new Set<(workspace: WorkspaceId, revision: Revision) => void>();
  #listens = false;

  private constructor(connections: Connections, large: LargeObjects | undefined) {
    this.#connections = connections;
    this.#large = large;
  }

  /** Faults: `store_unavailable`, also where the tables are missing or too new. */
  static async open(address: string, options: PostgresOptions = {}): Promise<PostgresStore> {
    const connections = await Connections.open(address, options);
    try {
      const { version, oldest } = await schemaState((text, values) => connections.query(text, values));
      if (version < schemaVersion || oldest > schemaVersion) throw schemaFault(version, oldest);
      return new PostgresStore(connections, options.large);
    } catch (error) {
      await connections[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Creates the tables, or brings them up to date. */
  static async migrate(address: string): Promise<{ readonly from: number; readonly to: number }> {
    await using connections = await Connections.open(address, { connections: 1, patienceMs: 600_000 });
    return await connections.alone(migrate);
  }

  /** Whether TLS protects the connection. */
  async isEncrypted(): Promise<boolean> {
    const [row] = await this.#connections.query<{ ssl: boolean }>(
      "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    return row?.ssl === true;
  }

  async has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    if (hashes.length === 0) return new Set();
    const rows = await this.#connections.query<{ hash: Hash }>(statements.has, [joined(hashes)]);
    return new Set(rows.map(({ hash }) => hash));
  }

  async put(objects: readonly StoredObject[]): Promise<void> {
    for (const [hash, bytes] of objects) if (contentHash(bytes) !== hash) throw invalid(hash);
    const small = await this.#putLarge(objects);
    for (const batch of batches(small)) await this.#connections.query(statements.put, givenIn(batch));
  }

  async get(workspace: WorkspaceId, hash: Hash): Promise<Uint8Array | undefined> {
    const slices: Buffer[] = [];
    do {
      const values = [workspace, Buffer.from(hash, "hex"), slices.length * sliceBytes + 1, sliceBytes];
      const [row] = await this.#connections.query<{ bytes: Buffer | null; location: string | null }>(
        statements.get,
        values,
        { answerBytes: 2 * sliceBytes },
      );
      if (row !== undefined && row.location !== null) return await this.#getLarge(hash, row.location);
      if (!row?.bytes) return undefined;
      slices.push(row.bytes);
    } while (slices.at(-1)?.length === sliceBytes);
    return slices.length === 1 ? slices[0] : Buffer.concat(slices);
  }

  async #getLarge(hash: Hash, location: string): Promise<Uint8Array | undefined> {
    if (this.#large === undefined)
      throw new Fault("store_unavailable", {
        reason: "invalid",
        detail: "large objects of it are in a bucket: name it with --store-objects",
      });
    const bytes = await this.#large.get(location);
    return bytes !== undefined && contentHash(bytes) === hash ? bytes : undefined;
  }

  async create({ name, parent, about = {} }: Creation): Promise<WorkspaceInfo | "exists" | "no_parent"> {
    const id = randomBytes(10).toString("hex");
    const values = [id, name, JSON.stringify(about), parent?.workspace ?? null, parent?.revision ?? null];
    const made = await this.#connections.query<{ created: string }>(statements.create, values);
    if (made.length > 0) return (await this.info(id)) ?? "exists";
    const found = await this.find(name);
    if (found?.id === id) return found; // the first answer was lost
    const origin = parent && (await this.info(parent.workspace));
    const fits = origin?.dropped === undefined && (origin?.revision ?? -1) >= (parent?.revision ?? 0);
    return parent === undefined || fits ? "exists" : "no_parent";
  }

  async find(name: string): Promise<WorkspaceInfo | undefined> {
    const [row] = await this.#infos("name = $1 and dropped is null", [name]);
    return row;
  }

  async info(workspace: WorkspaceId): Promise<WorkspaceInfo | undefined> {
    const text = `${statements.info} where id = $1`;
    const [row] = await this.#connections.plain("polyfs_info", text, [workspace]);
    return row && infoOf(infoRowOf(row));
  }

  list({ dropped = false } = {}): Promise<readonly WorkspaceInfo[]> {
    return this.#infos(`dropped is ${dropped ? "not " : ""}null order by name collate "C"`, []);
  }

  async drop(workspace: WorkspaceId): Promise<boolean> {
    const text = "update polyfs_workspace set dropped = now() where id = $1 and dropped is null returning id";
    return (await this.#connections.query(text, [workspace])).length > 0;
  }

  async restore(workspace: WorkspaceId): Promise<"restored" | "exists" | "gone"> {
    const text = `
      update polyfs_workspace w set dropped = null where id = $1 and not exists (
        select from polyfs_workspace o where o.name = w.name and o.dropped is null and o.id <> w.id)
      returning id`;
    try {
      if ((await this.#connections.query(text, [workspace])).length > 0) return "restored";
    } catch (error) {
      // Another one took the name at the same moment.
      if (!Fault.is(error, "store_unavailable") || !/polyfs_workspace_name/.test(error.data.detail))
        throw error;
    }
    return (await this.info(workspace)) === undefined ? "gone" : "exists";
  }

  async append(
    workspace: WorkspaceId,
    expected: Revision,
    entry: Entry,
    { objects = [], maxBytes, after }: AppendOptions = {},
  ): Promise<Appended> {
    for (const [hash, bytes] of objects) if (contentHash(bytes) !== hash) throw invalid(hash);
    const small = await this.#putLarge(objects);
    const [last = [], ...before] = [...batches(small)].reverse();
    for (const batch of before) await this.#connections.query(statements.put, givenIn(batch));
    const { id, body, bytes } = entry;
    const limit = maxBytes === undefined || maxBytes === Number.POSITIVE_INFINITY ? null : maxBytes;
    const named = joined(entry.objects);
    const values = [...givenIn(last), workspace, expected, id, body, named, bytes, limit, after ?? null];
    const [moved] = await this.#connections.query<{ revision: string }>(statements.append, values, {
      name: "polyfs_append",
    });
    if (moved === undefined) return this.#whyNot(workspace, expected, entry, limit, after);
    const revision = Number(moved.revision);
    this.#connections.hint(`${workspace} ${revision}`);
    return { result: "appended", revision };
  }

  async #whyNot(
    workspace: WorkspaceId,
    expected: Revision,
    { id, bytes }: Entry,
    limit: number | null,
    after: string | undefined,
  ): Promise<Appended> {
    const [row] = await this.#connections.query<{
      revision: string;
      bytes: string;
      dropped: boolean;
      last: string | null;
      next: string | null;
    }>(statements.refusal, [workspace, expected]);
    if (row === undefined || row.dropped) return { result: "gone" };
    if (row.next === id) return { result: "appended", revision: expected + 1 };
    if (Number(row.revision) !== expected) return { result: "stale" };
    if (after !== undefined && row.last !== after) return { result: "stale" };
    if (limit !== null && Number(row.bytes) + bytes > limit) return { result: "over_quota" };
    return { result: "missing_objects" };
  }

  async entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]> {
    const rows = await this.#connections.query<{
      revision: string;
      id: string;
      body: string;
      bytes: string;
      objects: Hash[] | null;
    }>(statements.entries, [workspace, after, limit], {
      name: "polyfs_entries",
      answerBytes: limit * entryBytes,
    });
    return rows.map(({ revision, id, body, bytes, objects }) => ({
      ...{ revision: Number(revision), id, body, bytes: Number(bytes), objects: objects ?? [] },
    }));
  }

  changed(listener: (workspace: WorkspaceId, revision: Revision) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#listens) {
      this.#listens = true;
      const tell = (workspace: WorkspaceId, revision: Revision) => {
        for (const one of this.#listeners) one(workspace, revision);
      };
      const tellAll = async () => {
        for (const { id, revision } of await this.list()) tell(id, revision);
      };
      this.#connections.listen(text => {
        const [workspace = "", revision = "0"] = text.split(" ");
        tell(workspace, Number(revision));
      }, tellAll);
    }
    return () => void this.#listeners.delete(listener);
  }

  collect(options: CollectOptions): Promise<Collected> {
    return collect(this, this.#connections, this.#large, options);
  }

  async *check(): AsyncGenerator<Damage> {
    const rows = await this.#connections.query<{ what: Damage["what"]; place: string; names: string[] }>(
      statements.damages,
      [],
      { isOfAll: true },
    );
    for (const { what, place, names } of rows) yield { what, where: place, workspaces: names };
    if (this.#large === undefined) return;
    const large = await this.#connections.query<{ hash: string; location: string }>(
      "select encode(hash, 'hex') as hash, location from polyfs_object where location is not null",
      [],
      { isOfAll: true },
    );
    for (const { hash, location } of large) {
      const bytes = await this.#large.get(location);
      if (bytes !== undefined && contentHash(bytes) === hash) continue;
      yield { what: bytes === undefined ? "missing_object" : "damaged_object", where: hash, workspaces: [] };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await this.#connections[Symbol.asyncDispose]();
  }

  async #infos(condition: string, values: readonly unknown[]): Promise<WorkspaceInfo[]> {
    const rows = await this.#connections.query<InfoRow>(`${statements.info} where ${condition}`, values);
    return rows.map(infoOf);
  }

  /**
   * Puts what is large into the other store, each time under a new name that only its row knows. So a collection can
   * remove what a row named without asking whether another writer has just put the same object. Returns what is small.
   */
  async #putLarge(objects: readonly StoredObject[]): Promise<readonly StoredObject[]> {
    const large = this.#large;
    if (large === undefined) return objects;
    const big = objects.filter(([, { length }]) => length > largeBytes);
    const there = await this.has(big.map(([hash]) => hash));
    for (const [hash, bytes] of big.filter(([one]) => !there.has(one))) {
      this.#owner ??= await ownerOf(this.#connections);
      const location = `${this.#owner}-${hash}-${randomBytes(6).toString("hex")}`;
      await large.put(location, bytes);
      const made = await this.#connections.query(
        `insert into polyfs_object (hash, size, location) values ($1, $2, $3)
         on conflict (hash) do update set used = now() returning location`,
        [Buffer.from(hash, "hex"), bytes.length, location],
      );
      if ((made as { location: string | null }[])[0]?.location !== location) await large.remove(location);
    }
    return objects.filter(([, { length }]) => length <= largeBytes);
  }
}

/** The columns of `statements.info` as text. */
function infoRowOf(columns: PlainRow): InfoRow {
  const [id = "", name = "", parent, parent_revision, revision, bytes, about, ...times] = columns;
  const [created, dropped, last] = times;
  const known = JSON.parse(about ?? "{}") as InfoRow["about"];
  return {
    id,
    name,
    parent,
    parent_revision,
    revision,
    bytes,
    about: known,
    created,
    dropped,
    last,
  } as InfoRow;
}

function infoOf(row: InfoRow): WorkspaceInfo {
  const { id, name, parent, parent_revision, revision, bytes, about, created, dropped, last } = row;
  return {
    ...{ id, name, revision: Number(revision), bytes: Number(bytes), created: Number(created), about },
    ...(parent !== null && { parent: { workspace: parent, revision: Number(parent_revision) } }),
    ...(dropped !== null && { dropped: Number(dropped) }),
    ...(last !== null && { last }),
  };
}

function joined(hashes: readonly Hash[]): Buffer {
  return Buffer.from(hashes.join(""), "hex");
}

function givenIn(objects: readonly StoredObject[]): unknown[] {
  // The same object twice would be updated twice by one statement, which PostgreSQL refuses.
  const once = [...new Map(objects)];
  return [
    joined(once.map(([hash]) => hash)),
    once.map(([, { length }]) => length),
    Buffer.concat(once.map(([, bytes]) => bytes)),
  ];
}

function* batches(objects: readonly StoredObject[]): Generator<StoredObject[]> {
  let batch: StoredObject[] = [];
  let size = 0;
  for (const object of objects) {
    if (batch.length > 0 && size + object[1].length > statementBytes) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(object);
    size += object[1].length;
  }
  if (batch.length > 0) yield batch;
}

function invalid(hash: Hash): Fault {
  return new Fault("store_unavailable", {
    reason: "invalid",
    detail: `${hash} is not the hash of its bytes`,
  });
}

function schemaFault(version: number, oldest: number): Fault {
  const detail =
    version === 0
      ? "there are no tables"
      : oldest > schemaVersion
        ? `it has version ${version}, which is newer than this program`
        : `it has version ${version}, this program needs ${schemaVersion}`;
  return new Fault("store_unavailable", { reason: "schema", detail });
}
