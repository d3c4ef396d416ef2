// The review page: starts it, in a browser or embedded in a client.
import { render } from "preact";
import { App } from "./app.tsx";
import { isInClient, startInClient } from "./embedded/start.ts";
import { followChosen, refreshDetail, touched } from "./state/detail.ts";
import { addChange, followFilters, reloadLists } from "./state/history.ts";
import { takeMark } from "./state/keep.ts";
import { listenToKeys } from "./state/keys.ts";
import { listen } from "./state/live.ts";
import { dropNote, loadNotes, putNote } from "./state/notes.ts";
import { addCall, loadCalls } from "./state/now.ts";
import { addQuestion, loadQuestions, settleQuestion } from "./state/questions.ts";
import { loadSession, session } from "./state/session.ts";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no place for the app");

function loadAll(): void {
  void loadSession(true);
  void loadCalls();
  void loadQuestions();
  void loadNotes();
}

function start(): void {
  loadAll();
  followFilters();
  followChosen();
  listen({
    call: addCall,
    change: change => {
      addChange(change);
      touched(change);
    },
    question: addQuestion,
    settled: settleQuestion,
    note: putNote,
    unnote: ({ id }) => dropNote(id),
    kept: takeMark,
    servers: servers => {
      if (session.value !== undefined) session.value = { ...session.value, servers };
    },
    resync: () => {
      loadAll();
      reloadLists();
      refreshDetail();
    },
  });
}

/** Inside a client there are no events: the list is fetched again when a tool has answered. */
async function startEmbedded(): Promise<void> {
  await startInClient();
  await loadSession();
  followFilters();
  followChosen();
}

listenToKeys();
render(<App />, root);
if (isInClient) void startEmbedded();
else start();
