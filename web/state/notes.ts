// Notes to the agents, about a line, a file or a change.
import type { Note, NoteList, NoteRequest } from "../../src/review/api.ts";
import { announce } from "./announce.ts";
import { detail, refreshDetail } from "./detail.ts";
import { Loaded, messageOf } from "./loadable.ts";
import { get, post } from "./request.ts";

export const notes = new Loaded<readonly Note[]>();

export function loadNotes(): Promise<void> {
  return notes.load(async signal => (await get<NoteList>("api/notes", signal)).notes, { keep: true });
}

/** A note is new, or was read. */
export function putNote(note: Note): void {
  const known = notes.value ?? [];
  const others = known.filter(({ id }) => id !== note.id);
  notes.value = [note, ...others].sort((a, b) => b.time - a.time);
  if (detail.value?.changes.some(({ id }) => id === note.change)) refreshDetail();
}

export function dropNote(id: string): void {
  notes.value = (notes.value ?? []).filter(note => note.id !== id);
  if (detail.value?.notes.some(note => note.id === id)) refreshDetail();
}

/** Resolves to whether it was taken. */
export async function addNote(request: NoteRequest): Promise<boolean> {
  try {
    putNote(await post<Note>("api/notes", request));
    announce("Noted. The agent learns about it with its next answer.", "good");
    return true;
  } catch (error) {
    announce(messageOf(error), "bad");
    return false;
  }
}

export async function removeNote({ id }: Note): Promise<void> {
  try {
    await post(`api/notes/${encodeURIComponent(id)}/remove`, {});
    dropNote(id);
    announce("Note removed");
  } catch (error) {
    announce(messageOf(error), "bad");
  }
}
