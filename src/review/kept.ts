// Which changes a person has marked as kept: a log in the state directory, which every page appends to.
import type { StateFolder } from "../host/state-folder.ts";
import type { Kept } from "./api.ts";

const file = "kept.jsonl";
/** Above this the log is written anew, without what is superseded or about changes that are gone. */
const maxBytes = 1024 * 1024;

export class KeptMarks {
  readonly #folder: StateFolder | undefined;
  /** By change: whole, or some paths of it. */
  readonly #marks = new Map<string, "whole" | Set<string>>();
  #text = "";

  constructor(folder: StateFolder | undefined) {
    this.#folder = folder;
  }

  /** Reads what other pages have added. `isKnown` says whether a change is still there. */
  refresh(isKnown: (change: string) => boolean): void {
    const text = this.#folder?.read(file) ?? "";
    if (text === this.#text) return;
    this.#text = text;
    this.#marks.clear();
    for (const line of text.split("\n")) {
      try {
        if (line !== "") this.#apply(JSON.parse(line) as Kept);
      } catch {
        // A line that a power cut has damaged.
      }
    }
    if (text.length > maxBytes) this.#compact(isKnown);
  }

  isKept(change: string): boolean {
    return this.#marks.get(change) === "whole";
  }

  pathsOf(change: string): readonly string[] {
    const mark = this.#marks.get(change);
    return mark === undefined || mark === "whole" ? [] : [...mark];
  }

  mark(kept: Kept): void {
    this.#folder?.append(file, `${JSON.stringify(kept)}\n`);
    this.#apply(kept);
  }

  #apply({ changes, path, kept }: Kept): void {
    for (const change of changes) {
      const known = this.#marks.get(change);
      if (path === undefined) {
        if (kept) this.#marks.set(change, "whole");
        else this.#marks.delete(change);
      } else if (known !== "whole") {
        const paths = known ?? new Set<string>();
        if (kept) paths.add(path);
        else paths.delete(path);
        this.#marks.set(change, paths);
      } else if (!kept) this.#marks.delete(change);
    }
  }

  #compact(isKnown: (change: string) => boolean): void {
    const lines: Kept[] = [];
    for (const [change, mark] of this.#marks) {
      if (!isKnown(change)) continue;
      if (mark === "whole") lines.push({ changes: [change], kept: true });
      else for (const path of mark) lines.push({ changes: [change], path, kept: true });
    }
    this.#text = lines.map(line => `${JSON.stringify(line)}\n`).join("");
    this.#folder?.write(file, this.#text);
  }
}
