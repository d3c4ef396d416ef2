// A file that a command reads, changes and writes back belongs to that command meanwhile: of two at the same time, one
// would take back what the other did, and both would report success.
import { basename, dirname, resolve } from "node:path";
import { Fault } from "../engine/fault.ts";
import { claimed } from "../engine/workspace/system/claim.ts";

/** Waits until no other command has it. Where nothing can be claimed, as without hard links, this does nothing. */
export async function claimFile(file: string): Promise<Disposable> {
  const path = resolve(file);
  try {
    return await claimed(dirname(path), `${basename(path)}.lock`);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { [Symbol.dispose]() {} };
  }
}
