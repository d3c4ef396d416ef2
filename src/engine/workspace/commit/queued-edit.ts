// An edit of one file that waits for the lock. The edit that holds the lock may make it as well (shared-commit.ts):
// then both share a flush and a rename, and each keeps its own change, version and answer.
import { Fault } from "../../fault.ts";
import type { HeldDirectories } from "../disk/held-directories.ts";
import type { Change, Commit, CommitOptions, Current } from "./change.ts";
import type { WaitingEdit } from "./lock.ts";
import { ResolvedChanges } from "./resolved-changes.ts";
import { applyRules } from "./rule-check.ts";
import type { Store } from "./store.ts";
import type { Target, TargetOptions } from "./target.ts";

type Transform = (files: readonly Current[]) => readonly Change[] | Promise<readonly Change[]>;

/** The result of an edit: new bytes, nothing (no change), or a fault. */
type Computed =
  | { readonly bytes: Buffer; readonly changes: ResolvedChanges }
  | { readonly bytes?: undefined; readonly fault?: Fault };

export class QueuedEdit implements WaitingEdit {
  readonly target: Target;
  readonly store: Store;
  readonly options: CommitOptions;
  /** Set when the holder of the lock has made this edit. */
  outcome: { readonly commit: Commit } | { readonly fault: Fault } | undefined;
  /** Set by `compute`. */
  computed: Computed | undefined;
  readonly #transform: Transform;
  readonly #way: Pick<TargetOptions, "roots" | "places" | "state">;

  private constructor(
    target: Target,
    store: Store,
    options: CommitOptions,
    transform: Transform,
    way: Pick<TargetOptions, "roots" | "places" | "state">,
  ) {
    this.target = target;
    this.store = store;
    this.options = options;
    this.#transform = transform;
    this.#way = way;
  }

  /** Undefined if an edit needs a commit of its own. */
  static of(
    targets: readonly Target[],
    store: Store,
    options: CommitOptions,
    transform: Transform,
    way: Pick<TargetOptions, "roots" | "places" | "state">,
  ): QueuedEdit | undefined {
    const [target] = targets;
    if (target === undefined || targets.length > 1 || !isShareable(options)) return undefined;
    return new QueuedEdit(target, store, options, transform, way);
  }

  /** Computes the edit from the content that the edits before it make. False: it needs its own turn. */
  async compute(base: Buffer): Promise<boolean> {
    this.computed = undefined;
    try {
      this.computed = await this.#compute(base);
    } catch (error) {
      // The fault may quote the file, which must still be inside the roots.
      if (error instanceof Fault && this.#places.areCurrent()) this.computed = { fault: error };
    }
    return this.computed !== undefined;
  }

  get #places(): HeldDirectories {
    return this.#way.places;
  }

  async #compute(base: Buffer): Promise<Computed | undefined> {
    const { target, options } = this;
    const { path, at } = target;
    if (base.length > (options.maxBytes ?? Number.POSITIVE_INFINITY) || !this.#places.areCurrent())
      return undefined;
    if (path.root.rules.shown(at, base, path.given) !== base) return undefined; // it gets hidden values back
    const made = await this.#transform([{ path, bytes: base }]);
    if (made.length === 0) return {};
    const changes = ResolvedChanges.ofWrites(made, [target], this.#way);
    const [one] = changes?.changes ?? [];
    if (changes === undefined || one === undefined || made.length > 1) return undefined;
    changes.confirm();
    changes.changes[0] = { ...one, base };
    await applyRules(changes, options);
    const bytes = plainContent(changes);
    return bytes && { bytes, changes };
  }
}

/** Whether nothing about the commit of an edit is special. */
export function isShareable({ publish, id, confirm, unmasked, signal }: CommitOptions): boolean {
  return (
    publish === undefined &&
    id === undefined &&
    confirm === undefined &&
    unmasked !== true &&
    signal?.aborted !== true
  );
}

/** The new content, if the only change is that of an existing file's content. */
export function plainContent({ changes }: ResolvedChanges): Buffer | undefined {
  const [one] = changes;
  if (changes.length !== 1 || one?.change.kind !== "write" || !Buffer.isBuffer(one.base)) return undefined;
  const { bytes, expect, mode, modified, origins } = one.change;
  if (expect !== undefined || mode !== undefined || modified !== undefined || origins !== undefined)
    return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
