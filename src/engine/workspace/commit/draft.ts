// The changes of a commit with their paths resolved to spots, before anything is locked or looked at.
import { Fault } from "../../fault.ts";
import { system } from "../errno.ts";
import { inSlices } from "../footprint/time-slice.ts";
import type { Handle } from "../handle.ts";
import type { WorkspacePath } from "../path.ts";
import { land } from "../resolve.ts";
import type { Root } from "../root.ts";
import type { Change, CommitOptions } from "./change.ts";
import type { Keys } from "./lock.ts";
import { Overtaken } from "./overtaken.ts";
import { Places, spotKey } from "./place.ts";
import { sys } from "./syscalls.ts";
import { type Aim, aim, isStillMissing, makesDirectory, type Target } from "./target.ts";

export interface Resolved {
  readonly change: Change;
  /** What is written, removed, made, or moved and copied to. Undefined for a root that is to be made: it is there. */
  readonly target: Target | undefined;
  /** What is moved. */
  readonly source?: Target;
  /** What is copied, held. */
  readonly original?: { readonly handle: Handle; readonly at: string };
  /** What an edit read there before it made this change. */
  readonly base?: Buffer | "absent";
}

export class Draft implements Disposable {
  readonly roots: readonly Root[];
  readonly places = new Places();
  readonly changes: Resolved[] = [];
  /** Our own state directory. */
  readonly state: string;

  private constructor(roots: readonly Root[], state: string) {
    this.roots = roots;
    this.state = state;
  }

  static async of(
    roots: readonly Root[],
    state: string,
    changes: readonly Change[],
    options: CommitOptions,
    edited = false,
  ): Promise<Draft> {
    const draft = new Draft(roots, state);
    try {
      const way = { roots, places: draft.places, state };
      await inSlices(changes, change => draft.changes.push(resolved(change, way, options, edited)));
      draft.#refuseDuplicates();
      return draft;
    } catch (error) {
      draft[Symbol.dispose]();
      throw error;
    }
  }

  /** The names that must be held. */
  get keys(): Keys {
    const keys = new Map<string, string>();
    for (const target of this.targets) keys.set(target.key, target.path.given);
    return keys;
  }

  /** Everything must still be where it was resolved to. Asked once the locks are held. */
  confirm(): void {
    const targets = this.targets;
    if (this.places.areCurrent() && targets.every(target => isStillMissing(target, this.places))) return;
    throw new Overtaken(targets[0]?.path.given ?? "");
  }

  get targets(): Target[] {
    return this.changes.flatMap(({ target, source }) => [source, target].filter(one => one !== undefined));
  }

  [Symbol.dispose](): void {
    this.places[Symbol.dispose]();
    for (const { original } of this.changes) original?.handle.close();
  }

  #refuseDuplicates(): void {
    const seen = new Map<string, Change["kind"]>();
    for (const { change, target, source } of this.changes) {
      for (const one of source?.at === target?.at ? [target] : [source, target]) {
        if (one === undefined) continue;
        const key = spotKey(one.spot);
        const isDirectory = this.places.newAt(one.spot) !== undefined;
        const made = isDirectory && change.kind !== "mkdir" && change.kind !== "remove";
        const before = seen.get(key);
        const takesFreed = before === "remove" && makes.has(change.kind);
        if ((before !== undefined && !takesFreed) || made)
          throw new Fault("duplicate_path", { path: one.path.given });
        seen.set(key, change.kind);
      }
    }
  }
}

const makes: ReadonlySet<Change["kind"]> = new Set(["write", "mkdir", "symlink"]);

/**
 * What may be created gets the name that was asked for, also beside one in another Unicode form. What was read before
 * (`edited`, or by an expectation) is found again under the name that it was read by.
 */
function resolved(
  change: Change,
  way: Omit<Aim, "missing">,
  options: CommitOptions,
  edited: boolean,
): Resolved {
  const missing = options.parents ? ("make" as const) : ("parent_not_found" as const);
  const there = { ...way, missing: "not_found" as const };
  const anew = { ...way, missing, exact: true };
  switch (change.kind) {
    case "write": {
      const wasRead = edited || (change.expect !== undefined && change.expect !== "absent");
      const exact = wasRead ? {} : { exact: true };
      const links = options.links ?? "follow";
      return { change, target: aim(change.path, { ...way, missing, links, ...exact }) };
    }
    case "remove": {
      const target = aim(change.path, there);
      way.places.vacated.add(spotKey(target.spot));
      return { change, target };
    }
    case "mode":
      return { change, target: aim(change.path, there) };
    case "move":
      return { change, source: aim(change.from, there), target: aim(change.to, anew) };
    case "copy": {
      const landing = land(way.roots, change.from);
      try {
        return {
          change,
          original: { handle: landing.handle, at: landing.path },
          target: aim(change.to, anew),
        };
      } catch (error) {
        landing.handle.close();
        throw error;
      }
    }
    case "mkdir": {
      const target = change.path.isRoot ? undefined : aim(change.path, anew);
      if (target !== undefined && isFree(target, way.places)) makesDirectory(target, way);
      return { change, target };
    }
    case "symlink":
      return { change, target: aim(change.path, anew) };
  }
}

/** Whether nothing stands at a target. */
function isFree({ spot, path }: Target, places: Places): boolean {
  if (places.vacated.has(spotKey(spot))) return true;
  return places.isNew(spot.place) || system(path.given, () => sys.lstat(places.address(spot))) === undefined;
}

/** The spots of some paths, as a write to them would find them. */
export function aimAll(
  paths: readonly WorkspacePath[],
  way: Omit<Aim, "missing">,
  options: CommitOptions,
): Target[] {
  const missing = options.parents ? ("make" as const) : ("parent_not_found" as const);
  return paths.map(path => aim(path, { ...way, missing, links: options.links ?? "follow" }));
}
