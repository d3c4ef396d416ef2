// The commands that run in the directory of a replica: who wrote what they leave there, and what the answer of each says.
import type { By } from "../workspace/archive/log.ts";
import { RelatedPaths } from "../workspace/within.ts";

export const unknownAuthor: By = { action: "run", client: "" };
/** The same where it is the work of several commands. */
export const severalAuthors: By = { ...unknownAuthor, others: true };

export interface CommandHere {
  readonly by: By;
  readonly overlapped: (at: string) => void;
  readonly onlyHere: (id: string) => void;
  /** A change that holds a part of what it did, and was published before its end. */
  published?: string;
  /** Its own changes are published: what else there is belongs to others. */
  isSeparate: boolean;
  /** What others have changed here since it began. Its own work there looks like theirs. */
  readonly pulled: RelatedPaths;
}

export class CommandsHere implements Iterable<CommandHere> {
  readonly #commands = new Set<CommandHere>();

  /** Until the result is called. */
  add(by: By, overlapped: (at: string) => void, onlyHere: (id: string) => void): () => void {
    const command = { by, overlapped, onlyHere, isSeparate: false, pulled: new RelatedPaths() };
    this.#commands.add(command);
    return () => void this.#commands.delete(command);
  }

  get count(): number {
    return this.#commands.size;
  }

  [Symbol.iterator](): Iterator<CommandHere> {
    return this.#commands.values();
  }

  of({ connection }: By): CommandHere | undefined {
    return [...this].find(({ by }) => by.connection === connection);
  }

  /** Of what a program has written while commands run. */
  get soleAuthor(): By {
    const [command, other] = this.#commands;
    return other === undefined ? (command?.by ?? unknownAuthor) : severalAuthors;
  }

  /** Without a look at the files before, everything that commands have done until now counts as this one's. */
  withOthers(by: By): By {
    return [...this].some(one => one.by.connection !== by.connection) ? { ...by, others: true } : by;
  }

  /** If nothing else is left at the end of a command, it is answered with the id of what was published before. */
  notePublished(id: string, by: By): void {
    if (by.connection === undefined) return;
    for (const one of this)
      if (one.by.connection === by.connection && one.by.action === by.action) one.published ??= id;
  }

  notePulled(paths: readonly string[]): void {
    for (const { pulled } of this) for (const path of paths) pulled.add(path);
  }

  tellOverlap(at: string): void {
    for (const { overlapped } of this) overlapped(at);
  }

  /** Nothing was left to publish under an id that a command is answered with, or it did not fit. */
  tellOnlyHere(id: string): void {
    for (const { onlyHere } of this) onlyHere(id);
  }
}
