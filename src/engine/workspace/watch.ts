// Reports changes of files by any program. Polls only the requested paths: that works on every file system,
// needs no handle per file, and follows no name out of a root.
import { Fault } from "../fault.ts";
import type { WorkspacePath } from "./path.ts";
import type { Workspace } from "./workspace.ts";

const intervalMs = 500;

interface Watched {
  readonly path: WorkspacePath;
  state: string;
}

export class Watch implements Disposable {
  readonly #workspace: Workspace;
  readonly #changed: (key: string) => void;
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** `changed` gets the key of a path whose content, mode or existence changed. */
  constructor(workspace: Workspace, changed: (key: string) => void) {
    this.#workspace = workspace;
    this.#changed = changed;
  }

  get size(): number {
    return this.#watched.size;
  }

  add(key: string, path: WorkspacePath): void {
    this.#watched.set(key, { path, state: this.#stateOf(path) });
    this.#timer ??= setInterval(() => this.#look(), intervalMs).unref();
  }

  delete(key: string): void {
    this.#watched.delete(key);
    if (this.#watched.size === 0) this[Symbol.dispose]();
  }

  #look(): void {
    for (const [key, watched] of this.#watched) {
      const state = this.#stateOf(watched.path);
      if (state === watched.state) continue;
      watched.state = state;
      this.#changed(key);
    }
  }

  #stateOf(path: WorkspacePath): string {
    try {
      return this.#workspace.stamp(path);
    } catch (error) {
      if (error instanceof Fault) return error.code;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watched.clear();
  }
}
