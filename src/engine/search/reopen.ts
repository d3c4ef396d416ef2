// Opens the file for a path that a child process reported, without trusting the path: name by name from the held
// start, following nothing. Paths come in order, so the directories of the last one stay open.
import { isUtf8 } from "node:buffer";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { entryNamed } from "../workspace/directory-entry.ts";
import type { OpenFile } from "../workspace/file.ts";
import { byDescriptor } from "../workspace/system/descriptors.ts";
import { type IgnoreRules, ruleEntries } from "./ignore.ts";

interface ReopenedLevel {
  readonly bytes: Buffer;
  readonly directory: Directory;
  /** The path from the top, with a final slash. */
  readonly path: string;
  readonly rules: IgnoreRules;
  /** Whether the rules let it in. */
  readonly admitted: boolean;
}

export class Reopener implements Disposable {
  readonly #levels: ReopenedLevel[] = [];
  readonly #start: ReopenedLevel;
  /** Files that are in a directory that this system cannot enter, because its name is not UTF-8. */
  unreachable = 0;

  /** `rules` hold when the start is entered. What they and the ignore files below leave out is not opened. */
  constructor(start: Directory, prefix: string, rules: IgnoreRules) {
    const own = rulesIn(rules, start, prefix);
    this.#start = { bytes: Buffer.alloc(0), directory: start, path: prefix, rules: own, admitted: true };
  }

  /** The file at `path`, open; undefined if it is gone, is no longer a file, or is excluded by the rules. */
  open(path: Buffer): OpenFile | undefined {
    const names = split(path);
    const last = names.pop();
    const level = this.#descend(names);
    if (last === undefined || level === undefined || !level.admitted) return undefined;
    const entry = entryNamed(last, "file");
    if (level.rules.ignores(level.path, entry.name, false)) return undefined;
    try {
      return level.directory.file(entry);
    } catch (error) {
      if (Fault.is(error, "too_many_open_files")) throw error;
      return undefined;
    }
  }

  #descend(names: readonly Buffer[]): ReopenedLevel | undefined {
    let shared = 0;
    while (shared < names.length && this.#levels[shared]?.bytes.equals(names[shared] as Buffer)) shared++;
    this.#close(shared);
    let level = this.#levels.at(-1) ?? this.#start;
    for (const bytes of names.slice(shared)) {
      const entry = entryNamed(bytes, "directory");
      const directory = level.directory.child(entry);
      if (directory === undefined) {
        if (!byDescriptor && !isUtf8(bytes)) this.unreachable++;
        return undefined;
      }
      const path = `${level.path + entry.name}/`;
      const admitted = level.admitted && !level.rules.ignores(level.path, entry.name, true);
      const rules = admitted ? rulesIn(level.rules, directory, path) : level.rules;
      level = { bytes, directory, path, rules, admitted };
      this.#levels.push(level);
    }
    return level;
  }

  #close(length: number): void {
    while (this.#levels.length > length) this.#levels.pop()?.directory.close();
  }

  [Symbol.dispose](): void {
    this.#close(0);
  }
}

function rulesIn(rules: IgnoreRules, directory: Directory, path: string): IgnoreRules {
  if (!rules.obeysFiles) return rules;
  const entries = ruleEntries(directory);
  return entries.length === 0 ? rules : rules.in(directory, path.slice(0, -1), entries);
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
