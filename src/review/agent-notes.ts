// Notes from the server's side: which ones the agent of a connection has yet to get. The folder is checked again at
// most ten times a second, by its time alone.
import type { CallerNote, CallerNotes } from "../contract/context.ts";
import type { Session } from "../contract/session.ts";
import { clock } from "../engine/clock.ts";
import { StateFolder } from "../host/state-folder.ts";
import { NoteFiles, type StoredNote } from "./notes.ts";
import { folders } from "./wire.ts";

const recheckMs = 100;

type KnownNote = StoredNote & { readonly read: boolean };

export class AgentNotes implements CallerNotes {
  readonly #state: string | undefined;
  #folder: StateFolder | undefined;
  #files: NoteFiles | undefined;
  #known: readonly KnownNote[] = [];
  #stamp: string | undefined;
  #checked = Number.NEGATIVE_INFINITY;

  constructor(state: string | undefined) {
    this.#state = state;
  }

  unread(session: Session): readonly CallerNote[] {
    this.#refresh();
    return this.#known.filter(note => !note.read && isFor(note, session));
  }

  about(changes: readonly string[]): readonly CallerNote[] {
    this.#refresh();
    const wanted = new Set(changes);
    return this.#known.filter(({ change }) => wanted.has(change));
  }

  delivered(notes: readonly CallerNote[]): void {
    this.#files?.markRead(notes.map(({ id }) => id));
    this.#checked = Number.NEGATIVE_INFINITY;
  }

  #refresh(): void {
    const now = clock();
    if (now - this.#checked < recheckMs) return;
    this.#checked = now;
    this.#folder ??= StateFolder.at(this.#state, ...folders.notes);
    const stamp = this.#folder.stamp();
    if (stamp === this.#stamp) return;
    this.#files ??= new NoteFiles(this.#folder);
    this.#known = this.#files.all();
    // Times are too coarse to distinguish two changes of one moment.
    this.#stamp = this.#folder.isSettled() ? stamp : undefined;
  }
}

/** For the connection that made the change, or a later one of the same client. */
function isFor({ client, connection, made }: StoredNote, session: Session): boolean {
  return connection === session.connection || (client === session.client && session.started > made);
}
