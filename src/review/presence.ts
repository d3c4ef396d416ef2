// A file in the state directory for as long as a page of this process is open: a server that has a question
// then waits a moment for the page to connect, and does not wait where there is none.
import { randomBytes } from "node:crypto";
import { atExit, cancelAtExit } from "../engine/at-exit.ts";
import { isRunning } from "../host/running-process.ts";
import { StateFolder } from "../host/state-folder.ts";
import { folders } from "./wire.ts";

export class Presence implements Disposable {
  readonly #folder: StateFolder | undefined;
  readonly #name = `${process.pid}-${randomBytes(4).toString("hex")}`;
  #attended = false;

  constructor(state: string | undefined) {
    this.#folder = StateFolder.make(state, ...folders.pages);
    atExit(this.#leave);
  }

  set attended(attended: boolean) {
    if (attended === this.#attended) return;
    this.#attended = attended;
    if (attended) this.#folder?.write(this.#name, "");
    else this.#folder?.clear(this.#name);
  }

  readonly #leave = () => {
    this.attended = false;
  };

  [Symbol.dispose](): void {
    cancelAtExit(this.#leave);
    this.#leave();
  }
}

/** Whether a page is open. Files of processes that were killed are removed. */
export function hasOpenPage(folder: StateFolder): boolean {
  return folder.names().some(name => {
    const pid = Number.parseInt(name, 10);
    if (isRunning(pid)) return true;
    folder.clear(name);
    return false;
  });
}
