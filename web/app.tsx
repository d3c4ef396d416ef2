// The frame of the page: header, navigation, the view, and announcements.
import { useEffect } from "preact/hooks";
import { Alert, Help as HelpIcon, Moon, Sun } from "./parts/icons.tsx";
import { Empty, Failed } from "./parts/states.tsx";
import { announcement } from "./state/announce.ts";
import { isHelpOpen } from "./state/keys.ts";
import { live } from "./state/live.ts";
import { questions } from "./state/questions.ts";
import { route, type View } from "./state/route.ts";
import { isEmbedded, loadSession, session } from "./state/session.ts";
import { chooseTheme, isDark } from "./state/theme.ts";
import { lastUndo, redo } from "./state/undo.ts";
import { Changes } from "./views/changes.tsx";
import { Help } from "./views/help.tsx";
import { Notes } from "./views/notes.tsx";
import { Now } from "./views/now.tsx";
import { Questions } from "./views/questions.tsx";
import { UndoDialog } from "./views/undo-dialog.tsx";

const titles: { readonly [view in View]: string } = {
  now: "Now",
  changes: "Changes",
  questions: "Questions",
  notes: "Notes",
};

export function App() {
  const { view } = route.value;
  const waiting = questions.value?.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${titles[view]} · polyfs review`;
  }, [view, waiting]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      {!isEmbedded.value && <Header />}
      <Connection />
      <main id="main" tabIndex={-1}>
        <Content view={view} />
      </main>
      <UndoDialog />
      <Help />
      <Toast />
    </>
  );
}

function Content({ view }: { readonly view: View }) {
  const { value: now } = session.current;
  if (now.state === "failed") {
    if (now.code !== "unauthorized" && now.code !== "not_signed_in")
      return <Failed message={now.message} again={() => void loadSession()} />;
    return (
      <Empty icon={<Alert size={36} />} title="Not signed in">
        <p>
          The address with the token opens the page once. Run <code>polyfs review</code> again for a new one.
        </p>
      </Empty>
    );
  }
  if (isEmbedded.value) return <Changes />;
  if (view === "now") return <Now />;
  if (view === "questions") return <Questions />;
  return view === "notes" ? <Notes /> : <Changes />;
}

function Header() {
  const roots = session.value?.roots ?? [];
  const [first] = roots;
  return (
    <header class="top">
      <div class="brand">
        <span>polyfs</span>
        {first !== undefined && (
          <span class="place clip" title={roots.map(({ path }) => path).join("\n")}>
            {first.name.split("/").at(-1) || first.name}
            {roots.length > 1 && ` and ${roots.length - 1} more`}
          </span>
        )}
      </div>
      <nav class="tabs" aria-label="Views">
        {(Object.keys(titles) as View[]).map(view => (
          <a key={view} href={`#${view}`} aria-current={route.value.view === view ? "page" : undefined}>
            {titles[view]}
            {view === "questions" && <Waiting />}
          </a>
        ))}
      </nav>
      <div class="tools">
        <Status />
        <button
          type="button"
          class="icon"
          aria-label={isDark() ? "Light colours" : "Dark colours"}
          onClick={() => chooseTheme(isDark() ? "light" : "dark")}
        >
          {isDark() ? <Sun /> : <Moon />}
        </button>
        <button
          type="button"
          class="icon"
          aria-label="Keys and help"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          <HelpIcon />
        </button>
      </div>
    </header>
  );
}

function Waiting() {
  const count = questions.value?.length ?? 0;
  if (count === 0) return null;
  return (
    <span class="badge">
      {count}
      <span class="sr"> waiting</span>
    </span>
  );
}

const words = { connecting: "Connecting", live: "Live", lost: "Disconnected" } as const;

function Status() {
  return (
    <span class="status">
      <span class={`dot${live.value === "live" ? "" : " waiting"}`} />
      <span class="words">{words[live.value]}</span>
    </span>
  );
}

/** Told where it matters: what is shown may be old. */
function Connection() {
  return (
    <div class="connection" role="status">
      {live.value === "lost" && !isEmbedded.value && (
        <p class="banner">
          The connection is lost. What you see may be old; the page connects again by itself.
        </p>
      )}
    </div>
  );
}

function Toast() {
  const { value } = announcement;
  return (
    <div class={value?.tone === "bad" ? "toast bad" : "toast"} role="status" aria-live="polite">
      {value !== undefined && (
        <>
          {value.text}{" "}
          {value.tone === "good" && value.text.startsWith("Undid") && lastUndo.value.length > 0 && (
            <button type="button" class="button small" onClick={() => void redo()}>
              Take it back
            </button>
          )}
        </>
      )}
    </div>
  );
}
