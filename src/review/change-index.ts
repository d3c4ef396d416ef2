// The changes of the state directory in short, in memory: what lists, filters and tasks need, without contents. It is
// read once, in slices of time, and then kept up with the directory.

import { Fault } from "../engine/fault.ts";
import type { Archive } from "../engine/workspace/archive/archive.ts";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import { TimeSlice } from "../engine/workspace/footprint/time-slice.ts";
import type { StateFolder } from "../host/state-folder.ts";
import type { ChangeEntry } from "./change-entry.ts";
import { cachedEntries, cacheEntries } from "./index-cache.ts";
import { TaskGroups } from "./task-groups.ts";

/** As many are read from their own files at each start, before the cache is rewritten. */
const mostUncached = 500;

export class ChangeIndex implements Disposable {
  readonly #archive: Archive;
  readonly #entries = new Map<string, ChangeEntry>();
  /** Oldest first. */
  #order: string[] = [];
  #tasks = new TaskGroups();
  readonly #texts = new Map<string, string>();
  readonly #watches: readonly (Disposable | undefined)[];
  readonly #cache: StateFolder | undefined;
  #undone: { readonly whole: ReadonlySet<string>; readonly partly: ReadonlySet<string> } | undefined;
  /** Settles when all that was there at the start has been read. */
  readonly ready: Promise<void>;
  /** Called with each change that is recorded from now on. */
  onChange: (entry: ChangeEntry, record: ChangeRecord) => void = () => {};

  /** `earlier` holds the files of changes that were gathered. */
  constructor(
    archive: Archive,
    { changes, earlier, cache }: Readonly<Record<"changes" | "earlier" | "cache", StateFolder | undefined>>,
  ) {
    this.#archive = archive;
    this.#cache = cache;
    this.#watches = [
      changes?.watch(name => this.#changed(name)),
      earlier?.watch(name => {
        if (!name?.startsWith(".")) this.#dropCleared(); // not a draft
      }),
    ];
    this.ready = this.#load();
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): ChangeEntry | undefined {
    return this.#entries.get(id);
  }

  taskOf(id: string): string {
    return this.#tasks.taskOf(id) ?? id;
  }

  /** The changes of a task, oldest first. */
  inTask(task: string): readonly string[] {
    return this.#tasks.changesOf(task);
  }

  /** Newest first, those before `before` only where that is given. */
  *newest(before?: string): Generator<ChangeEntry> {
    for (let i = this.#order.length - 1; i >= 0; i--) {
      const id = this.#order[i] ?? "";
      const entry = before !== undefined && id >= before ? undefined : this.#entries.get(id);
      if (entry !== undefined) yield entry;
    }
  }

  /** Whether a change is in effect. An undo that was undone itself does not count. */
  stateOf(id: string): "standing" | "undone" | "partly" {
    this.#undone ??= this.#findUndone();
    if (this.#undone.whole.has(id)) return "undone";
    return this.#undone.partly.has(id) ? "partly" : "standing";
  }

  /** Reads a change that another process says it has recorded. */
  take(id: string): boolean {
    if (this.#entries.has(id)) return true;
    const record = this.#archive.changes.recorded(id);
    if (record === undefined) return false;
    this.onChange(this.#add(record), record);
    return true;
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch?.[Symbol.dispose]();
  }

  async #load(): Promise<void> {
    const slice = new TimeSlice();
    const known = cachedEntries(this.#cache);
    let fresh = 0;
    for (const id of this.#archive.changes.ids()) {
      if (slice.isOver) await slice.turn();
      if (this.#entries.has(id)) continue;
      const cached = known.get(id);
      const record = cached === undefined ? this.#archive.changes.recorded(id) : undefined;
      if (cached !== undefined) this.#insert(cached);
      else if (record !== undefined) this.#add(record);
      if (cached === undefined) fresh++;
    }
    if (fresh > mostUncached) cacheEntries(this.#cache, [...this.#entries.values()]);
  }

  #changed(name: string | undefined): void {
    if (name === undefined) {
      for (const id of this.#archive.changes.ids()) this.take(id);
      return;
    }
    const [, id] = /^([0-9a-z]+)\.json$/.exec(name) ?? [];
    if (id === undefined) return;
    if (!this.take(id) || this.#archive.changes.recorded(id) !== undefined) return;
    this.#entries.delete(id); // it was cleared away
  }

  /** Of what is cleared away in a file of earlier changes, only that file tells. */
  #dropCleared(): void {
    try {
      const there = new Set(this.#archive.changes.ids());
      for (const id of this.#entries.keys()) if (!there.has(id)) this.#entries.delete(id);
    } catch (error) {
      if (!(error instanceof Fault)) throw error; // a file that cannot be read may hold any of them
    }
  }

  #add(record: ChangeRecord): ChangeEntry {
    const { id, time, action, client, connection, trace, undoes, partial = false, files } = record;
    return this.#insert({
      id,
      time,
      tool: action,
      client,
      connection,
      trace,
      undoes,
      partial,
      paths: files.flatMap(file => (file.from === undefined ? [file.at] : [file.at, file.from])),
    });
  }

  #insert(found: ChangeEntry): ChangeEntry {
    const { id, connection, undoes } = found;
    const entry = {
      ...found,
      tool: this.#shared(found.tool),
      client: this.#shared(found.client),
      connection: connection === undefined ? undefined : this.#shared(connection),
      paths: found.paths.map(path => this.#shared(path)),
    };
    this.#entries.set(id, entry);
    const last = this.#order.at(-1);
    this.#order.push(id);
    if (last === undefined || last < id) this.#tasks.add(entry);
    else this.#regroup();
    if (undoes !== undefined) this.#undone = undefined;
    return entry;
  }

  /** After a change came out of order: one of a process that had crashed. */
  #regroup(): void {
    this.#order = [...new Set(this.#order)].sort();
    this.#tasks = new TaskGroups();
    for (const id of this.#order) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) this.#tasks.add(entry);
    }
  }

  #findUndone() {
    const whole = new Set<string>();
    const partly = new Set<string>();
    for (const { id, undoes, partial } of this.newest()) {
      if (undoes === undefined || whole.has(id)) continue;
      (partial ? partly : whole).add(undoes);
    }
    return { whole, partly };
  }

  /** One string for all that are equal: ten thousand changes have few clients and tools. */
  #shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
