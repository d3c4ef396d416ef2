// Maps refusals of the store to faults, and formats its failures for the log.
import { Fault } from "../fault.ts";
import type { Appended } from "../store/store.ts";

export function appendFault(
  result: Exclude<Appended["result"], "appended" | "stale">,
  limit: number,
  used: number,
): Fault {
  switch (result) {
    case "over_quota":
      return historyFull(limit, used);
    case "gone":
      return new Fault("store_unavailable", { reason: "invalid", detail: "the workspace was dropped" });
    case "missing_objects":
      return new Fault("store_unavailable", {
        reason: "damaged",
        detail: "objects that were put are missing",
      });
  }
}

export function historyFull(limit: number, used: number): Fault {
  return new Fault("history_full", { limit, used });
}

/** Whether the store could not be asked: nothing says that what is in it is gone or damaged. */
export function isOutOfReach(fault: unknown): boolean {
  if (!Fault.is(fault, "store_unavailable")) return false;
  return fault.data.reason !== "damaged" && fault.data.reason !== "invalid";
}

/**
 * Whether a store that can be asked refuses changes: a standby, lost rights, a full disk. What it answers to questions
 * stays true.
 */
export function refusesChanges(error: unknown): boolean {
  if (!Fault.is(error, "store_unavailable")) return false;
  const { reason } = error.data;
  return reason === "read_only" || reason === "rights" || reason === "full";
}

/** Whether it may be over soon. */
export function isPassing(fault: Fault): fault is Fault<"store_unavailable"> {
  return Fault.is(fault, "store_unavailable") && fault.data.reason === "unreachable";
}

/** The same for an entry that was sent: the store may have it. */
export function withoutAnswer(fault: Fault<"store_unavailable">): Fault {
  return new Fault("store_unavailable", { ...fault.data, change: "unknown" }, { cause: fault });
}

export function errorText(error: unknown): string {
  if (Fault.is(error, "store_unavailable")) return `${error.data.reason}: ${error.data.detail}`;
  if (Fault.is(error, "history_full")) return `${error.data.used} of ${error.data.limit} bytes are used`;
  if (Fault.is(error, "no_space")) return `the disk is full: ${error.data.path}`;
  return error instanceof Error ? error.message : String(error);
}

/** After a failover to a standby that was behind, or under the restore of an older backup. */
export function lostChanges(): Fault {
  const detail = "the store has lost changes that are here";
  return new Fault("store_unavailable", { reason: "damaged", detail });
}
