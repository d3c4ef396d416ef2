// What a file or an object of a store may hold: other programs can write to it, so its form is checked before use.
import type { Entry, Hash, Origin, WorkspaceId } from "./store.ts";

export interface StoredEntry extends Entry {
  /** The sum of `bytes` up to this entry. */
  readonly total: number;
  /** Where it was put, in a bucket: what is found elsewhere is not this entry. Older versions did not write it. */
  readonly key?: string;
}

export interface AboutWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly parent?: Origin;
  readonly about: Readonly<Record<string, string>>;
}

export function isStoredEntry(value: unknown): value is StoredEntry {
  if (!isRecord(value)) return false;
  const { id, body, objects, bytes, total } = value;
  const isNamed = typeof id === "string" && typeof body === "string";
  return isNamed && isCount(bytes) && isCount(total) && Array.isArray(objects) && objects.every(isHash);
}

export function isAbout(value: unknown, expected: WorkspaceId): value is AboutWorkspace {
  if (!isRecord(value)) return false;
  const { id, name, parent, about } = value;
  if (id !== expected || typeof name !== "string" || !isRecord(about)) return false;
  if (!Object.values(about).every(one => typeof one === "string")) return false;
  return parent === undefined || (isRecord(parent) && isId(parent.workspace) && isCount(parent.revision));
}

function isId(value: unknown): value is WorkspaceId {
  return typeof value === "string" && /^[0-9a-f]+$/.test(value);
}

function isHash(value: unknown): value is Hash {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
