// Which files have their contents in the history already: a command that runs in a large tree then reads only the files
// that changed since the last one.
import { clock } from "../../clock.ts";
import { type Objects, touchMs } from "./objects.ts";

const mostFiles = 100_000;

interface KeptFile {
  readonly hash: string;
  /** When its object was last known to be there. */
  checked: number;
}

export class KeptFiles {
  readonly #objects: Objects;
  /** By the identity and the times of the file. */
  readonly #files = new Map<string, KeptFile>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** The hash of the contents; undefined if they have to be kept, maybe again: other processes remove objects, too. */
  hash(state: string): string | undefined {
    const file = this.#files.get(state);
    if (file === undefined) return undefined;
    if (clock() - file.checked > touchMs) {
      if (!this.#objects.has(file.hash)) {
        this.#files.delete(state);
        return undefined;
      }
      file.checked = clock();
    }
    return file.hash;
  }

  add(state: string, hash: string): void {
    if (this.#files.size >= mostFiles) this.#files.clear();
    this.#files.set(state, { hash, checked: clock() });
  }
}
