// Archive files that are written but not flushed. Journals and replaced content stay until they are, so that the
// history of an acknowledged change survives a power cut.
import { constants } from "node:fs";
import { flushAndClose, flushAndCloseLater, sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { forEachConcurrently } from "../system/concurrently.ts";
import { manyFiles, wholeFlush } from "../system/whole-flush.ts";
import { forFlushing, onWindows } from "../windows-path.ts";

export class UnflushedFiles {
  #files = new Set<string>();
  #folders = new Set<string>();
  /** Flushes in progress: the process may end before they do. */
  #flushing = new Set<string>();
  #running: Promise<void> | undefined;
  readonly #state: string;

  constructor(state: string) {
    this.#state = state;
  }

  /** Notes a file that was written, and the directories that name it or each other. */
  add(file: string, folders: readonly string[]): void {
    this.#files.add(file);
    for (const folder of folders) this.#folders.add(folder);
  }

  get size(): number {
    return this.#files.size;
  }

  /** Resolves when everything noted before the call is on disk. Rejects if that fails; the next call tries again. */
  async flush(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {}); // it began before the latest note
    this.#running = this.#flush().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #flush(): Promise<void> {
    const { files, folders } = this.#take();
    this.#flushing = new Set(onWindows ? files : [...files, ...folders]);
    try {
      if (files.size >= manyFiles && (await wholeFlush.later(this.#state))) return;
      for (const paths of onWindows ? [files] : [files, folders])
        await forEachConcurrently([...paths], path => flushAndCloseLater(openToFlush(path)));
    } catch (error) {
      this.#giveBack(files, folders);
      throw error;
    } finally {
      this.#flushing.clear();
    }
  }

  /** The same, blocking: at the end of the process, and in recovery. Throws instead of flushing more than `most`. */
  flushNow(most: number): void {
    const { files, folders } = this.#take();
    try {
      const count = files.size + this.#flushing.size;
      if (count >= manyFiles && wholeFlush.now(this.#state)) return;
      if (count > most) throw new Error("too many files to flush at once");
      for (const path of new Set([...this.#flushing, ...files, ...(onWindows ? [] : folders)]))
        flushAndClose(openToFlush(path));
    } catch (error) {
      this.#giveBack(files, folders);
      throw error;
    }
  }

  #take(): { files: Set<string>; folders: Set<string> } {
    const taken = { files: this.#files, folders: this.#folders };
    this.#files = new Set();
    this.#folders = new Set();
    return taken;
  }

  #giveBack(files: Set<string>, folders: Set<string>): void {
    for (const path of files) this.#files.add(path);
    for (const path of folders) this.#folders.add(path);
  }
}

/** Undefined for what another process has cleared since, and for directories on Windows, which cannot be flushed. */
function openToFlush(path: string): number | undefined {
  try {
    return sys.open(path, forFlushing | constants.O_NOFOLLOW);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || (onWindows && (errno === "EISDIR" || errno === "EPERM" || errno === "EBUSY")))
      return undefined;
    throw error;
  }
}
