// Tasks: changes that belong together. The changes of one trace are a task, whichever connections it ran over; else
// those of one connection without a long pause.
import type { ChangeEntry } from "./change-entry.ts";

/** A longer pause begins a new task. */
const pauseMs = 30 * 60_000;

interface TaskGroup {
  readonly id: string;
  readonly changes: string[];
  last: number;
}

export class TaskGroups {
  readonly #latest = new Map<string, TaskGroup>();
  readonly #tasks = new Map<string, TaskGroup>();
  readonly #byChange = new Map<string, TaskGroup>();

  /** Changes come in the order of time. */
  add({ id, time, trace, client, connection = "" }: ChangeEntry): void {
    const key = trace ?? `${client}\0${connection}`;
    let task = this.#latest.get(key);
    if (task === undefined || (trace === undefined && time - task.last > pauseMs)) {
      task = { id, changes: [], last: time };
      this.#latest.set(key, task);
      this.#tasks.set(id, task);
    }
    task.changes.push(id);
    task.last = time;
    this.#byChange.set(id, task);
  }

  taskOf(change: string): string | undefined {
    return this.#byChange.get(change)?.id;
  }

  /** Oldest first. */
  changesOf(task: string): readonly string[] {
    return this.#tasks.get(task)?.changes ?? [];
  }
}
