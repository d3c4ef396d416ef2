// A file named by the person who starts the program, which may change while it runs. A check costs one system call,
// so it is checked on each use instead of watched: a change takes effect with the next use.
import { statSync } from "node:fs";
import { ifThere } from "../engine/workspace/errno.ts";
import { readRegularFile } from "../engine/workspace/system/named-file.ts";

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
    let stamp = "unknown";
    try {
      stamp = stampOf(this.path);
      if (stamp === this.#stamp) return undefined;
      const text = ifThere(() => readRegularFile(this.path));
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

function stampOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return "gone";
  return `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
