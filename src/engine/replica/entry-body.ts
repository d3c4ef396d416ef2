// The bodies of log entries of a replicated workspace: author, time and operations.

import { Fault } from "../fault.ts";
import type { Entry } from "../store/store.ts";
import type { By } from "../workspace/archive/log.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { bytesWritten } from "../workspace/name.ts";

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

/** Faults: `store_unavailable` where it is not an entry of ours. Other servers write to the store, too. */
export function bodyOf({ id, body }: Entry): EntryBody {
  const read = parsed(body);
  if (isRecord(read) && typeof read.format === "number" && read.format > 1)
    throw new Fault("store_unavailable", {
      reason: "schema",
      detail: "an entry was written by a newer version",
    });
  if (!isBody(read) || !isId(id))
    throw new Fault("store_unavailable", { reason: "damaged", detail: `change ${id}` });
  return read;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Records are files with this name. */
function isId(id: string): boolean {
  return /^[0-9a-z]{1,40}$/.test(id);
}

function isBody(read: unknown): read is EntryBody {
  if (!isRecord(read) || read.format !== 1 || !isRecord(read.by)) return false;
  return Array.isArray(read.operations) && read.operations.every(isOperation);
}

function isOperation(one: unknown): one is Operation {
  if (!isRecord(one) || !isRelativePath(one.at)) return false;
  switch (one.do) {
    case "write":
      return isHash(one.hash) && isMode(one.mode);
    case "symlink":
      return typeof one.target === "string";
    case "mkdir":
    case "mode":
      return isMode(one.mode);
    case "remove":
      return true;
    case "copy":
      return isRelativePath(one.from);
    case "move":
      return isRelativePath(one.from) && (one.hash === undefined || isHash(one.hash));
    default:
      return false;
  }
}

/** Names below the root, each of which a directory can hold. */
function isRelativePath(path: unknown): boolean {
  return (
    typeof path === "string" &&
    path.split("/").every(written => {
      const name = bytesWritten(written);
      const isName = name.length > 0 && name.length <= mostNameBytes;
      return isName && !name.includes(0) && !name.includes(slash) && !/^\.\.?$/.test(name.toString("latin1"));
    })
  );
}

/** On no file system are names longer. */
const mostNameBytes = 1024;
const slash = 47;

function isHash(hash: unknown): boolean {
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
}

function isMode(mode: unknown): boolean {
  return Number.isInteger(mode);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
