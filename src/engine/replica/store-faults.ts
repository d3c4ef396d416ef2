// Maps refusals of the store to faults, and formats its failures for the log.
import { Fault } from "../fault.ts";
import type { Appended } from "../store/store.ts";

export function appendFault(
  result: Exclude<Appended["result"], "appended" | "stale">,
  maxBytes: number,
): Fault {
  switch (result) {
    case "over_quota":
      return overQuota(maxBytes);
    case "gone":
      return new Fault("store_unavailable", { reason: "invalid", detail: "the workspace was dropped" });
    case "missing_objects":
      return new Fault("store_unavailable", {
        reason: "damaged",
        detail: "objects that were put are missing",
      });
  }
}

export function overQuota(limit: number): Fault {
  const detail = `the workspace may have ${limit} bytes in the store`;
  return new Fault("store_unavailable", { reason: "full", detail });
}

/** Whether it may be over soon. */
export function isPassing(fault: Fault): boolean {
  return Fault.is(fault, "store_unavailable") && fault.data.reason === "unreachable";
}

export function errorText(error: unknown): string {
  if (Fault.is(error, "store_unavailable")) return `${error.data.reason}: ${error.data.detail}`;
  return error instanceof Error ? error.message : String(error);
}
