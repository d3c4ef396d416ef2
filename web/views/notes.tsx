// Notes: everything that was said to the agents, and whether they have read it.
import type { Note } from "../../src/review/api.ts";
import { Comment } from "../parts/icons.tsx";
import { Empty, When } from "../parts/states.tsx";
import { item } from "../state/items.ts";
import { loadNotes, notes } from "../state/notes.ts";
import { type ChosenDetail, format, go } from "../state/route.ts";
import { NoteCard } from "./note-form.tsx";

export function Notes() {
  return (
    <section class="scroll full" aria-label="Notes" tabIndex={-1}>
      <div class="page">
        <header>
          <h1>Notes</h1>
          <p class="muted">
            The agent's next answer says that there is a note; the agent reads it with list_changes.
          </p>
        </header>
        <When of={notes.current.value} what="notes" again={() => void loadNotes()}>
          {all =>
            all.length === 0 ? (
              <Empty icon={<Comment size={36} />} title="No notes yet">
                <p>Press a line number in a difference to tell the agent what should be different there.</p>
              </Empty>
            ) : (
              <ul class="plain-list">
                {all.map(note => (
                  <li key={note.id} data-item tabIndex={-1} ref={item({ open: () => go(placeOf(note)) })}>
                    <NoteCard note={note} />
                    <a class="small-text" href={format(placeOf(note))}>
                      Show where
                    </a>
                  </li>
                ))}
              </ul>
            )
          }
        </When>
      </div>
    </section>
  );
}

function placeOf({ change, path, line, side }: Note): {
  readonly view: "changes";
  readonly chosen: ChosenDetail;
} {
  return {
    view: "changes",
    chosen: {
      kind: "change",
      id: change,
      ...(path !== undefined && { path }),
      ...(path !== undefined && line !== undefined && { line, side: side ?? "new" }),
    },
  };
}
