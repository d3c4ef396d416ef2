// The lists of tasks, changes and search results, and the selection in them.
import { effect, signal, untracked } from "@preact/signals";
import type {
  ChangeList,
  ChangeSummary,
  Hit,
  Kept,
  SearchResult,
  TaskList,
  TaskSummary,
} from "../../src/review/api.ts";
import { filters, matches, parameters, searchText } from "./filters.ts";
import { Pages } from "./pages.ts";
import { get, query } from "./request.ts";

export type Grouping = "tasks" | "changes";

export const grouping = signal<Grouping>("tasks");

/** Tasks whose files are listed. */
export const expanded = signal<ReadonlySet<string>>(new Set());

export const tasks = new Pages<TaskSummary>(async (before, signal) => {
  const answer = await get<TaskList>(`api/tasks${query({ ...parameters(), before, limit: 40 })}`, signal);
  return { items: answer.tasks, next: answer.next };
});

export const changes = new Pages<ChangeSummary>(async (before, signal) => {
  const answer = await get<ChangeList>(
    `api/changes${query({ ...parameters(), before, limit: 500 })}`,
    signal,
  );
  return { items: answer.changes, next: answer.next };
});

export interface FoundPlace extends Hit {
  readonly id: string;
}

/** Whether the search stopped early; there may be more further back. */
export const isPartial = signal(false);

export const found = new Pages<FoundPlace>(async (before, signal) => {
  const wanted = { ...parameters(), text: searchText.value.trim(), before, limit: 200 };
  const { hits, next, partial } = await get<SearchResult>(`api/search${query(wanted)}`, signal);
  isPartial.value = partial;
  const items = hits.map(hit => ({
    ...hit,
    id: `${hit.change}|${hit.path}|${hit.side}|${hit.line}|${hit.start}`,
  }));
  return { items, next };
});

/** Loads the current list, now and whenever the filters change. */
export function followFilters(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  effect(() => {
    const isSearch = searchText.value.trim() !== "";
    const list = isSearch ? found : grouping.value === "tasks" ? tasks : changes;
    filters.value; // a new value of any of them reloads the list
    clearTimeout(timer);
    timer = setTimeout(() => untracked(() => void list.reload()), first ? 0 : 150);
    first = false;
  });
}

export function reloadLists(): void {
  void (grouping.value === "tasks" ? tasks : changes).reload({ keep: true });
}

let refresh: ReturnType<typeof setTimeout> | undefined;
const touchedTasks = new Set<string>();
/** A busy agent makes many changes; their sums may come a little later than they do. */
const refreshMs = 1_500;

async function refreshTasks(): Promise<void> {
  const touched = [...touchedTasks];
  touchedTasks.clear();
  refresh = undefined;
  for (const task of touched) {
    const answer = await get<TaskList>(`api/tasks${query({ ...parameters(), task, limit: 1 })}`).catch(
      () => undefined,
    );
    const [summary] = answer?.tasks ?? [];
    if (summary !== undefined) tasks.update(known => (known.id === task ? summary : known));
  }
}

/** A change was made: it is put into the lists at once, and the server's sums follow. */
export function addChange(change: ChangeSummary): void {
  if (!matches(change)) return;
  changes.put(change);
  const known = tasks.items.find(({ id }) => id === change.task);
  tasks.promote(known === undefined ? taskOf(change) : grown(known, change));
  touchedTasks.add(change.task);
  if (refresh === undefined) refresh = setTimeout(refreshTasks, refreshMs);
}

export function markKept({ changes: ids, path, kept }: Kept): void {
  const marked = new Set(ids);
  changes.update(change => {
    if (!marked.has(change.id)) return change;
    if (path === undefined) return { ...change, kept };
    const others = (change.keptPaths ?? []).filter(one => one !== path);
    return { ...change, keptPaths: kept ? [...others, path] : others };
  });
  tasks.update(task => {
    if (path !== undefined || !task.changes.every(id => marked.has(id))) return task;
    return { ...task, kept };
  });
}

function taskOf(change: ChangeSummary): TaskSummary {
  const { task: id, agent, time, files, fileCount, notes } = change;
  return {
    id,
    agent,
    from: time,
    to: time,
    changes: [change.id],
    changeCount: 1,
    files,
    fileCount,
    standing: 1,
    kept: false,
    notes,
  };
}

function grown(task: TaskSummary, change: ChangeSummary): TaskSummary {
  if (task.changes.includes(change.id)) return task;
  const known = new Set(task.files.map(({ path }) => path));
  const others = change.files.filter(({ path }) => !known.has(path));
  return {
    ...task,
    to: Math.max(task.to, change.time),
    changes: [change.id, ...task.changes],
    changeCount: task.changeCount + 1,
    files: [...task.files, ...others].slice(0, 20),
    fileCount: task.fileCount + others.length,
    standing: task.standing + 1,
    kept: false,
  };
}
