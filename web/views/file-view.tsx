// One file of a difference: its hunks, each with keep, undo and note.
import { useMemo } from "preact/hooks";
import type { FileDifference, Hunk, KeepRequest } from "../../src/review/api.ts";
import { type DiffPlace, HunkLines, type LineTools } from "../parts/diff.tsx";
import { linesOf } from "../parts/diff-lines.ts";
import { Check, Comment, Undo } from "../parts/icons.tsx";
import { type Detail, fetchWhole, untilNow } from "../state/detail.ts";
import { item } from "../state/items.ts";
import { keep } from "../state/keep.ts";
import { isEmbedded, may } from "../state/session.ts";
import { isUndoing, undo } from "../state/undo.ts";
import { Counts } from "./change-rows.tsx";
import { LineNotes, startNote } from "./note-form.tsx";

interface Props {
  readonly file: FileDifference;
  readonly shown: Detail;
}

export function FileView({ file, shown }: Props) {
  const { name, from, effect, shows, about, hunks, more, path } = file;
  const isKept = file.kept === true;
  const { canUndo, undoIt } = undoOf(shown, { path }, name);
  const keepIt = () => void keep({ ...keepable(shown), path, kept: !isKept }, name);
  const canKeep = !isEmbedded.value;
  return (
    <section class={`file${isKept ? " kept" : ""}`} aria-label={name}>
      <header
        data-item
        tabIndex={-1}
        ref={item({ undo: canUndo ? undoIt : undefined, keep: canKeep ? keepIt : undefined })}
      >
        {effect !== "changed" && <span class={`effect ${effect}`}>{effect}</span>}
        <h3 class="grow">
          {from !== undefined && <span class="muted">{from} → </span>}
          {name}
        </h3>
        <Counts {...file} />
        {canKeep && (
          <button
            type="button"
            class="button small"
            aria-pressed={isKept}
            aria-label={`${isKept ? "Kept" : "Keep"} ${name}`}
            onClick={keepIt}
          >
            <Check size={14} /> {isKept ? "Kept" : "Keep"}
          </button>
        )}
        {canUndo && (
          <button
            type="button"
            class="button small danger"
            disabled={isUndoing.value}
            aria-label={`Undo ${name}`}
            onClick={undoIt}
          >
            <Undo size={14} /> Undo
          </button>
        )}
      </header>
      {!isKept &&
        hunks.map(hunk => <HunkView key={hunk.id ?? hunk.text} hunk={hunk} file={file} shown={shown} />)}
      {!isKept && hunks.length === 0 && <p class="about">{about ?? nothingToShow[shows]}</p>}
      {!isKept && more && (
        <button type="button" class="button quiet small more" onClick={() => void fetchWhole(file)}>
          Show the whole file
        </button>
      )}
    </section>
  );
}

const nothingToShow = {
  text: "no lines differ",
  masked: "the policy hides what is in it",
  binary: "binary",
  large: "too large to show",
  unkept: "its contents were not kept",
  moved: "moved as it was",
  entry: "not a file",
} as const;

function HunkView({ hunk, file, shown }: Props & { readonly hunk: Hunk }) {
  const { path, name } = file;
  const { number, id, kept: isKept = false } = hunk;
  const { head, lines } = useMemo(() => linesOf(hunk), [hunk]);
  const { canUndo, undoIt } = undoOf(
    shown,
    { path, hunks: number === undefined ? [] : [number] },
    `a hunk of ${name}`,
  );
  const change = changeOf(shown, path);
  const first = lines.find(({ sign }) => sign === "+" || sign === "-");
  const place: DiffPlace | undefined =
    first &&
    (first.new === undefined ? { side: "old", line: first.old ?? 1 } : { side: "new", line: first.new });
  const noteIt =
    may.value.note && change !== undefined && place !== undefined
      ? () => startNote({ change, path, name, ...place })
      : undefined;
  const keepIt =
    id === undefined || isEmbedded.value
      ? undefined
      : () => void keep({ ...keepable(shown), path, hunks: [id], kept: !isKept }, `a hunk of ${name}`);
  const tools: LineTools = {
    onNote: noteIt && change ? at => startNote({ change, path, name, ...at }) : undefined,
    below: at => LineNotes({ shown, path, at }),
    isMarked: ({ side, line }) =>
      shown.chosen.path === path && shown.chosen.line === line && shown.chosen.side === side,
  };
  const lineWords = head.replace(
    /^@@ -(\S+) \+(\d+)(?:,(\d+))? @@.*$/,
    (_, _old, start: string, count = "1") => {
      const end = Number(start) + Number(count) - 1;
      return end > Number(start) ? `Lines ${start} to ${end}` : `Line ${start}`;
    },
  );
  return (
    <section
      class={`hunk${isKept ? " kept" : ""}`}
      data-item
      tabIndex={-1}
      aria-label={`${name}, ${lineWords}`}
      ref={item({ undo: canUndo && number !== undefined ? undoIt : undefined, keep: keepIt, note: noteIt })}
    >
      <header>
        <span class="grow">
          {lineWords}
          {isKept && " · kept"}
        </span>
        {noteIt && (
          <button
            type="button"
            class="button quiet small"
            aria-label={`Note on ${lineWords} of ${name}`}
            onClick={noteIt}
          >
            <Comment size={14} /> Note
          </button>
        )}
        {keepIt && (
          <button
            type="button"
            class="button quiet small"
            aria-pressed={isKept}
            aria-label={`${isKept ? "Show again" : "Keep"}: ${lineWords} of ${name}`}
            onClick={keepIt}
          >
            <Check size={14} /> {isKept ? "Show" : "Keep"}
          </button>
        )}
        {canUndo && number !== undefined && (
          <button
            type="button"
            class="button quiet small danger"
            disabled={isUndoing.value}
            aria-label={`Undo ${lineWords} of ${name}`}
            onClick={undoIt}
          >
            <Undo size={14} /> Undo
          </button>
        )}
      </header>
      {!isKept && <HunkLines hunk={hunk} tools={tools} />}
    </section>
  );
}

interface Part {
  readonly path: string;
  readonly hunks?: readonly number[];
}

/** What undo means for a part of the view. A difference to now includes other people's edits, so no part of it can be undone. */
function undoOf({ chosen, task, changes }: Detail, part: Part, what: string) {
  const [newest] = changes;
  const isDone = task ? task.standing === 0 : newest?.state === "undone" || newest?.undoable === false;
  const canUndo = may.value.undo && !isDone && !(chosen.kind === "task" && untilNow.value);
  const request = chosen.kind === "task" ? { task: chosen.id, ...part } : { change: chosen.id, ...part };
  return { canUndo, undoIt: () => void undo(request, what) };
}

/** The newest visible change that touched the file: notes belong to a change. */
function changeOf({ changes }: Detail, path: string): string | undefined {
  return (changes.find(({ files }) => files.some(file => file.path === path)) ?? changes[0])?.id;
}

/** Whose mark a mark on a file or a hunk is. */
function keepable({ chosen: { kind, id } }: Detail): Pick<KeepRequest, "task" | "changes"> {
  return kind === "task" ? { task: id } : { changes: [id] };
}
