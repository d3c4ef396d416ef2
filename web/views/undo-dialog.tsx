// The preview of an undo, and the later edits that conflict with it.
import type { Collision, RestoredFile } from "../../src/review/api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { HunkLines } from "../parts/diff.tsx";
import { counted, when } from "../parts/words.ts";
import { isUndoing, type PendingUndo, pendingUndo, previewUndo, undo } from "../state/undo.ts";

const most = 50;

export function UndoDialog() {
  const pending = pendingUndo.value;
  return pending === undefined ? null : <Asked key={pending.what} {...pending} />;
}

function Asked({ request, what, result }: PendingUndo) {
  const { files, collisions } = result;
  const isBlocked = collisions.length > 0;
  const later = [
    ...new Map(collisions.flatMap(one => one.later).map(change => [change.id, change])).values(),
  ];
  const ids = [
    ...later.map(({ id }) => id),
    ...(request.changes ?? (request.change ? [request.change] : [])),
  ];
  const canTakeAll = later.length > 0 && request.hunks === undefined && ids.length > later.length;
  const close = () => {
    pendingUndo.value = undefined;
  };
  return (
    <Dialog title={isBlocked ? `Later edits conflict with undoing ${what}` : `Undo ${what}?`} onClose={close}>
      {isBlocked ? (
        <>
          <p>
            Nothing was changed. These places were edited again since, so undoing the change would lose that
            work.
          </p>
          <ul class="plain-list">
            {collisions.slice(0, most).map(collision => (
              <InTheWay key={collision.path} collision={collision} />
            ))}
          </ul>
        </>
      ) : (
        <>
          <p class="muted">
            {files.length === 0
              ? "Nothing left to undo: the files are as they were before."
              : `This changes ${counted(files.length, "file")}. It is recorded as a change of its own and can be undone.`}
          </p>
          {files.slice(0, most).map(file => (
            <Preview key={file.path} file={file} />
          ))}
          {files.length > most && <p class="muted">and {counted(files.length - most, "more file")}</p>}
        </>
      )}
      <div class="buttons">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        {!isBlocked && files.length > 0 && (
          <button
            type="button"
            class="button primary"
            disabled={isUndoing.value}
            onClick={() => void undo(request, what)}
          >
            Undo {what}
          </button>
        )}
        {isBlocked && canTakeAll && (
          <button
            type="button"
            class="button"
            disabled={isUndoing.value}
            onClick={() =>
              void previewUndo(
                { changes: ids, ...(request.path && { path: request.path }) },
                `${what} and what came after it`,
              )
            }
          >
            Preview with {counted(later.length, "later change")}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function InTheWay({ collision: { name, why, current = [], later } }: { readonly collision: Collision }) {
  return (
    <li class="card in-the-way">
      <p>
        <code>{name}</code> <span class="muted">{why}</span>
      </p>
      {current.length > 0 && (
        <table class="diff unified">
          <tbody>
            {current.map(({ line, text }) => (
              <tr key={line}>
                <td class="num">{line}</td>
                <td class="code">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {later.length > 0 && (
        <p class="muted">
          Edited later by{" "}
          {later
            .map(({ id, agent, tool, time }) => `${agent.client} (${tool}, ${when(time)}, ${id})`)
            .join("; ")}
        </p>
      )}
    </li>
  );
}

function Preview({ file: { name, did, hunks, about } }: { readonly file: RestoredFile }) {
  return (
    <section class="file" aria-label={name}>
      <header>
        <h3 class="grow">{name}</h3>
        <span class="effect">{did}</span>
      </header>
      {hunks.map(hunk => (
        <div class="hunk" key={hunk.text}>
          <HunkLines hunk={hunk} />
        </div>
      ))}
      {hunks.length === 0 && about !== undefined && <p class="about">{about}</p>}
    </section>
  );
}
