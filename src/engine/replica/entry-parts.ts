// Operations in the order in which they must be done, in entries of bounded size.
import type { Operation } from "../workspace/commit/publish.ts";

/** Of one entry, where many files are published at once. */
const entryFiles = 500;
const entryBytes = 8 * 1024 * 1024;

export interface EntryPart {
  readonly operations: readonly Operation[];
  readonly last: boolean;
}

/** Yields at least one part, which is empty where there is nothing to do. */
export function* entryParts(operations: readonly Operation[]): Generator<EntryPart> {
  let part: Operation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    const size = operation.do === "write" ? operation.size : 0;
    if (part.length > 0 && (part.length >= entryFiles || bytes + size > entryBytes)) {
      yield { operations: part, last: false };
      [part, bytes] = [[], 0];
    }
    part.push(operation);
    bytes += size;
  }
  yield { operations: part, last: true };
}

/** The hashes of the contents that operations need, each once. */
export function hashesOf(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(operations.flatMap(one => ("hash" in one && one.hash !== undefined ? [one.hash] : [])));
}

export function pathsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(one => ("from" in one ? [one.from, one.at] : [one.at]));
}
