// Names of checkpoints, for stores that only have names: each process that prunes takes one of its own, and the last in
// their order counts.
import { randomBytes } from "node:crypto";
import type { Revision } from "./store.ts";

const pattern = /(\d{12})-([0-9a-f]{8})[0-9a-f]{8}$/;

/** One that counts instead of `last`, and of all before it. */
export function checkpointName(revision: Revision, last: string | undefined): string {
  const [, before, turn = "0"] = pattern.exec(last ?? "") ?? [];
  const next = Number(before) === revision ? Number.parseInt(turn, 16) + 1 : 0;
  const suffix = next.toString(16).padStart(8, "0") + randomBytes(4).toString("hex");
  return `${String(revision).padStart(12, "0")}-${suffix}`;
}

/** The revision that the end of a name says. Undefined for other names. */
export function prunedUntil(name: string): Revision | undefined {
  const [, digits] = pattern.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
