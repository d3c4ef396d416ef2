// What a server did to a file system, as its recorder wrote it down: each operation knows the file or the names that
// it is about by numbers of its own, because file systems give inode numbers again.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** A name in a directory, which is named by its inode. */
type EntryName = readonly [ino: number, name: string];

type Entry =
  | {
      op: "create" | "mkdir" | "symlink";
      at: EntryName;
      ino: number;
      mode?: number;
      mtime?: number;
      born: number;
      target?: string;
    }
  | { op: "write"; ino: number; position: number; data: string; mtime: number }
  | { op: "truncate"; ino: number; size: number; mtime: number }
  | { op: "mode"; ino: number; mode: number; mtime: number }
  | { op: "rename" | "link"; from: EntryName; at: EntryName }
  | { op: "unlink"; at: EntryName }
  | { op: "flushing"; flush: string }
  | { op: "synced"; ino: number; flush: string }
  | { op: "answer"; text: string };

/** A file, a directory or a link that was there at the start, or was made. */
export interface Thing {
  readonly id: number;
  readonly ino: number;
  readonly kind: "file" | "directory" | "symlink";
  readonly target?: string;
  /** At the start. */
  readonly mode: number;
  readonly mtime: number;
  /** When it was created. */
  readonly born: number;
  readonly data: Buffer;
  readonly entries: ReadonlyMap<string, number>;
}

export type Operation =
  /** Names that point to something, or to nothing any more. All of them change at once. */
  | { readonly is: "names"; readonly names: readonly { dir: number; name: string; id: number | undefined }[] }
  | {
      readonly is: "write";
      readonly id: number;
      readonly position: number;
      readonly data: Buffer;
      readonly mtime: number;
    }
  | { readonly is: "truncate"; readonly id: number; readonly size: number; readonly mtime: number }
  | { readonly is: "mode"; readonly id: number; readonly mode: number; readonly mtime: number }
  /** All operations on it that came before `upto` are on the disk. */
  | { readonly is: "synced"; readonly id: number; readonly upto: number }
  | { readonly is: "answer"; readonly text: string };

export class Recording {
  readonly base: string;
  readonly things: Thing[] = [];
  readonly operations: Operation[] = [];
  readonly root: number;
  readonly #ids = new Map<number, number>();
  readonly #entries = new Map<number, Map<string, number>>();
  /** Where flushes began. */
  readonly #flushes = new Map<string, number>();

  /** Begins with what is below `base` now. */
  constructor(base: string) {
    this.base = base;
    this.root = this.#look(base);
  }

  /** Adds what a recorder wrote. */
  add(log: string): void {
    for (const line of log.split("\n"))
      if (line !== "") this.operations.push(...this.#operation(JSON.parse(line)));
  }

  #look(path: string): number {
    const stat = lstatSync(path);
    const known = this.#ids.get(stat.ino);
    if (known !== undefined) return known; // another name of it
    const told = { ino: stat.ino, mode: stat.mode & 0o7777, mtime: stat.mtimeMs, born: stat.birthtimeMs };
    const nothing = { data: Buffer.alloc(0), entries: new Map() };
    if (stat.isSymbolicLink())
      return this.#thing({ ...told, ...nothing, kind: "symlink", target: readlinkSync(path) });
    if (stat.isFile()) return this.#thing({ ...told, ...nothing, kind: "file", data: readFileSync(path) });
    const names = readdirSync(path, "latin1").map(name => {
      return [name, this.#look(join(path, Buffer.from(name, "latin1").toString()))] as const;
    });
    return this.#thing({ ...told, ...nothing, kind: "directory", entries: new Map(names) });
  }

  #thing(thing: Omit<Thing, "id">): number {
    const id = this.things.length;
    this.things.push({ id, ...thing });
    this.#ids.set(thing.ino, id);
    this.#entries.set(id, new Map(thing.entries));
    return id;
  }

  /** Of something elsewhere, one that changes nothing. */
  #operation(entry: Entry): Operation[] {
    const none: Operation[] = [{ is: "names", names: [] }];
    switch (entry.op) {
      case "create":
      case "mkdir":
      case "symlink": {
        const dir = this.#directory(entry.at[0]);
        if (dir === undefined) return none;
        const kind = entry.op === "mkdir" ? "directory" : entry.op === "symlink" ? "symlink" : "file";
        const { ino, born, mode = 0o777, mtime = 0 } = entry;
        const told = { ino, mode: mode & 0o7777, mtime, born };
        const more = entry.target === undefined ? {} : { target: entry.target };
        const id = this.#thing({ kind, ...told, data: Buffer.alloc(0), entries: new Map(), ...more });
        return this.#names([{ dir, name: entry.at[1], id }]);
      }
      case "rename":
      case "link": {
        const [from, to] = [this.#directory(entry.from[0]), this.#directory(entry.at[0])];
        if (from === undefined || to === undefined) return none;
        const id = this.#entries.get(from)?.get(entry.from[1]);
        const made = { dir: to, name: entry.at[1], id };
        const gone = { dir: from, name: entry.from[1], id: undefined };
        return this.#names(entry.op === "link" ? [made] : [gone, made]);
      }
      case "unlink": {
        const dir = this.#directory(entry.at[0]);
        return dir === undefined ? none : this.#names([{ dir, name: entry.at[1], id: undefined }]);
      }
      case "flushing":
        this.#flushes.set(entry.flush, this.operations.length);
        return none;
      case "answer":
        return [{ is: "answer", text: entry.text }];
      default: {
        const id = this.#ids.get(entry.ino);
        if (id === undefined) return none;
        if (entry.op === "synced") return [{ is: "synced", id, upto: this.#flushes.get(entry.flush) ?? 0 }];
        if (entry.op === "write")
          return [
            {
              is: "write",
              id,
              position: entry.position,
              data: Buffer.from(entry.data, "base64"),
              mtime: entry.mtime,
            },
          ];
        if (entry.op === "truncate") return [{ is: "truncate", id, size: entry.size, mtime: entry.mtime }];
        return [{ is: "mode", id, mode: entry.mode & 0o7777, mtime: entry.mtime }];
      }
    }
  }

  /** The directory with an inode. A file's number may be given to a directory that is not watched. */
  #directory(ino: number): number | undefined {
    const id = this.#ids.get(ino);
    return id === undefined || this.things[id]?.kind !== "directory" ? undefined : id;
  }

  #names(names: Extract<Operation, { is: "names" }>["names"]): Operation[] {
    for (const { dir, name, id } of names) {
      const entries = this.#entries.get(dir);
      if (id === undefined) entries?.delete(name);
      else entries?.set(name, id);
    }
    return [{ is: "names", names }];
  }
}
