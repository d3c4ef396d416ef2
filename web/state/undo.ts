// Taking back: a hunk or a file at once (it can be undone itself), a task after a look at what would happen. Where
// later edits are in the way, the page shows them and asks.
import { signal } from "@preact/signals";
import type { UndoRequest, UndoResult } from "../../src/review/api.ts";
import { counted } from "../parts/words.ts";
import { announce } from "./announce.ts";
import { refreshDetail } from "./detail.ts";
import { reloadLists } from "./history.ts";
import { messageOf } from "./loadable.ts";
import { post, RequestError } from "./request.ts";

export interface PendingUndo {
  readonly request: UndoRequest;
  /** For people: "this hunk", `src/a.ts`, "the task". */
  readonly what: string;
  readonly result: UndoResult;
}

/** Waits for a decision in a dialog. */
export const pendingUndo = signal<PendingUndo | undefined>(undefined);

/** The changes that the last undo made: undoing these brings everything back. */
export const lastUndo = signal<readonly string[]>([]);

export const isUndoing = signal(false);

/** Shows what an undo would do, and asks. */
export async function previewUndo(request: UndoRequest, what: string): Promise<void> {
  await guarded(async () => {
    const result = await post<UndoResult>("api/undo", { ...request, preview: true });
    pendingUndo.value = { request, what, result };
  });
}

export async function undo(request: UndoRequest, what: string): Promise<void> {
  await guarded(async () => {
    try {
      const { changes, files } = await post<UndoResult>("api/undo", request);
      pendingUndo.value = undefined;
      lastUndo.value = changes;
      announce(
        changes.length === 0
          ? `Nothing left to undo in ${what}`
          : `Undid ${what} (${counted(files.length, "file")})`,
        "good",
      );
      refreshDetail();
      reloadLists();
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 409 || !isResult(error.body)) throw error;
      pendingUndo.value = { request, what, result: error.body };
    }
  });
}

export async function redo(): Promise<void> {
  const changes = lastUndo.value;
  if (changes.length === 0) return;
  await undo({ changes }, "the undo");
}

async function guarded(work: () => Promise<void>): Promise<void> {
  if (isUndoing.value) return;
  isUndoing.value = true;
  try {
    await work();
  } catch (error) {
    announce(messageOf(error), "bad");
  } finally {
    isUndoing.value = false;
  }
}

function isResult(body: unknown): body is UndoResult {
  return typeof body === "object" && body !== null && "collisions" in body;
}
