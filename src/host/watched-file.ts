// A file named by the person who starts the program, which may change while it runs. A check costs one system call,
// so it is checked on each use instead of watched: a change takes effect with the next use.
import { statSync } from "node:fs";
import { Fault } from "../engine/fault.ts";
import { readNamedFile } from "../engine/workspace/system/named-file.ts";

export class WatchedFile {
  readonly path: string;
  #stamp: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Its content, if it may have changed since the last time; a missing file is empty. */
  changed(): { readonly text: string | undefined } | undefined {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    const stamp =
      stat === undefined ? "gone" : `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    if (stamp === this.#stamp) return undefined;
    this.#stamp = stamp;
    try {
      return { text: readNamedFile(this.path) };
    } catch (error) {
      if (Fault.is(error, "not_found")) return { text: undefined };
      throw error;
    }
  }
}
