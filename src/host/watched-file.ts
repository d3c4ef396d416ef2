// A file named by the person who starts the program, which may change while it runs. A check costs one system call,
// so it is checked on each use instead of watched: a change takes effect with the next use.
import { statSync } from "node:fs";
import { ifThere } from "../engine/workspace/errno.ts";
import { readNamedFile } from "../engine/workspace/system/named-file.ts";

export class WatchedFile {
  readonly path: string;
  /** Of what was read last. */
  #stamp: string | undefined;
  /** Of what could not be read, and was reported. */
  #failed: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Its content, if it may have changed since the last time; a missing file is empty. Throws once if it cannot be read,
   * and tries again each time.
   */
  changed(): { readonly text: string | undefined } | undefined {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    const stamp =
      stat === undefined ? "gone" : `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    if (stamp === this.#stamp) return undefined;
    try {
      const text = ifThere(() => readNamedFile(this.path));
      this.#stamp = stamp;
      this.#failed = undefined;
      return { text };
    } catch (error) {
      if (this.#failed === stamp) return undefined;
      this.#failed = stamp;
      throw error;
    }
  }
}
