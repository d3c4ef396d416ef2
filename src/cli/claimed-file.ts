// Claims a file while a command reads, changes and rewrites it. Without the claim, two commands at the same time would
// overwrite each other's changes, and both would report success.
import { basename, dirname } from "node:path";
import { Fault } from "../engine/fault.ts";
import { claimed } from "../engine/workspace/system/claim.ts";
import { canonicalPath } from "../engine/workspace/system/named-file.ts";

/** Waits until no other command holds the claim. Does nothing where claims cannot be made, as without hard links. */
export async function claimFile(file: string): Promise<Disposable> {
  const path = canonicalPath(file);
  try {
    return await claimed(dirname(path), `${basename(path)}.lock`);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { [Symbol.dispose]() {} };
  }
}
