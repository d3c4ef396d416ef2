// What the entries of a replicated workspace say: who did what when, as operations.

import { Fault } from "../fault.ts";
import type { Entry } from "../store/store.ts";
import type { By } from "../workspace/archive/log.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";

export interface EntryBody {
  readonly format: 1;
  /** Milliseconds since 1970, by the clock of the machine that wrote it: for people. */
  readonly time: number;
  readonly by: By;
  readonly operations: readonly Operation[];
  /** Whether the whole workspace is there. Until then it is being imported, and no server may use it. */
  readonly complete?: boolean;
}

export function entryOf({ id, by, operations, contents }: Publication, complete?: boolean): Entry {
  const body: EntryBody = {
    ...{ format: 1, time: Date.now(), by, operations },
    ...(complete !== undefined && { complete }),
  };
  const text = JSON.stringify(body);
  const hashes = operations.flatMap(one => ("hash" in one && one.hash !== undefined ? [one.hash] : []));
  const size = [...contents.values()].reduce((sum, { length }) => sum + length, 0);
  return { id, body: text, objects: [...new Set(hashes)], bytes: size + text.length };
}

export function bodyOf({ body }: Entry): EntryBody {
  const read = JSON.parse(body) as EntryBody;
  if (read.format !== 1)
    throw new Fault("store_unavailable", {
      reason: "schema",
      detail: "an entry was written by a newer version",
    });
  return read;
}
