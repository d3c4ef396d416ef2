// A folder of the program's own in the state directory: small files that several processes of one user read and
// write. A file comes into place by a rename, so a reader sees the old text or the new one.
import {
  appendFileSync,
  existsSync,
  type FSWatcher,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
} from "node:fs";
import { join } from "node:path";
import { Fault } from "../engine/fault.ts";
import { makeDirectory } from "../engine/workspace/commit/state.ts";
import { statePath } from "../engine/workspace/commit/state-path.ts";
import { writeNamedFile } from "../engine/workspace/system/named-file.ts";

const pollMs = 1000;

export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Whether it is there or not; nothing is made. */
  static at(state: string | undefined, ...names: readonly string[]): StateFolder {
    return new StateFolder(join(statePath(state), ...names));
  }

  /** Makes the folder. Undefined if the state directory is not there yet, or cannot be written. */
  static existing(state: string | undefined, ...names: readonly string[]): StateFolder | undefined {
    const path = statePath(state);
    return existsSync(path) ? StateFolder.make(state, ...names) : undefined;
  }

  /** Makes the folder and the state directory. Undefined if they cannot be made. */
  static make(state: string | undefined, ...names: readonly string[]): StateFolder | undefined {
    const path = join(statePath(state), ...names);
    try {
      makeDirectory(path);
      return new StateFolder(path);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  /** Changes when files come or go. Undefined if the folder is not there. */
  stamp(): string | undefined {
    try {
      const { ino, mtimeNs } = statSync(this.path, { bigint: true });
      return `${ino} ${mtimeNs}`;
    } catch {
      return undefined; // also where the state directory cannot be used: no call fails for it
    }
  }

  /** Whether the last change is so long ago that another one would have another stamp. */
  isSettled(): boolean {
    try {
      return Date.now() - statSync(this.path).mtimeMs > 100;
    } catch {
      return true;
    }
  }

  names(): string[] {
    try {
      return readdirSync(this.path);
    } catch {
      return [];
    }
  }

  read(name: string): string | undefined {
    try {
      return readFileSync(join(this.path, name), "utf8");
    } catch {
      return undefined;
    }
  }

  /** What a file holds as JSON; undefined if it is missing or damaged. */
  readJson(name: string): unknown {
    try {
      const text = this.read(name);
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  write(name: string, text: string): void {
    writeNamedFile(join(this.path, name), text);
  }

  append(name: string, text: string): void {
    appendFileSync(join(this.path, name), text, { mode: 0o600 });
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { force: true });
  }

  /** Removes a file that is no longer needed, if it can: a disk that fails or turned read-only stops no server. */
  clear(name: string): void {
    try {
      this.remove(name);
    } catch {
      // Readers check whether its process lives.
    }
  }

  /**
   * Calls `changed` with the names of files that come, change or go, and with undefined if any of them may have.
   * Where the system sends no events, it is checked every second.
   */
  watch(changed: (name: string | undefined) => void): Disposable {
    let watcher: FSWatcher | undefined;
    const begin = () => {
      try {
        watcher = watch(this.path, (_, name) => changed(name ?? undefined));
        watcher.on("error", () => {
          watcher?.close();
          watcher = undefined;
        });
      } catch {
        watcher = undefined;
      }
    };
    begin();
    const timer = setInterval(() => {
      if (watcher === undefined) {
        begin();
        changed(undefined);
      }
    }, pollMs).unref();
    return {
      [Symbol.dispose]() {
        clearInterval(timer);
        watcher?.close();
      },
    };
  }
}
