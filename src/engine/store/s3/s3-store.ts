// The store in a bucket alone, without a database: an append is the creation of the next key of a log, if it is absent.
//
//   o/<hash>                          an object
//   n/<hash of the name>/<number>     who had the name: odd numbers give it to a workspace, even ones free it
//   w/<id>/about                      what was said at its creation
//   w/<id>/log/<revision, 12 digits>  its entries
import { randomBytes } from "node:crypto";
import { Fault } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import { neededBy } from "../lineage.ts";
import { NamedObjects } from "../named-objects.ts";
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
import { type AboutWorkspace, isAbout, isStoredEntry, type StoredEntry } from "../stored-entry.ts";
import { S3Bucket, unavailable } from "./bucket.ts";

/** What is known of a log: it only grows. */
interface LogHead {
  readonly revision: Revision;
  readonly total: number;
  /** Its last entry cannot be read, so nothing can be appended. */
  readonly isDamaged?: boolean;
}

/** An object that was put longer ago is put again when it is asked for, so that it is not collected meanwhile. */
const touchMs = 5 * 60_000;
/** So many entries are read at once. */
const batch = 1000;

export class S3Store implements WorkspaceStore {
  readonly #bucket: S3Bucket;
  readonly #named: NamedObjects;
  readonly #heads = new Map<WorkspaceId, LogHead>();
  readonly #abouts = new Map<WorkspaceId, AboutWorkspace & { readonly created: number }>();
  readonly #listeners = new Set<(workspace: WorkspaceId, revision: Revision) => void>();

  private constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
    this.#named = new NamedObjects({
      entries: (workspace, after, limit) => this.entries(workspace, after, limit),
      parentOf: async workspace => (await this.#about(workspace))?.parent,
    });
  }

  /** Faults: `store_unavailable`, with `conditions` where the bucket lets two create the same key. */
  static async open(address: string, environment?: NodeJS.ProcessEnv): Promise<S3Store> {
    const bucket = S3Bucket.at(address, environment);
    const key = `probe/${randomBytes(8).toString("hex")}`;
    try {
      // At the same time, as writers do, and once more afterwards.
      const names = ["a", "b", "c", "d"];
      const won = await Promise.all(names.map(name => bucket.create(key, Buffer.from(name))));
      const again = await bucket.create(key, Buffer.from("again"));
      const kept = Buffer.from((await bucket.get(key)) ?? []).toString();
      const winners = names.filter((_, i) => won[i]);
      // None, where the answer to the one that won was lost, and it was asked again.
      if (again || winners.length > 1 || !names.includes(kept) || (winners[0] ?? kept) !== kept)
        throw unavailable("conditions", "a key could be created twice");
    } finally {
      await bucket.remove(key).catch(() => {});
    }
    return new S3Store(bucket);
  }

  async has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const there = new Set<Hash>();
    await each(hashes, async hash => {
      if (await this.#use(hash)) there.add(hash);
    });
    return there;
  }

  /** Whether an object is there; one that was put long ago is put again. */
  async #use(hash: Hash): Promise<boolean> {
    const modified = await this.#bucket.modified(`o/${hash}`);
    if (modified === undefined) return false;
    if ((await this.#now()) - modified < touchMs) return true;
    const bytes = await this.#bucket.get(`o/${hash}`);
    if (bytes === undefined || contentHash(bytes) !== hash) return false;
    await this.#bucket.put(`o/${hash}`, bytes);
    return true;
  }

  #clock: { readonly apart: number } | undefined;

  /** By the clock of the service, which is asked once. */
  async #now(): Promise<number> {
    this.#clock ??= { apart: (await this.#bucket.now()) - Date.now() };
    return Date.now() + this.#clock.apart;
  }

  async put(objects: readonly StoredObject[]): Promise<void> {
    for (const [hash, bytes] of objects)
      if (contentHash(bytes) !== hash) throw unavailable("invalid", `${hash} is not the hash of its bytes`);
    await each(objects, async ([hash, bytes]) => {
      if (!(await this.#use(hash))) await this.#bucket.put(`o/${hash}`, bytes);
    });
  }

  async get(workspace: WorkspaceId, hash: Hash): Promise<Uint8Array | undefined> {
    if (!(await this.#named.reaches(workspace, hash))) return undefined;
    const bytes = await this.#bucket.get(`o/${hash}`);
    return bytes !== undefined && contentHash(bytes) === hash ? bytes : undefined;
  }

  async create({ name, parent, about = {} }: Creation): Promise<WorkspaceInfo | "exists" | "no_parent"> {
    if (parent !== undefined) {
      const origin = await this.info(parent.workspace);
      if (origin === undefined || origin.dropped !== undefined || origin.revision < parent.revision)
        return "no_parent";
    }
    const id = randomBytes(10).toString("hex");
    const said: AboutWorkspace = { id, name, ...(parent && { parent }), about };
    await this.#bucket.put(`w/${id}/about`, encoded(said));
    if (await this.#claim(name, id)) return (await this.info(id)) ?? "exists";
    await this.#bucket.remove(`w/${id}/about`);
    return "exists";
  }

  /** Gives a free name to a workspace. */
  async #claim(name: string, id: WorkspaceId): Promise<boolean> {
    const { count } = await this.#holder(name);
    if (count % 2 === 1) return false;
    const key = nameKey(name, count + 1);
    return (await this.#bucket.create(key, Buffer.from(id))) || (await this.#holds(key, id));
  }

  /** The workspace that has a name, and how often the name was assigned and freed. */
  async #holder(name: string): Promise<{ readonly count: number; readonly id?: WorkspaceId }> {
    let last: { key: string } | undefined;
    let count = 0;
    for await (const { key } of this.#bucket.list(`n/${contentHash(Buffer.from(name))}/`)) {
      last = { key };
      count++;
    }
    if (last === undefined) return { count };
    const id = Buffer.from((await this.#bucket.get(last.key)) ?? []).toString();
    // A part of it would pass for another workspace, and the one that has the name for dropped.
    if (!(count % 2 === 1 ? /^[0-9a-f]{20}$/ : /^[0-9a-f]{20} dropped$/).test(id))
      throw unavailable("damaged", `who has the name ${name}`);
    return { count, id };
  }

  async #holds(key: string, content: string): Promise<boolean> {
    return Buffer.from((await this.#bucket.get(key)) ?? []).toString() === content;
  }

  async find(name: string): Promise<WorkspaceInfo | undefined> {
    const { count, id } = await this.#holder(name);
    return count % 2 === 1 && id !== undefined ? await this.info(id) : undefined;
  }

  async info(workspace: WorkspaceId): Promise<WorkspaceInfo | undefined> {
    const said = await this.#about(workspace);
    if (said === undefined) return undefined;
    const [{ revision, total }, released] = await Promise.all([this.#head(workspace), this.#released(said)]);
    // A creation that lost its name to another one left no entries. Anything else would be collected with its log.
    if (released !== undefined && !released.isMarked && revision > 0)
      throw unavailable("damaged", `workspace ${workspace} has lost its name and was not dropped`);
    return { ...said, revision, bytes: total, ...(released !== undefined && { dropped: released.at }) };
  }

  async #about(id: WorkspaceId): Promise<(AboutWorkspace & { readonly created: number }) | undefined> {
    const known = this.#abouts.get(id);
    if (known !== undefined && (await this.#bucket.modified(`w/${id}/about`)) !== undefined) return known;
    this.#abouts.delete(id);
    const bytes = /^[0-9a-f]+$/.test(id) ? await this.#bucket.get(`w/${id}/about`) : undefined;
    if (bytes === undefined) return undefined;
    const created = (await this.#bucket.modified(`w/${id}/about`)) ?? 0;
    const said = decoded(bytes);
    if (!isAbout(said, id)) throw unavailable("damaged", `the description of workspace ${id}`);
    const about = { ...said, created };
    this.#abouts.set(id, about);
    return about;
  }

  /** When it was dropped, and whether the bucket says so itself; undefined while it has its name. */
  async #released({
    id,
    name,
    created,
  }: AboutWorkspace & { readonly created: number }): Promise<
    { readonly at: number; readonly isMarked: boolean } | undefined
  > {
    const holder = await this.#holder(name);
    if (holder.count % 2 === 1 && holder.id === id) return undefined;
    let freed: number | undefined;
    for await (const { key, modified } of this.#bucket.list(`n/${contentHash(Buffer.from(name))}/`))
      if (await this.#holds(key, `${id} dropped`)) freed = modified;
    return { at: freed ?? created, isMarked: freed !== undefined };
  }

  /** Without those whose description is damaged. */
  async list({ dropped = false } = {}): Promise<readonly WorkspaceInfo[]> {
    const infos = (await this.#infos()).filter(info => typeof info !== "string");
    return infos
      .filter(info => (info.dropped !== undefined) === dropped)
      .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  }

  /** What is known of each workspace; the id of one whose description is damaged. */
  async #infos(): Promise<readonly (WorkspaceInfo | WorkspaceId)[]> {
    const ids: WorkspaceId[] = [];
    for await (const { key } of this.#bucket.list("w/")) {
      const [, id] = /^w\/([0-9a-f]+)\/about$/.exec(key) ?? [];
      if (id !== undefined) ids.push(id);
    }
    const found: (WorkspaceInfo | WorkspaceId)[] = [];
    await each(ids, async id => {
      const info = await this.info(id).catch(ifDamaged);
      if (info !== undefined) found.push(info === "damaged" ? id : info);
    });
    return found;
  }

  async drop(workspace: WorkspaceId): Promise<boolean> {
    const said = await this.#about(workspace);
    if (said === undefined) return false;
    const { count, id } = await this.#holder(said.name);
    if (count % 2 === 0 || id !== workspace) return false;
    const key = nameKey(said.name, count + 1);
    const mark = `${workspace} dropped`;
    return (await this.#bucket.create(key, Buffer.from(mark))) || (await this.#holds(key, mark));
  }

  async restore(workspace: WorkspaceId): Promise<"restored" | "exists" | "gone"> {
    const said = await this.#about(workspace);
    if (said === undefined) return "gone";
    const { count, id } = await this.#holder(said.name);
    if (count % 2 === 1 && id === workspace) return "restored";
    return (await this.#claim(said.name, workspace)) ? "restored" : "exists";
  }

  async append(
    workspace: WorkspaceId,
    expected: Revision,
    entry: Entry,
    { objects = [], maxBytes = Number.POSITIVE_INFINITY, after }: AppendOptions = {},
  ): Promise<Appended> {
    const [info, last] = await Promise.all([
      this.info(workspace),
      after === undefined ? undefined : this.#entry(workspace, expected),
    ]);
    if (info === undefined || info.dropped !== undefined) return { result: "gone" };
    if (this.#heads.get(workspace)?.isDamaged === true)
      throw unavailable("damaged", `entry ${info.revision} of workspace ${workspace}`);
    const appended: Appended = { result: "appended", revision: expected + 1 };
    const isThere = async () => (await this.#entry(workspace, expected + 1))?.id === entry.id;
    if (info.revision !== expected) return (await isThere()) ? appended : { result: "stale" };
    if (last?.id !== after) return { result: "stale" };
    if (info.bytes + entry.bytes > maxBytes) return { result: "over_quota" };
    await this.put(objects);
    const given = new Set(objects.map(([hash]) => hash));
    const others = entry.objects.filter(hash => !given.has(hash));
    if ((await this.has(others)).size < new Set(others).size) return { result: "missing_objects" };
    const { id, body, objects: hashes, bytes } = entry;
    const key = entryKey(workspace, expected + 1);
    const stored: StoredEntry = { id, body, objects: hashes, bytes, total: info.bytes + bytes, key };
    const made = await this.#bucket.create(key, encoded(stored));
    if (!made && !(await isThere())) return { result: "stale" };
    // A collection that had found one of them old, before it was put again, may have removed it since.
    for (const [hash, object] of objects)
      if ((await this.#bucket.modified(`o/${hash}`)) === undefined)
        await this.#bucket.put(`o/${hash}`, object);
    for (const listener of this.#listeners) listener(workspace, expected + 1);
    return appended;
  }

  async entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]> {
    const { revision: last } = await this.#head(workspace);
    const revisions = Array.from(
      { length: Math.max(0, Math.min(limit, last - after)) },
      (_, i) => after + i + 1,
    );
    const found = new Map<Revision, LogEntry>();
    await each(revisions, async revision => {
      const stored = await this.#entry(workspace, revision);
      if (stored === undefined) throw unavailable("damaged", `entry ${revision} is missing`);
      const { total: _, key: __, ...entry } = stored;
      found.set(revision, { ...entry, revision });
    });
    return revisions.flatMap(revision => found.get(revision) ?? []);
  }

  async #entry(workspace: WorkspaceId, revision: Revision): Promise<StoredEntry | undefined> {
    const key = entryKey(workspace, revision);
    const bytes = await this.#bucket.get(key);
    if (bytes === undefined) return undefined;
    const stored = decoded(bytes);
    if (!isStoredEntry(stored) || (stored.key ?? key) !== key)
      throw unavailable("damaged", `entry ${revision} of workspace ${workspace}`);
    return stored;
  }

  /** The last key of the log, from where it was last seen. */
  async #head(workspace: WorkspaceId): Promise<LogHead> {
    const known = this.#heads.get(workspace) ?? { revision: 0, total: 0 };
    let { revision } = known;
    for await (const { key } of this.#bucket.list(`w/${workspace}/log/`, entryKey(workspace, revision)))
      revision = Math.max(revision, revisionOf(key) ?? 0);
    if (revision === known.revision && known.isDamaged !== true) return known;
    const last = await this.#entry(workspace, revision).catch(ifDamaged);
    const head: LogHead =
      last === "damaged" ? { revision, total: 0, isDamaged: true } : { revision, total: last?.total ?? 0 };
    this.#heads.set(workspace, head);
    return head;
  }

  /** Only of this process: a bucket does not report changes. */
  changed(listener: (workspace: WorkspaceId, revision: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async collect({ graceMs, dryRun = false }: CollectOptions): Promise<Collected> {
    const all = (await this.#infos()).map(info => {
      // What its log names cannot be known, so nothing can be called unneeded.
      if (typeof info === "string") throw unavailable("damaged", `the description of workspace ${info}`);
      return info;
    });
    const now = await this.#bucket.now();
    const needed = neededBy(all, ({ dropped }) => dropped === undefined || now - dropped < graceMs);
    const unneeded = all.filter(({ id }) => !needed.has(id));
    const old: { key: string; size: number }[] = [];
    for await (const { key, size, modified } of this.#bucket.list("o/"))
      if (now - modified >= graceMs) old.push({ key, size });
    const named = new Set<Hash>();
    for (const { id, revision } of all.filter(info => needed.has(info.id)))
      for (let after = 0; after < revision; after += batch)
        for (const { objects } of await this.entries(id, after, Math.min(batch, revision - after)))
          for (const hash of objects) named.add(hash);
    const gone = old.filter(({ key }) => !named.has(key.slice(2)));
    if (!dryRun) {
      for (const { id } of unneeded.toReversed()) await this.#remove(id);
      // Another writer may have put it again since it was listed.
      await each(gone, async ({ key }) => {
        const modified = await this.#bucket.modified(key);
        if (modified !== undefined && now - modified >= graceMs) await this.#bucket.remove(key);
      });
    }
    const bytes = gone.reduce((sum, { size }) => sum + size, 0);
    return { workspaces: unneeded.length, objects: gone.length, bytes };
  }

  async #remove(id: WorkspaceId): Promise<void> {
    await this.#bucket.remove(`w/${id}/about`);
    for await (const { key } of this.#bucket.list(`w/${id}/`)) await this.#bucket.remove(key);
    this.#heads.delete(id);
    this.#abouts.delete(id);
  }

  async *check(): AsyncGenerator<Damage> {
    const infos = await this.#infos();
    for (const info of infos)
      if (typeof info === "string") yield { what: "damaged_workspace", where: info, workspaces: [] };
    const all = infos.filter(info => typeof info !== "string");
    const ids = new Set(all.map(({ id }) => id));
    const named = new Map<Hash, Set<string>>();
    for (const { id, name, parent } of all) {
      if (parent !== undefined && !ids.has(parent.workspace))
        yield { what: "missing_parent", where: parent.workspace, workspaces: [name] };
      let before = 0;
      for await (const { key } of this.#bucket.list(`w/${id}/log/`)) {
        const revision = revisionOf(key);
        if (revision === undefined) continue;
        const missing = revision === before + 2 ? revision - 1 : `${before + 1}-${revision - 1}`;
        if (revision > before + 1)
          yield { what: "missing_entry", where: `${name}/${missing}`, workspaces: [name] };
        before = revision;
        const entry = await this.#entry(id, revision).catch(ifDamaged);
        if (entry === "damaged")
          yield { what: "damaged_entry", where: `${name}/${revision}`, workspaces: [name] };
        else
          for (const hash of entry?.objects ?? []) named.set(hash, (named.get(hash) ?? new Set()).add(name));
      }
    }
    for (const [hash, names] of named) {
      const bytes = await this.#bucket.get(`o/${hash}`);
      if (bytes !== undefined && contentHash(bytes) === hash) continue;
      const what = bytes === undefined ? "missing_object" : "damaged_object";
      yield { what, where: hash, workspaces: [...names].sort() };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
  }
}

/** Undefined for a key that is not part of a log. */
function revisionOf(key: string): Revision | undefined {
  const [, digits] = /\/log\/(\d{12})$/.exec(key) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function ifDamaged(error: unknown): "damaged" {
  if (Fault.is(error, "store_unavailable") && error.data.reason === "damaged") return "damaged";
  throw error;
}

function nameKey(name: string, count: number): string {
  return `n/${contentHash(Buffer.from(name))}/${String(count).padStart(12, "0")}`;
}

function entryKey(workspace: WorkspaceId, revision: Revision): string {
  return `w/${workspace}/log/${String(revision).padStart(12, "0")}`;
}

function encoded(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    throw unavailable("damaged", "an entry cannot be read");
  }
}

const atOnce = 16;

async function each<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const work = async () => {
    for (const item of queue) await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
