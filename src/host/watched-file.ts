// A file that the person who starts the program names, and may change while it runs. Asking costs one system
// call, so it is asked each time instead of waiting to be told: a change holds from the next question on.
import { statSync } from "node:fs";
import { Fault } from "../engine/fault.ts";
import { readNamedFile } from "../engine/workspace/system/named-file.ts";

export class WatchedFile {
  readonly path: string;
  #stamp: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** What it holds, if that may have changed since the last time; a file that is gone holds nothing. */
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
