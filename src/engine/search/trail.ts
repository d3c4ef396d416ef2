// From a path that a child process reported back to the file itself, without trusting the path: name by name
// from the held start, following nothing. Paths come in order, so the directories of the last one are kept.
import { Fault } from "../fault.ts";
import { type Directory, entryNamed } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import type { IgnoreRules } from "./ignore.ts";

interface Stage {
  readonly bytes: Buffer;
  readonly directory: Directory;
  /** The path from the root, with a final slash. */
  readonly path: string;
  readonly rules: IgnoreRules;
  /** Whether the rules let it in. */
  readonly admitted: boolean;
}

export class Trail implements Disposable {
  readonly #stages: Stage[] = [];
  readonly #start: Stage;

  /** With `rules`, those hold at the start, and what they and the ignore files below leave out is not given. */
  constructor(start: Directory, prefix: string, rules: IgnoreRules) {
    const own = rules.isEmpty ? rules : rules.in(start, prefix.slice(0, -1), start.entries());
    this.#start = { bytes: Buffer.alloc(0), directory: start, path: prefix, rules: own, admitted: true };
  }

  /** The file at `path`, open; undefined where it is gone, is no file any more, or is left out by the rules. */
  open(path: Buffer): OpenFile | undefined {
    const names = split(path);
    const last = names.pop();
    const stage = this.#descend(names);
    if (last === undefined || stage === undefined || !stage.admitted) return undefined;
    const entry = entryNamed(last, "file");
    if (!stage.rules.isEmpty && stage.rules.ignores(stage.path, entry.name, false)) return undefined;
    try {
      return stage.directory.file(entry);
    } catch (error) {
      if (Fault.is(error, "too_many_open_files")) throw error;
      return undefined;
    }
  }

  #descend(names: readonly Buffer[]): Stage | undefined {
    let shared = 0;
    while (shared < names.length && this.#stages[shared]?.bytes.equals(names[shared] as Buffer)) shared++;
    this.#retreat(shared);
    let stage = this.#stages.at(-1) ?? this.#start;
    for (const bytes of names.slice(shared)) {
      const entry = entryNamed(bytes, "directory");
      const directory = stage.directory.child(entry);
      if (directory === undefined) return undefined;
      const path = stage.path + entry.name;
      const { rules } = stage;
      const admitted = stage.admitted && (rules.isEmpty || !rules.ignores(stage.path, entry.name, true));
      stage = {
        bytes,
        directory,
        path: `${path}/`,
        rules: rules.isEmpty ? rules : rules.in(directory, path, directory.entries()),
        admitted,
      };
      this.#stages.push(stage);
    }
    return stage;
  }

  #retreat(length: number): void {
    while (this.#stages.length > length) this.#stages.pop()?.directory.close();
  }

  [Symbol.dispose](): void {
    this.#retreat(0);
  }
}

function split(path: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at <= path.length; ) {
    const slash = path.indexOf(47, at);
    const end = slash < 0 ? path.length : slash;
    names.push(path.subarray(at, end));
    at = end + 1;
  }
  return names;
}
