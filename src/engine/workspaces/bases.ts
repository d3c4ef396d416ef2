// What earlier merges of a fork left: the contents that were merged, which the next merge compares with instead of the
// frozen base, and the conflicts that refused merges reported. Replayed from the fork's log in the store.
import { Fault, type Kind, type MergeConflict } from "../fault.ts";
import type { WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import type { MergedWrite, WriteNumber } from "./masked-writes.ts";
import { mergeSides } from "./merge-file.ts";
import type { SideAtPath, TreeView } from "./merge-side.ts";
import type { ToldOverlap } from "./overlaps.ts";
import type { UndoOfChange, UndosOf } from "./undone.ts";

/** A side as it is recorded. Contents are objects in the store. Null: nothing is there. */
export type RecordedSide = {
  readonly kind: Kind;
  readonly mode: number;
  readonly target?: string;
  readonly hash?: string;
  readonly stamp?: string;
  /** The write of a masked file in the base (masked-writes.ts). */
  readonly written?: WriteNumber;
} | null;

/** What a refused merge found at a path, and reported. */
export interface RefusedPath {
  readonly reason: MergeConflict["reason"];
  readonly ours: RecordedSide;
  readonly theirs: RecordedSide;
  /** Absent where it was not about lines. */
  readonly told?: readonly ToldOverlap[];
  /** The contents conflicted as well, and were not about lines. */
  readonly contents?: true;
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

/** A side of a path after some merges. Undefined: no merge counts, so it is what the fork began as. */
type LastMerged =
  | {
      readonly side: SideAtPath | undefined;
      /** Of a masked file: how the base got it. */
      readonly written?: MergedWrite | undefined;
    }
  | undefined;

/** What a merge or an undo made of what is merged at a path. */
interface MergeEffect {
  readonly from: LastMerged;
  readonly to: LastMerged;
}

/** What one merge made of a path. */
interface MergeStep {
  readonly change: string;
  /** What an undo of it leaves. */
  from: LastMerged;
  readonly to: NonNullable<LastMerged>;
  /** What refused merges had reported about the path until then. */
  readonly reports: readonly RefusedPath[];
  isUndone: boolean;
}

export interface BasesOptions {
  readonly undosOf: UndosOf;
  /** What the fork began as. */
  readonly origin: TreeView;
  /** Whether callers see all of a path, in the fork and in the base. */
  isShownWhole(path: string): boolean;
}

export class Bases {
  readonly #merged = new Map<string, LastMerged>();
  /** By path, oldest first. */
  readonly #steps = new Map<string, MergeStep[]>();
  /** By path, since the last merge that succeeded and was not undone. Conflicts may be resolved one at a time, with refused merges between. */
  readonly #refused = new Map<string, RefusedPath[]>();
  /** Of all merges. */
  readonly #undos = new Map<string, { readonly undo: UndoOfChange; readonly paths: readonly string[] }>();
  /** Of undos, by id and path. */
  readonly #effects = new Map<string, MergeEffect>();
  readonly #options: BasesOptions;
  readonly #get: (hash: string) => Promise<Buffer>;

  constructor(get: (hash: string) => Promise<Buffer>, options: BasesOptions) {
    this.#get = get;
    this.#options = options;
  }

  static async of(
    store: WorkspaceStore,
    log: ForkLog,
    id: WorkspaceId,
    options: BasesOptions,
  ): Promise<Bases> {
    const bases = new Bases(async hash => {
      const bytes = await store.get(id, hash);
      if (bytes === undefined) throw new Fault("not_found", { path: hash });
      return Buffer.from(bytes);
    }, options);
    const later = new Map<string, string>();
    const undo = async (undos: Iterable<string>) => {
      for (const one of [...undos].sort()) {
        const change = later.get(one);
        later.delete(one);
        if (change !== undefined) await bases.#undo(one, change);
      }
    };
    for (let revision = 0; ; ) {
      const entries = await store.entries(id, revision, page);
      for (const entry of entries) {
        revision = entry.revision;
        const event = log.parse(entry.body);
        if (event?.type === "refused") bases.#refuse(event.paths);
        if (event?.type !== "merged") continue;
        await undo(event.undos ?? []);
        for (const one of await bases.#merge(event)) later.set(one, event.change);
      }
      if (entries.length >= page) continue;
      await undo(later.keys());
      return bases;
    }
  }

  #refuse(paths: Readonly<Record<string, RefusedPath>>): void {
    for (const [path, refused] of Object.entries(paths))
      this.#refused.set(path, [...(this.#refused.get(path) ?? []), refused]);
  }

  /** Returns the ids of its undos. */
  async #merge({ change, sides }: Extract<ForkEvent, { type: "merged" }>): Promise<readonly string[]> {
    for (const [path, side] of Object.entries(sides)) {
      const write = side?.written;
      const to = { side: this.sideOf(side), written: write === undefined ? undefined : { change, write } };
      const reports = this.#refused.get(path) ?? [];
      const step = { change, from: this.#merged.get(path), to, reports, isUndone: false };
      this.#steps.set(path, [...(this.#steps.get(path) ?? []), step]);
      this.#merged.set(path, step.to);
    }
    this.#refused.clear();
    const undos = await this.#options.undosOf(change);
    for (const undo of undos) this.#undos.set(undo.id, { undo, paths: Object.keys(sides) });
    return undos.map(({ id }) => id);
  }

  async #undo(id: string, change: string): Promise<void> {
    const { undo, paths } = this.#undos.get(id) ?? {};
    for (const path of paths ?? []) {
      const steps = this.#steps.get(path) ?? [];
      const at = steps.findIndex(step => step.change === change);
      if (at < 0 || !undo?.covers(path)) continue;
      const found = this.#merged.get(path);
      // A redo brings what its undo took, which may be less than what the merge brought.
      const { from, to } = this.#effects.get(`${undo.undoes} ${path}`) ?? (steps[at] as MergeStep);
      if (undo.isRedo) await this.#bringAgain(path, steps, at, { from, to });
      else await this.#takeBack(path, steps, at, { from, to });
      this.#effects.set(`${id} ${path}`, { from: found, to: this.#merged.get(path) });
    }
  }

  /**
   * What a merge brought is taken out of what is merged, as its undo took it out of the base: what later merges brought
   * stays. Where it cannot be told apart from that, the later merges do not count either. The contents of masked files
   * are not compared.
   */
  async #takeBack(
    path: string,
    steps: readonly MergeStep[],
    at: number,
    { from, to }: MergeEffect,
  ): Promise<void> {
    const step = steps[at] as MergeStep;
    step.isUndone = true;
    if (!(await this.#carry(path, to, from))) {
      this.#merged.set(path, step.from);
      for (const later of steps.slice(at + 1)) later.from = step.from;
    }
    if (steps.every(({ isUndone }) => isUndone)) this.#merged.set(path, undefined);
    // What the fork resolved for the merge is still resolved where nothing else was merged.
    if (this.#merged.get(path) === step.from && step.reports.length > 0)
      this.#refused.set(path, [...step.reports, ...(this.#refused.get(path) ?? [])]);
  }

  /** The undo was undone. Where what the merge brought cannot be put beside the rest, it does not count. */
  async #bringAgain(
    path: string,
    steps: readonly MergeStep[],
    at: number,
    { from, to }: MergeEffect,
  ): Promise<void> {
    const step = steps[at] as MergeStep;
    if (!(await this.#carry(path, to, from))) return;
    step.isUndone = false;
    this.#refused.delete(path);
  }

  /** Carries the change between two sides over to what is merged. False if that is not possible. */
  async #carry(path: string, from: LastMerged, to: LastMerged): Promise<boolean> {
    const now = this.#merged.get(path);
    if (now !== from && !this.#options.isShownWhole(path)) return false;
    const carried =
      now === from
        ? to
        : await mergeSides(path, this.#side(path, from), this.#side(path, to), this.#side(path, now));
    if (carried !== undefined && "conflict" in carried) return false;
    this.#merged.set(path, carried);
    return true;
  }

  #side(path: string, merged: LastMerged): SideAtPath | undefined {
    return merged === undefined ? this.#options.origin.at(path) : merged.side;
  }

  /** The undos of merges. */
  get undos(): readonly string[] {
    return [...this.#undos.keys()];
  }

  paths(): Iterable<string> {
    return [...this.#merged.keys()].filter(path => this.has(path));
  }

  has(path: string): boolean {
    return this.#merged.get(path) !== undefined;
  }

  at(path: string): SideAtPath | undefined {
    return this.#merged.get(path)?.side;
  }

  /** How the base got a masked file. */
  written(path: string): MergedWrite | undefined {
    return this.#merged.get(path)?.written;
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
