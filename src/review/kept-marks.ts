// Which changes, files and hunks a person has marked as kept: a log in the state directory, which every page appends to.
import type { StateFolder } from "../host/state-folder.ts";
import type { Kept } from "./api.ts";

export const keptFile = "kept.jsonl";
/** Above this the log is rewritten without superseded marks and without marks on changes that are gone. */
const maxBytes = 1024 * 1024;
/** The oldest are dropped. */
const mostHunks = 10_000;

export class KeptMarks {
  readonly #folder: StateFolder | undefined;
  /** By change: whole, or some paths of it. */
  readonly #marks = new Map<string, "whole" | Set<string>>();
  /** By id of the hunk: what it belongs to. */
  readonly #hunks = new Map<string, Pick<Kept, "changes" | "path">>();
  #text = "";

  constructor(folder: StateFolder | undefined) {
    this.#folder = folder;
  }

  /** Reads the marks that other processes have added, and returns them. `isKnown` says whether a change still exists. */
  refresh(isKnown: (change: string) => boolean): readonly Kept[] {
    const text = this.#folder?.read(keptFile) ?? "";
    if (text === this.#text) return [];
    const isLonger = text.startsWith(this.#text);
    if (!isLonger) {
      this.#marks.clear();
      this.#hunks.clear();
    }
    const added = marksIn(isLonger ? text.slice(this.#text.length) : text);
    for (const mark of added) this.#apply(mark);
    this.#text = text;
    if (text.length > maxBytes) this.#compact(isKnown);
    return added;
  }

  isKept(change: string): boolean {
    return this.#marks.get(change) === "whole";
  }

  pathsOf(change: string): readonly string[] {
    const mark = this.#marks.get(change);
    return mark === undefined || mark === "whole" ? [] : [...mark];
  }

  isHunkKept(id: string): boolean {
    return this.#hunks.has(id);
  }

  mark(kept: Kept): void {
    const line = `${JSON.stringify(kept)}\n`;
    this.#folder?.append(keptFile, line);
    this.#text += line;
    this.#apply(kept);
  }

  #apply({ changes, path, hunks, kept }: Kept): void {
    if (hunks !== undefined) this.#applyHunks({ changes, ...(path !== undefined && { path }), hunks, kept });
    else for (const change of changes) this.#applyTo(change, path, kept);
  }

  #applyTo(change: string, path: string | undefined, kept: boolean): void {
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

  #applyHunks({ changes, path, hunks = [], kept }: Kept): void {
    for (const id of hunks) {
      this.#hunks.delete(id);
      if (kept) this.#hunks.set(id, { changes, ...(path !== undefined && { path }) });
    }
    for (const oldest of this.#hunks.keys()) {
      if (this.#hunks.size <= mostHunks) break;
      this.#hunks.delete(oldest);
    }
  }

  #compact(isKnown: (change: string) => boolean): void {
    const lines: Kept[] = [];
    for (const [change, mark] of this.#marks) {
      if (!isKnown(change)) continue;
      if (mark === "whole") lines.push({ changes: [change], kept: true });
      else for (const path of mark) lines.push({ changes: [change], path, kept: true });
    }
    for (const [id, { changes, path }] of this.#hunks)
      if (changes.some(isKnown))
        lines.push({ changes, ...(path !== undefined && { path }), hunks: [id], kept: true });
    this.#text = lines.map(line => `${JSON.stringify(line)}\n`).join("");
    this.#folder?.write(keptFile, this.#text);
  }
}

/** Skips lines that a power cut has damaged. */
function marksIn(text: string): Kept[] {
  const marks: Kept[] = [];
  for (const line of text.split("\n")) {
    try {
      const mark = line === "" ? undefined : (JSON.parse(line) as Kept);
      if (Array.isArray(mark?.changes)) marks.push(mark);
    } catch {}
  }
  return marks;
}
