// The selected task or change, with its differences.
import { effect, signal } from "@preact/signals";
import type {
  ChangeDetail,
  ChangeSummary,
  Difference,
  FileDifference,
  Kept,
  Note,
  TaskDetail,
  TaskSummary,
} from "../../src/review/api.ts";
import { Loaded } from "./loadable.ts";
import { get, query } from "./request.ts";
import { type ChosenDetail, route } from "./route.ts";

/** A task's detail and a change's, in one shape. */
export interface Detail {
  readonly chosen: ChosenDetail;
  readonly task?: TaskSummary;
  /** The changes that it is made of, newest first. */
  readonly changes: readonly ChangeSummary[];
  readonly difference: Difference;
  readonly notes: readonly Note[];
}

export const detail = new Loaded<Detail>();

/** From the start of the task to the files on disk, including changes by others. */
export const untilNow = signal(false);

export function followChosen(): void {
  let last: string | undefined;
  effect(() => {
    const { chosen } = route.value;
    if (chosen === undefined) {
      last = undefined;
      return;
    }
    const key = `${chosen.kind} ${chosen.id} ${chosen.path ?? ""} ${untilNow.value}`;
    if (key === last) return;
    last = key;
    void detail.load(signal => fetchDetail(chosen, untilNow.value, signal));
  });
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Fetches the view again, soon: several changes in a row cause one fetch. */
export function refreshDetail(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const { chosen } = route.value;
    if (chosen !== undefined)
      void detail.load(signal => fetchDetail(chosen, untilNow.value, signal), { keep: true });
  }, 120);
}

/** A change was made: the task that it belongs to, and a difference to now, are shown anew. */
export function touched({ task, undoes, files }: ChangeSummary): void {
  const shown = detail.value;
  if (shown === undefined) return;
  const ids = new Set(shown.changes.map(({ id }) => id));
  const paths = new Set(shown.difference.files.map(({ path }) => path));
  const isRelated =
    shown.task?.id === task ||
    (undoes !== undefined && ids.has(undoes)) ||
    (untilNow.value && files.some(({ path }) => paths.has(path)));
  if (isRelated) refreshDetail();
}

/** Marks visible hunks as kept, or no longer kept. */
export function markHunks({ hunks = [], kept }: Kept): void {
  const shown = detail.value;
  if (shown === undefined) return;
  const files = shown.difference.files.map(file => ({
    ...file,
    hunks: file.hunks.map(hunk =>
      hunk.id !== undefined && hunks.includes(hunk.id) ? { ...hunk, kept } : hunk,
    ),
  }));
  detail.value = { ...shown, difference: { ...shown.difference, files } };
}

/** A file in full, put in the place of its shortened form. */
export async function fetchWhole({ path }: Pick<FileDifference, "path">): Promise<void> {
  const shown = detail.value;
  if (shown === undefined) return;
  const { difference } = await fetchDetail({ ...shown.chosen, path }, untilNow.value);
  const whole = difference.files.find(file => file.path === path);
  if (whole === undefined || detail.value !== shown) return;
  const { files, omitted } = shown.difference;
  const known = files.some(file => file.path === path);
  detail.value = {
    ...shown,
    difference: {
      ...shown.difference,
      files: known ? files.map(file => (file.path === path ? whole : file)) : [...files, whole],
      omitted: omitted.filter(file => file.path !== path),
    },
  };
}

async function fetchDetail(chosen: ChosenDetail, now: boolean, signal?: AbortSignal): Promise<Detail> {
  const { kind, id, path: file } = chosen;
  const place = encodeURIComponent(id);
  if (kind === "task") {
    const wanted = query({ until: now ? "now" : undefined, file });
    const answer = await get<TaskDetail>(`api/tasks/${place}${wanted}`, signal);
    return { ...answer, chosen };
  }
  const { change, ...rest } = await get<ChangeDetail>(`api/changes/${place}${query({ file })}`, signal);
  return { ...rest, changes: [change], chosen };
}
