// An entry of a directory, as a walk gives it.
import type { Kind } from "../fault.ts";
import { isEscaped, written } from "./name.ts";

/** `raw` is set if the written name (name.ts) differs from its bytes as UTF-8. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: Kind;
  readonly raw?: Buffer;
}

/** The entry whose name has these bytes. */
export function entryNamed(raw: Buffer, kind: Kind): DirectoryEntry {
  const name = written(raw);
  return isEscaped(name) ? { name, kind, raw } : { name, kind };
}
