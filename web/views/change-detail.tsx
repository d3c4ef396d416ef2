// The right pane of Changes: the selected item, with its differences and its actions.
import { useEffect, useRef } from "preact/hooks";
import type { ChangeSummary, FileSummary } from "../../src/review/api.ts";
import { layout } from "../parts/diff.tsx";
import { linesOf } from "../parts/diff-lines.ts";
import { Back, Check, Comment, Pages, Undo } from "../parts/icons.tsx";
import { Empty, When } from "../parts/states.tsx";
import { counted, exactTime, when } from "../parts/words.ts";
import { type Detail, detail, fetchWhole, refreshDetail, untilNow } from "../state/detail.ts";
import { item } from "../state/items.ts";
import { keep } from "../state/keep.ts";
import { go, route } from "../state/route.ts";
import { isEmbedded, may } from "../state/session.ts";
import { isUndoing, previewUndo, undo } from "../state/undo.ts";
import { Counts } from "./change-rows.tsx";
import { FileView } from "./file-view.tsx";
import { NotesAt, startNote } from "./note-form.tsx";

export function ChangeDetail() {
  const { chosen } = route.value;
  return (
    <section class="pane detail" aria-label="Difference" id="detail" tabIndex={-1}>
      {chosen === undefined ? (
        <Empty icon={<Pages size={36} />} title="Nothing selected">
          <p>Select a task or a change in the list to see what it did to your files.</p>
        </Empty>
      ) : (
        <When of={detail.current.value} what="the difference" again={refreshDetail}>
          {value => <Shown shown={value} />}
        </When>
      )}
    </section>
  );
}

function Shown({ shown }: { readonly shown: Detail }) {
  const { difference, chosen, changes } = shown;
  const scroll = useRef<HTMLDivElement>(null);
  const key = `${chosen.kind} ${chosen.id} ${chosen.path} ${chosen.line}`;
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    const line = element.querySelector(".marked");
    if (line !== null) line.scrollIntoView({ block: "center" });
    else element.scrollTop = 0;
  }, [key]);
  return (
    <>
      <Head shown={shown} />
      <div class="scroll differences" ref={scroll} tabIndex={-1}>
        <NotesAt shown={shown} />
        <LineElsewhere shown={shown} />
        {difference.files.length === 0 && difference.omitted.length === 0 && (
          <Empty icon={<Check size={36} />} title="No difference">
            <p>
              {untilNow.value
                ? "The files on disk are as they were before the task."
                : "Nothing to show: it was undone, or it changed nothing."}
            </p>
          </Empty>
        )}
        {difference.files.map(file => (
          <FileView key={file.path} file={file} shown={shown} />
        ))}
        {difference.omitted.map(file => (
          <Omitted key={file.path} file={file} />
        ))}
        {chosen.kind === "task" && chosen.path === undefined && changes.length > 1 && (
          <Steps changes={changes} />
        )}
      </div>
    </>
  );
}

/** A place found may be outside of what the change touched. */
function LineElsewhere({ shown: { chosen, difference } }: { readonly shown: Detail }) {
  const { line, side, path } = chosen;
  if (line === undefined) return null;
  const file = difference.files.find(one => one.path === path);
  const isShown = file?.hunks.some(hunk => linesOf(hunk).lines.some(one => one[side ?? "new"] === line));
  if (isShown) return null;
  return (
    <p class="about">
      Line {line} was there, {side === "old" ? "before" : "after"} this change, but the change did not touch
      it.
    </p>
  );
}

function Head({ shown }: { readonly shown: Detail }) {
  const { task, changes, chosen, difference } = shown;
  const [newest] = changes;
  const request = chosen.kind === "task" ? { task: chosen.id } : { change: chosen.id };
  const what = chosen.kind === "task" ? "the task" : `change ${chosen.id}`;
  const isKept = task?.kept ?? newest?.kept ?? false;
  const isUndone = task ? task.standing === 0 : newest?.state === "undone";
  const canUndo =
    may.value.undo &&
    !isUndone &&
    chosen.path === undefined &&
    (task !== undefined || newest?.undoable === true);
  const undoAll = () => void (chosen.kind === "task" ? previewUndo(request, what) : undo(request, what));
  const keepAll = () =>
    void keep(
      { ...(chosen.kind === "task" ? { task: chosen.id } : { changes: [chosen.id] }), kept: !isKept },
      what,
    );
  const canKeep = !isEmbedded.value && chosen.path === undefined;
  return (
    <header
      class="detail-head"
      data-item
      tabIndex={-1}
      ref={item({ undo: canUndo ? undoAll : undefined, keep: canKeep ? keepAll : undefined })}
    >
      <button
        type="button"
        class="icon back"
        aria-label="Back to the list"
        onClick={() => go({ view: "changes" })}
      >
        <Back />
      </button>
      <div class="grow">
        <h1 class="clip">{task?.agent.client ?? newest?.agent.client}</h1>
        <p class="muted">
          {task ? <TaskFacts shown={shown} /> : newest && <ChangeFacts change={newest} />}{" "}
          <Counts added={difference.added} removed={difference.removed} />
        </p>
      </div>
      <div class="buttons">
        {chosen.path !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => go({ view: "changes", chosen: { kind: chosen.kind, id: chosen.id } })}
          >
            All files
          </button>
        )}
        {chosen.kind === "task" && <UntilNow />}
        <LayoutChoice />
        {may.value.note && newest !== undefined && (
          <button type="button" class="button" onClick={() => startNote({ change: newest.id })}>
            <Comment size={15} /> Note
          </button>
        )}
        {canKeep && (
          <button type="button" class="button" aria-pressed={isKept} onClick={keepAll}>
            <Check size={15} /> {isKept ? "Kept" : "Keep"}
          </button>
        )}
        {canUndo && (
          <button type="button" class="button danger" disabled={isUndoing.value} onClick={undoAll}>
            <Undo size={15} /> Undo {chosen.kind === "task" ? "task" : "change"}
          </button>
        )}
      </div>
    </header>
  );
}

function TaskFacts({ shown: { task } }: { readonly shown: Detail }) {
  if (task === undefined) return null;
  const { from, to, changeCount, fileCount, standing } = task;
  const undone = changeCount - standing;
  return (
    <>
      <time dateTime={new Date(from).toISOString()} title={exactTime(from)}>
        {when(from)}
      </time>
      {to - from > 60_000 && ` to ${when(to)}`} · {counted(changeCount, "change")} in{" "}
      {counted(fileCount, "file")}
      {undone > 0 && ` · ${undone} undone`} ·
    </>
  );
}

function ChangeFacts({
  change: { time, tool, id, state, undoes, undoable },
}: {
  readonly change: ChangeSummary;
}) {
  return (
    <>
      <time dateTime={new Date(time).toISOString()} title={exactTime(time)}>
        {when(time)}
      </time>{" "}
      · {tool} · <code>{id}</code>
      {undoes !== undefined && ` · undoes ${undoes}`}
      {state !== "standing" && ` · ${state === "undone" ? "undone" : "partly undone"}`}
      {!undoable && " · cannot be undone: its contents were too large to keep"} ·
    </>
  );
}

function UntilNow() {
  return (
    <fieldset class="segments plain">
      <legend class="sr">Difference</legend>
      {([false, true] as const).map(value => (
        <button
          key={`${value}`}
          type="button"
          class="button"
          aria-pressed={untilNow.value === value}
          title={
            value
              ? "From the start of the task to the files on disk now, including changes by other programs"
              : "What this task did"
          }
          onClick={() => {
            untilNow.value = value;
          }}
        >
          {value ? "To now" : "This task"}
        </button>
      ))}
    </fieldset>
  );
}

function LayoutChoice() {
  return (
    <fieldset class="segments plain wide-only">
      <legend class="sr">Layout</legend>
      {(["unified", "split"] as const).map(value => (
        <button
          key={value}
          type="button"
          class="button"
          aria-pressed={layout.value === value}
          onClick={() => {
            layout.value = value;
          }}
        >
          {value === "unified" ? "Unified" : "Split"}
        </button>
      ))}
    </fieldset>
  );
}

function Omitted({ file }: { readonly file: FileSummary }) {
  return (
    <section class="file">
      <header data-item tabIndex={-1} ref={item({ open: () => void fetchWhole(file) })}>
        <h3 class="grow">{file.name}</h3>
        <Counts {...file} />
        <button type="button" class="button small" onClick={() => void fetchWhole(file)}>
          Show
        </button>
      </header>
    </section>
  );
}

/** The task, change by change. */
function Steps({ changes }: { readonly changes: readonly ChangeSummary[] }) {
  return (
    <section class="steps" aria-label="Changes of this task">
      <h2>Step by step</h2>
      <ol>
        {changes.slice(0, 200).map(change => (
          <li key={change.id}>
            <a href={`#changes/change/${encodeURIComponent(change.id)}`}>
              <time class="muted">{when(change.time)}</time> <span>{change.tool}</span>{" "}
              <span class="mono clip grow">{change.files.map(({ name }) => name).join(", ")}</span>
              {change.state !== "standing" && <span class="mark">{change.state}</span>}
            </a>
          </li>
        ))}
      </ol>
      {changes.length > 200 && <p class="muted">and {counted(changes.length - 200, "earlier change")}</p>}
    </section>
  );
}
