// What is remembered of the past: contents that were read or replaced, and the changes that were made. It lies in
// the user's state directory, never in a workspace, within limits on size and age.
import type { Places } from "../commit/place.ts";
import type { Range } from "../commit/step.ts";
import type { Account, Kept } from "./account.ts";
import { ChangeLog, type RecordedFile } from "./log.ts";
import { Objects } from "./objects.ts";
import { type Keeping, type Share, type Snapshotting, snapshotAt } from "./snapshot.ts";

export interface ArchiveLimits extends Keeping {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  readonly maxChanges: number;
}

const defaultLimits: ArchiveLimits = {
  maxFileBytes: 64 * 1024 * 1024,
  maxChangeBytes: 512 * 1024 * 1024,
  maxBytes: 2 * 1024 * 1024 * 1024,
  maxAgeMs: 30 * 24 * 3600 * 1000,
  maxChanges: 10_000,
};

const clearEvery = 500; // changes: looking through the archive takes a while

export class Archive {
  readonly objects: Objects;
  readonly changes: ChangeLog;
  readonly limits: ArchiveLimits;
  #recorded = 0;

  constructor(state: string, limits: ArchiveLimits = defaultLimits) {
    this.objects = new Objects(state);
    this.changes = new ChangeLog(state);
    this.limits = limits;
  }

  /**
   * Records what a commit did, while what it replaced can still be read: true where all of it could be kept. Doing
   * it twice is doing it once.
   */
  *record(
    id: string,
    account: Account,
    places: Places,
    blob: (range: Range) => Uint8Array,
  ): Generator<void, boolean, undefined> {
    if (this.changes.has(id)) return true;
    const share: Share = { left: this.limits.maxChangeBytes, kept: true };
    const files: RecordedFile[] = [];
    for (const { at, effect, kind, from, before, after, replaced } of account.files) {
      files.push({
        at,
        effect,
        kind,
        ...(from !== undefined && { from }),
        ...(before && { before: yield* this.#snapshot(before, places, blob, share) }),
        ...(replaced && { replaced: yield* this.#snapshot(replaced, places, blob, share) }),
        ...(after && { after: yield* this.#snapshot(after, places, blob, share) }),
      });
    }
    const { time, by, parents } = account;
    this.changes.add({ id, time, ...by, files, parents, kept: share.kept });
    if (++this.#recorded % clearEvery === 0) this.clear();
    return share.kept;
  }

  *#snapshot(kept: Kept, places: Places, blob: (range: Range) => Uint8Array, share: Share): Snapshotting {
    if (kept.blob !== undefined) {
      const bytes = blob(kept.blob);
      const hash = this.objects.put(bytes);
      return { kind: "file", mode: kept.mode ?? 0o644, size: bytes.length, modified: 0, hash };
    }
    if (kept.spot === undefined) return { kind: "special" };
    return yield* snapshotAt(places.address(kept.spot), this.objects, this.limits, share);
  }

  clear(): void {
    const { maxBytes, maxAgeMs, maxChanges } = this.limits;
    this.changes.clear(maxChanges, maxAgeMs);
    this.objects.clear(maxBytes, maxAgeMs);
  }
}

/** Runs something that pauses to its end, at once. */
export function atOnce<T>(steps: Generator<void, T, undefined>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, letting others in every now and then. */
export async function gently<T>(steps: Generator<void, T, undefined>): Promise<T> {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (count % 64 === 0) await new Promise(resolve => setImmediate(resolve));
  }
}
