// When the contents of the state directory were last gone through, by any process of the user. That takes as long as
// there are contents, so it is not done at each start of a server, and the more there are, the more changes come first.
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Half of the time after which a server clears again: no clearing is passed over for the one before. */
const recentMs = 30 * 60_000;
const fewestChanges = 500;
/** For each object that was found, so many changes come before all are looked at again. */
const changesPerObject = 1 / 4;
/** Of the limit on the disk space: what a process may add before. */
const share = 1 / 16;

export class Collection {
  readonly #path: string;
  readonly #maxBytes: number;
  /** What this process has added since. */
  #changes = 0;
  #bytes = 0;
  /** The same when clearing was last asked for: if that fails, it is not tried again with each change. */
  #asked = { changes: 0, bytes: 0 };

  constructor(state: string, maxBytes: number) {
    this.#path = join(state, "collected");
    this.#maxBytes = maxBytes;
  }

  /** Notes a change with so many bytes of content. Whether to clear now. */
  add(bytes: number): boolean {
    this.#bytes += bytes;
    this.#changes++;
    const { changes, bytes: before } = this.#asked;
    if (this.#changes - changes < fewestChanges && this.#bytes - before <= this.#mostBytes) return false;
    this.#asked = { changes: this.#changes, bytes: this.#bytes };
    return true;
  }

  /** Whether contents are to be gone through. */
  get isDue(): boolean {
    const last = this.#last();
    if (last === undefined || this.#isLarge) return true;
    const age = Date.now() - last.time;
    const most = Math.max(fewestChanges, last.objects * changesPerObject);
    return age < 0 || age > recentMs || this.#changes >= most;
  }

  /** Notes that it was done, and how many objects there were. */
  note(objects: number): void {
    this.#changes = 0;
    this.#bytes = 0;
    this.#asked = { changes: 0, bytes: 0 };
    try {
      const temporary = `${this.#path}.${process.pid}`;
      writeFileSync(temporary, `${objects}\n`, { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch {
      // The next process does it again.
    }
  }

  get #isLarge(): boolean {
    return this.#bytes > this.#mostBytes;
  }

  get #mostBytes(): number {
    return this.#maxBytes * share;
  }

  #last(): { readonly time: number; readonly objects: number } | undefined {
    try {
      return { time: statSync(this.#path).mtimeMs, objects: Number(readFileSync(this.#path, "utf8")) || 0 };
    } catch {
      return undefined;
    }
  }
}
