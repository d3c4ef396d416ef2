// Notes that a person leaves for an agent: one file each in the state directory, so that pages and servers can add
// and read at the same time. An empty file beside it says that the agent has got it.
import { randomBytes } from "node:crypto";
import type { StateFolder } from "../host/state-folder.ts";

export interface StoredNote {
  readonly id: string;
  readonly time: number;
  readonly change: string;
  /** Whose change it is about, and so whom it is for. */
  readonly client: string;
  readonly connection?: string;
  /** When the change was made. */
  readonly made: number;
  readonly path?: string;
  readonly line?: number;
  readonly side?: "old" | "new";
  readonly text: string;
}

/** The oldest go first. */
const mostNotes = 1000;

export class NoteFiles {
  readonly #folder: StateFolder;
  readonly #notes = new Map<string, StoredNote>();
  #read = new Set<string>();

  constructor(folder: StateFolder) {
    this.#folder = folder;
  }

  /** Reads what has come and gone. Newest first. */
  all(): readonly (StoredNote & { readonly read: boolean })[] {
    const names = new Set(this.#folder.names());
    this.#read = new Set([...names].filter(name => name.endsWith(".read")).map(name => name.slice(0, -5)));
    for (const id of [...this.#notes.keys()]) if (!names.has(`${id}.json`)) this.#notes.delete(id);
    for (const name of names) {
      const [, id] = /^([0-9a-z]+)\.json$/.exec(name) ?? [];
      if (id === undefined || this.#notes.has(id)) continue;
      const note = this.#folder.readJson(name);
      if (isNote(note)) this.#notes.set(id, { ...note, id });
    }
    return [...this.#notes.values()]
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .map(note => ({ ...note, read: this.#read.has(note.id) }));
  }

  add(note: Omit<StoredNote, "id" | "time">): StoredNote {
    const time = Date.now();
    const id = `${time.toString(36).padStart(9, "0")}${randomBytes(3).toString("hex")}`;
    const stored = { ...note, id, time };
    this.#folder.write(`${id}.json`, JSON.stringify(stored));
    this.#notes.set(id, stored);
    for (const { id: old } of this.all().slice(mostNotes)) this.remove(old);
    return stored;
  }

  remove(id: string): boolean {
    if (!/^[0-9a-z]+$/.test(id) || !this.#notes.has(id)) return false;
    this.#folder.remove(`${id}.json`);
    this.#folder.remove(`${id}.read`);
    this.#notes.delete(id);
    return true;
  }

  /** The agent has got these. */
  markRead(ids: readonly string[]): void {
    for (const id of ids) if (!this.#read.has(id)) this.#folder.write(`${id}.read`, "");
  }
}

function isNote(value: unknown): value is StoredNote {
  if (typeof value !== "object" || value === null) return false;
  const { change, client, text, time } = value as Partial<StoredNote>;
  return [change, client, text].every(one => typeof one === "string") && typeof time === "number";
}
