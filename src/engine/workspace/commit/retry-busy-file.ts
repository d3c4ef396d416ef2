// On Windows a file that another program has open, such as an editor or a virus scanner, can be neither replaced nor
// removed. Most close it soon, so the step is retried, without blocking other work.
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { errnoOf } from "../errno.ts";
import { onWindows } from "../windows-path.ts";

const pausesMs = [2, 5, 10, 20, 50, 100, 200, 400, 800, 1000];

/** Whether something failed because a file is open elsewhere. Never so on other systems. */
export function isOpenElsewhere(error: unknown): boolean {
  if (!onWindows) return false;
  const cause = error instanceof Fault ? error.cause : error;
  return ["EPERM", "EACCES", "EBUSY"].includes(errnoOf(cause) ?? "");
}

/** Runs a step that may be run again. Faults: `locked` where the file stays open elsewhere. */
export async function retryWhileBusy(given: string, action: () => void): Promise<void> {
  for (const ms of pausesMs) {
    try {
      return action();
    } catch (error) {
      if (!isOpenElsewhere(error)) throw error;
    }
    await pause(ms);
  }
  try {
    action();
  } catch (error) {
    throw isOpenElsewhere(error) ? new Fault("locked", { path: given }, { cause: error }) : error;
  }
}
