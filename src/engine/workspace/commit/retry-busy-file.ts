// On Windows a file that another program has open, such as an editor or a virus scanner, can be neither replaced nor
// removed, and not even opened if that program does not share it. Most close it soon, so the step or the opening is
// retried, without blocking other work.
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { errnoOf, faultOf } from "../errno.ts";
import { onWindows } from "../windows-path.ts";

const pausesMs = [2, 5, 10, 20, 50, 100, 200, 400, 800, 1000];

/** Whether something failed because a file is open elsewhere. Never so on other systems. */
export function isOpenElsewhere(error: unknown): boolean {
  if (!onWindows) return false;
  const cause = error instanceof Fault ? error.cause : error;
  return ["EPERM", "EACCES", "EBUSY"].includes(errnoOf(cause) ?? "");
}

/**
 * Whether a file could not be opened because another program has it open without sharing it. A file that the user may
 * not open fails with another code, and is not retried.
 */
export function isBusyOpen(error: unknown): boolean {
  if (!onWindows) return false;
  return errnoOf(error instanceof Fault ? error.cause : error) === "EBUSY";
}

/** Runs something that may be run again. Faults: `locked` where the file stays open elsewhere. */
export async function retryWhileBusy<T>(
  given: string,
  action: () => T | Promise<T>,
  isBusy: (error: unknown) => boolean = isOpenElsewhere,
): Promise<T> {
  if (!onWindows) return action(); // nothing is ever busy, and every read comes here
  for (const ms of pausesMs) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await pause(ms);
  }
  try {
    return await action();
  } catch (error) {
    if (!isBusy(error)) throw error;
    const path = Fault.is(error, "locked") ? error.data.path : given;
    throw new Fault("locked", { path }, { cause: faultOf(error, given) }); // a Fault as cause: not waited for again
  }
}
