// Notes beside what they are about, and the form that writes one.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Note, NoteRequest } from "../../src/review/api.ts";
import type { DiffPlace } from "../parts/diff.tsx";
import { ago, exactTime } from "../parts/words.ts";
import type { Detail } from "../state/detail.ts";
import { addNote, removeNote } from "../state/notes.ts";
import { may } from "../state/session.ts";

type Draft = Omit<NoteRequest, "text"> & { readonly name?: string };

/** The note that is being written. Its text survives a reload of what it is about. */
const draft = signal<Draft | undefined>(undefined);
const draftText = signal("");
const isSending = signal(false);

export function startNote(about: Draft): void {
  draft.value = about;
}

/** Notes on a line, and the form where one is being written there. */
export function LineNotes({
  shown,
  path,
  at,
}: {
  readonly shown: Detail;
  readonly path: string;
  readonly at: DiffPlace;
}) {
  const notes = shown.notes.filter(
    note => note.path === path && note.line === at.line && (note.side ?? "new") === at.side,
  );
  const now = draft.value;
  const isHere = now?.path === path && now.line === at.line && (now.side ?? "new") === at.side;
  if (notes.length === 0 && !isHere) return null;
  return (
    <>
      {notes.map(note => (
        <NoteCard key={note.id} note={note} />
      ))}
      {isHere && <NoteForm about={now} />}
    </>
  );
}

/** Notes on the whole, or on lines that are not shown. */
export function NotesAt({ shown }: { readonly shown: Detail }) {
  const paths = new Set(
    shown.difference.files.filter(({ hunks }) => hunks.length > 0).map(({ path }) => path),
  );
  const notes = shown.notes.filter(
    ({ path, line }) => path === undefined || line === undefined || !paths.has(path),
  );
  const now = draft.value;
  const isHere =
    now !== undefined && now.path === undefined && shown.changes.some(({ id }) => id === now.change);
  if (notes.length === 0 && !isHere) return null;
  return (
    <div class="whole-notes">
      {notes.map(note => (
        <NoteCard key={note.id} note={note} />
      ))}
      {isHere && <NoteForm about={now} />}
    </div>
  );
}

export function NoteCard({ note }: { readonly note: Note }) {
  const { text, time, read, name, line } = note;
  return (
    <div class="note">
      <div class="grow">
        <p>{text}</p>
        <p class="muted small-text">
          <time dateTime={new Date(time).toISOString()} title={exactTime(time)}>
            {ago(time)}
          </time>
          {name !== undefined && ` · ${name}${line === undefined ? "" : `:${line}`}`} ·{" "}
          {read ? "the agent has read it" : "waits for the agent"}
        </p>
      </div>
      {may.value.note && (
        <button
          type="button"
          class="button quiet small"
          aria-label={`Remove the note: ${text.slice(0, 60)}`}
          onClick={() => void removeNote(note)}
        >
          Remove
        </button>
      )}
    </div>
  );
}

function NoteForm({ about }: { readonly about: Draft }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const close = () => {
    draft.value = undefined;
    draftText.value = "";
  };
  const send = async () => {
    const text = draftText.value.trim();
    if (text === "" || isSending.value) return;
    isSending.value = true;
    const { name: _, ...request } = about;
    if (await addNote({ ...request, text })) close();
    isSending.value = false;
  };
  const where = about.line === undefined ? "this change" : `line ${about.line} of ${about.name}`;
  return (
    <form
      class="note-form"
      onSubmit={event => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={event => {
        event.stopPropagation();
        if (event.key === "Escape") close();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
      }}
    >
      <label class="stacked">
        Note to the agent on {where}
        <textarea
          ref={field}
          class="field"
          maxLength={4000}
          value={draftText.value}
          placeholder="What should be different here?"
          onInput={({ currentTarget }) => {
            draftText.value = currentTarget.value;
          }}
        />
      </label>
      <div class="buttons">
        <button type="submit" class="button primary" disabled={isSending.value}>
          Send note
        </button>
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
