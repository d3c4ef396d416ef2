// What commands did that have ended, until it is in the log. Each change is tried again under its id and for its author.
import type { By } from "../workspace/archive/log.ts";
import type { OwnPaths } from "../workspace/commit/publication.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { pathsOf } from "./entry-parts.ts";
import { FollowedPaths, followAll } from "./followed-paths.ts";

/** What one command did. */
export interface PendingChange {
  readonly by: By;
  /** Undefined: everything. */
  readonly own: FollowedPaths | undefined;
  readonly maxBytes: number | undefined;
}

export class WaitingChanges {
  /** Those that could not be published, by id. */
  readonly #pending = new Map<string, PendingChange>();
  readonly #followed = new Set<FollowedPaths>();
  /**
   * Ids that are in the log, while there may be more to publish, with the paths of their entries. An id is used once, and
   * what those files hold since then is the work of others.
   */
  readonly #used = new Map<string, Set<string>>();

  get count(): number {
    return this.#pending.size;
  }

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  get all(): readonly (readonly [id: string, change: PendingChange])[] {
    return [...this.#pending];
  }

  set(id: string, change: PendingChange): void {
    this.#pending.set(id, change);
  }

  delete(id: string): void {
    const own = this.#pending.get(id)?.own;
    this.#pending.delete(id);
    this.#used.delete(id);
    if (own !== undefined) this.#followed.delete(own);
  }

  /** The paths of a change that is being published, until `unfollow`. */
  follow(own: OwnPaths | undefined): FollowedPaths | undefined {
    const followed = own && new FollowedPaths(own);
    if (followed !== undefined) this.#followed.add(followed);
    return followed;
  }

  /** A change that waits now is followed further. */
  unfollow(own: FollowedPaths | undefined): void {
    if (own === undefined || this.all.some(([, change]) => change.own === own)) return;
    this.#followed.delete(own);
  }

  /** To be called with each entry of the log. */
  advance(operations: readonly Operation[], root: string): void {
    for (const own of this.#followed) own.follow(operations, root);
    for (const paths of this.#used.values()) followAll(paths, operations);
  }

  noteUsed(id: string, operations: readonly Operation[]): void {
    const paths = this.#used.get(id) ?? new Set();
    for (const path of pathsOf(operations)) paths.add(path);
    this.#used.set(id, paths);
  }

  /** The paths of an id that is in the log. */
  used(id: string | undefined): ReadonlySet<string> | undefined {
    return id === undefined ? undefined : this.#used.get(id);
  }

  /** Whether the id is in the log. There is no more to publish under it. */
  forgetUsed(id: string): boolean {
    return this.#used.delete(id);
  }
}
