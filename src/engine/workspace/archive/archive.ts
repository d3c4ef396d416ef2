// History: contents that were read or replaced, and the changes that were made. It is in the user's state directory,
// never in a workspace, within limits on size and age.

import type { HeldDirectories } from "../disk/held-directories.ts";
import { isShortage } from "../errno.ts";
import { gently, type Steps } from "../footprint/time-slice.ts";
import type { Address } from "../system/held.ts";
import { isClockSteady } from "./clock-mark.ts";
import { Collection } from "./collection.ts";
import { jsonSteps } from "./json-steps.ts";
import { KeptFiles } from "./kept-files.ts";
import { ChangeLog, type ChangeRecord, type RecordedFile, type TemporaryNames } from "./log.ts";
import { Objects } from "./objects.ts";
import {
  type ByteRange,
  bytesIn,
  type PendingContent,
  type PendingRecord,
  type Taken,
} from "./pending-record.ts";
import { Sightings } from "./sightings.ts";
import {
  hashesIn,
  type KnownContent,
  type RetentionLimits,
  type Share,
  type Snapshotting,
  snapshotAt,
} from "./snapshot.ts";
import { UnflushedFiles } from "./unflushed.ts";

export interface ArchiveLimits extends RetentionLimits {
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

/** An object may be as old as the change that uses it, or a little older. */
const slackMs = 3_600_000;
/** Of contents that were only read. */
const maxReadBytes = 256 * 1024 * 1024;
const maxReadAgeMs = 7 * 24 * 3600 * 1000;

/** Where to find the contents of a pending record. */
interface Sources {
  readonly places: HeldDirectories;
  /** In the journal. */
  readonly blob: (range: ByteRange) => Uint8Array;
  /** At hand, by their hash. */
  readonly contents?: ReadonlyMap<string, Uint8Array> | undefined;
  /** Contents that were put into the archive before. */
  readonly known?: ReadonlyMap<PendingContent, KnownContent> | undefined;
  /** The machine lost power since: files may hold less than was written, also those of the archive. */
  readonly powerCut?: boolean;
  /** The names that the commit used. */
  readonly temporary: readonly TemporaryNames[];
}

export class Archive {
  /** The contents that undo needs. */
  readonly objects: Objects;
  /** The files that commands found with these contents. */
  readonly keptFiles: KeptFiles;
  /** Contents that were only read: edits that name a version are merged from them. Kept for a shorter time. */
  readonly reads: Objects;
  readonly changes: ChangeLog;
  readonly sightings: Sightings;
  readonly limits: ArchiveLimits;
  /** Records the backlog. Called before any lookup. */
  catchUp = () => {};
  readonly #unflushed: UnflushedFiles;
  readonly #state: string;
  readonly #collection: Collection;
  #clearing: Promise<void> | undefined;

  constructor(state: string, limits: ArchiveLimits = defaultLimits) {
    const catchUp = () => this.catchUp();
    this.#state = state;
    this.#unflushed = new UnflushedFiles(state);
    this.objects = new Objects(state, catchUp, this.#unflushed);
    this.keptFiles = new KeptFiles(this.objects);
    this.reads = new Objects(state, () => {}, { add() {} }, "reads");
    this.changes = new ChangeLog(state, catchUp, this.#unflushed);
    this.sightings = new Sightings(state);
    this.#collection = new Collection(state, limits.maxBytes);
    this.limits = limits;
  }

  /** Resolves when everything recorded so far survives a power cut. */
  flush(): Promise<void> {
    return this.#unflushed.flush();
  }

  /** The same, blocking. Throws instead of flushing more than `most` files one by one. */
  flushNow(most = Number.POSITIVE_INFINITY): void {
    this.#unflushed.flushNow(most);
  }

  /** Records a commit while the replaced content can still be read; true if all of it could be kept. Idempotent. */
  *record(id: string, account: PendingRecord, sources: Sources): Generator<void, boolean, undefined> {
    const known = this.changes.recorded(id);
    // The process that recorded it may have died before it flushed that.
    const isWhole = known !== undefined && this.#isWhole(known);
    if (known !== undefined && (isWhole || !sources.powerCut)) {
      this.changes.noteUnflushed(id);
      return known.kept;
    }
    const share = this.#freshShare();
    const files: RecordedFile[] = [];
    for (const { at, effect, kind, from, before, after, replaced, moved, unkept } of account.files) {
      yield;
      if (unkept) share.kept = false;
      share.pathBytes = Buffer.byteLength(at);
      files.push({
        at,
        effect,
        kind,
        ...(from !== undefined && { from }),
        ...(before && { before: yield* this.#snapshot(before, sources, share) }),
        ...(replaced && { replaced: yield* this.#snapshot(replaced, sources, share) }),
        ...(after && { after: yield* this.#snapshot(after, sources, share, account.time) }),
        ...(moved && { moved }),
      });
    }
    const { time, by, parents } = account;
    const temporary = sources.temporary.length > 0 && { temporary: sources.temporary };
    const record: ChangeRecord = { id, time, ...by, files, parents, kept: share.kept, ...temporary };
    this.changes.add(record, yield* jsonSteps(record));
    if (this.#collection.add(bytesIn(account))) void this.clearLater();
    return share.kept;
  }

  /** Takes content that is about to be put at `at`. */
  *take(address: Address, at: string): Steps<Taken> {
    const share: Share = { ...this.#freshShare(), pathBytes: Buffer.byteLength(at) };
    const snapshot = yield* snapshotAt(address, this.objects, this.limits, share);
    return { snapshot, kept: share.kept };
  }

  #freshShare(): Share {
    return { left: this.limits.maxChangeBytes, kept: true };
  }

  /** Records a commit whose content could not be kept. */
  recordUnkept(id: string, account: PendingRecord): void {
    this.changes.addUnkept(bareRecord(id, account));
  }

  /** Until a commit is recorded, shows it as one whose content was not kept. */
  noteUnrecorded(id: string, account: PendingRecord): void {
    this.changes.noteUnkept(bareRecord(id, account));
  }

  /** Whether all contents of a change are present. The next flush includes them. */
  #isWhole({ files }: ChangeRecord): boolean {
    const snapshots = files.flatMap(({ before, replaced, after }) => [before, replaced, after]);
    return snapshots.every(one => {
      for (const hash of one === undefined ? [] : hashesIn(one, this.objects))
        if (!this.objects.has(hash)) return false;
      return true;
    });
  }

  *#snapshot(
    kept: PendingContent,
    sources: Sources,
    share: Share,
    modified = kept.modified ?? 0,
  ): Snapshotting {
    const { places, contents, powerCut = false } = sources;
    const blob = kept.blob && sources.blob(kept.blob);
    const { objects } = this;
    const put = function* (bytes: Uint8Array): Snapshotting {
      const hash = yield* objects.putting(bytes);
      return { kind: "file", mode: kept.mode ?? 0o644, size: bytes.length, modified, hash };
    };
    if (kept.taken !== undefined) {
      if (!kept.taken.kept) share.kept = false;
      if (powerCut) yield* this.#putAgain(kept, places);
      return kept.taken.snapshot;
    }
    const bytes = contents?.get(kept.hash ?? "");
    if (bytes !== undefined) return yield* put(bytes);
    // The file itself is exact; the journal's copy survives a power cut.
    if (blob !== undefined && (kept.spot === undefined || powerCut)) return yield* put(blob);
    if (kept.spot === undefined)
      return kept.kind === "directory"
        ? { kind: "directory", mode: kept.mode ?? 0o755 }
        : { kind: "special" };
    if (kept.hash === undefined) {
      try {
        const known = sources.known?.get(kept);
        return yield* snapshotAt(places.address(kept.spot), this.objects, this.limits, share, known);
      } catch (error) {
        if (blob !== undefined) return yield* put(blob);
        throw error;
      }
    }
    const { mode = 0o644, size = 0, hash } = kept;
    try {
      const found = yield* snapshotAt(places.address(kept.spot), this.objects, this.limits, share);
      if (found.kind === "file" && found.hash === hash) return found;
    } catch (error) {
      if (isShortage(error)) throw error;
      // The file was removed since.
    }
    return { kind: "file", mode, size, modified, hash };
  }

  /** Objects may have been lost in a power cut. Unchanged files in the tree restore them. */
  *#putAgain({ spot }: PendingContent, places: HeldDirectories): Steps<void> {
    try {
      if (spot) yield* snapshotAt(places.address(spot), this.objects, this.limits, this.#freshShare());
    } catch (error) {
      if (isShortage(error)) throw error;
      // It was removed since.
    }
  }

  /** Removes what exceeds the limits on age and size, oldest first. Yields now and then. */
  *clear(): Steps<void> {
    yield* this.#clearChanges();
    yield* this.#clearContents();
  }

  *#clearChanges(): Steps<void> {
    yield* this.changes.clear(this.limits.maxChanges, this.#maxAgeMs());
  }

  *#clearContents(): Steps<void> {
    const maxAgeMs = this.#maxAgeMs();
    const counts = [
      yield* this.objects.clear(this.limits.maxBytes, maxAgeMs + slackMs),
      yield* this.reads.clear(maxReadBytes, Math.min(maxReadAgeMs, maxAgeMs)),
      yield* this.sightings.clear(maxReadBytes, maxAgeMs),
    ];
    this.#collection.note(counts.reduce((sum, count) => sum + count, 0));
  }

  #maxAgeMs(): number {
    return isClockSteady(this.#state) ? this.limits.maxAgeMs : Number.POSITIVE_INFINITY;
  }

  /**
   * The same in the background, contents only when enough was added or time has passed since. What fails is tried again
   * the next time.
   */
  async clearLater(): Promise<void> {
    this.#clearing ??= this.#clear()
      .catch(() => {})
      .finally(() => {
        this.#clearing = undefined;
      });
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    await gently(this.#clearChanges());
    if (this.#collection.isDue) await gently(this.#clearContents());
    await this.changes.gather(this.limits.maxChanges, this.#maxAgeMs());
  }
}

/** What happened, without any content. */
function bareRecord(id: string, { time, by, files, parents }: PendingRecord): Omit<ChangeRecord, "kept"> {
  const bare = files.map(({ at, effect, kind, from }) => ({ at, effect, kind, ...(from && { from }) }));
  return { id, time, ...by, files: bare, parents };
}
