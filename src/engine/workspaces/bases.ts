// What earlier merges of a fork left: the contents that were merged, which the next merge compares with instead of the
// frozen base, and the conflicts that refused merges reported. Replayed from the fork's log in the store.
import { Fault, type Kind, type MergeConflict } from "../fault.ts";
import type { WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import type { SideAtPath } from "./merge-side.ts";
import type { ToldOverlap } from "./overlaps.ts";

/** A side as it is recorded. Contents are objects in the store. Null: nothing is there. */
export type RecordedSide = {
  readonly kind: Kind;
  readonly mode: number;
  readonly target?: string;
  readonly hash?: string;
  readonly stamp?: string;
} | null;

/** What a refused merge found at a path, and reported. */
export interface RefusedPath {
  readonly reason: MergeConflict["reason"];
  readonly ours: RecordedSide;
  readonly theirs: RecordedSide;
  /** Absent where it was not about lines. */
  readonly told?: readonly ToldOverlap[];
  /** Only in entries of earlier versions. It has no positions, so such an entry resolves no lines. */
  readonly overlaps?: ToldOverlaps;
}

interface ToldOverlaps {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

export type ForkEvent =
  /** Merged by this change of the base. */
  | {
      readonly type: "merged";
      readonly change: string;
      readonly sides: Readonly<Record<string, RecordedSide>>;
      /** The undos of earlier merges that came before this one. */
      readonly undos?: readonly string[];
    }
  | { readonly type: "refused"; readonly paths: Readonly<Record<string, RefusedPath>> };

/** How events are written in a log. An entry may be something else. */
export interface ForkLog {
  print(event: ForkEvent): string;
  parse(body: string): ForkEvent | undefined;
}

/** A log that holds nothing else. */
export const plainForkLog: ForkLog = {
  print: event => JSON.stringify(event),
  parse: body => JSON.parse(body) as ForkEvent,
};

const page = 500;

export class Bases {
  readonly #merged = new Map<string, RecordedSide>();
  /** By path, since the last merge that succeeded. Conflicts may be resolved one at a time, with refused merges between. */
  readonly #refused = new Map<string, RefusedPath[]>();
  /** Paths of merges that were undone, with the undos. A merge from before the undo recorded what was undone. */
  readonly #unmerged = new Map<string, Set<string>>();
  readonly #undos = new Set<string>();
  readonly #get: (hash: string) => Promise<Buffer>;

  constructor(get: (hash: string) => Promise<Buffer>) {
    this.#get = get;
  }

  /** `undoOf` gives the undo of a change of the base that was undone: then it counts as not merged. */
  static async of(
    store: WorkspaceStore,
    log: ForkLog,
    id: WorkspaceId,
    undoOf: (change: string) => Promise<string | undefined>,
  ): Promise<{ readonly bases: Bases; readonly revision: number }> {
    const bases = new Bases(async hash => {
      const bytes = await store.get(id, hash);
      if (bytes === undefined) throw new Fault("not_found", { path: hash });
      return Buffer.from(bytes);
    });
    let revision = 0;
    for (;;) {
      const entries = await store.entries(id, revision, page);
      for (const entry of entries) {
        revision = entry.revision;
        const event = log.parse(entry.body);
        if (event === undefined) continue;
        const undo = event.type === "merged" ? await undoOf(event.change) : undefined;
        if (event.type === "merged" && undo !== undefined) bases.#unmerge(event.sides, undo);
        else bases.#apply(event);
      }
      if (entries.length < page) return { bases, revision };
    }
  }

  #apply(event: ForkEvent): void {
    if (event.type === "refused") {
      for (const [path, refused] of Object.entries(event.paths))
        this.#refused.set(path, [...(this.#refused.get(path) ?? []), refused]);
      return;
    }
    this.#refused.clear();
    const earlier = new Set(event.undos);
    for (const [path, side] of Object.entries(event.sides)) {
      const later = [...(this.#unmerged.get(path) ?? [])].filter(undo => !earlier.has(undo));
      if (later.length > 0) continue;
      this.#unmerged.delete(path);
      this.#merged.set(path, side);
    }
  }

  #unmerge(sides: Readonly<Record<string, RecordedSide>>, undo: string): void {
    this.#undos.add(undo);
    for (const path of Object.keys(sides)) {
      const undos = this.#unmerged.get(path) ?? new Set();
      this.#unmerged.set(path, undos.add(undo));
    }
  }

  /** The undos of merges. */
  get undos(): readonly string[] {
    return [...this.#undos];
  }

  paths(): Iterable<string> {
    return this.#merged.keys();
  }

  has(path: string): boolean {
    return this.#merged.has(path);
  }

  at(path: string): SideAtPath | undefined {
    return this.sideOf(this.#merged.get(path) ?? null);
  }

  /** What refused merges reported about a path since the last successful one, newest first. */
  refused(path: string): readonly RefusedPath[] {
    return this.#refused.get(path)?.toReversed() ?? [];
  }

  sideOf(side: RecordedSide): SideAtPath | undefined {
    if (side === null) return undefined;
    const { kind, mode, target, hash, stamp } = side;
    return {
      kind,
      mode,
      ...(target !== undefined && { target }),
      ...(stamp !== undefined && { stamp }),
      bytes: () => (hash === undefined ? Promise.resolve(Buffer.alloc(0)) : this.#get(hash)),
    };
  }
}

/** A side for the log; its contents are added to `objects`. */
export async function recorded(
  side: SideAtPath | undefined,
  objects: Map<string, Uint8Array>,
): Promise<RecordedSide> {
  if (side === undefined) return null;
  const { kind, mode, target, stamp } = side;
  if (kind !== "file") return { kind, mode, ...(target !== undefined && { target }) };
  const bytes = await side.bytes();
  const hash = contentHash(bytes);
  objects.set(hash, bytes);
  return { kind, mode, hash, ...(stamp !== undefined && { stamp }) };
}
