// The changes of a commit with their paths resolved to entries, before anything is locked or read.
import { clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { entryKey, HeldDirectories } from "../disk/held-directories.ts";
import { sys } from "../disk/syscalls.ts";
import { system } from "../errno.ts";
import { atOnce, gently, inSlices, type Steps } from "../footprint/time-slice.ts";
import type { Handle } from "../handle.ts";
import type { WorkspacePath } from "../path.ts";
import { resolvePath } from "../resolve.ts";
import type { Root } from "../root.ts";
import type { Exactness } from "../stored-name.ts";
import type { Change, CommitOptions } from "./change.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import type { Keys } from "./lock.ts";
import { isStillMissing, makesDirectory, resolveTarget, type Target, type TargetOptions } from "./target.ts";

export interface ResolvedChange {
  readonly change: Change;
  /**
   * The entry that is written, removed or created, or the destination. Undefined for `mkdir` of a root, which exists.
   */
  readonly target: Target | undefined;
  /** The source of a move. */
  readonly source?: Target;
  /** The source of a copy, held open. */
  readonly original?: { readonly handle: Handle; readonly at: string };
  /** What an edit read there before it made this change. */
  readonly base?: Buffer | "absent";
}

export class ResolvedChanges implements Disposable {
  readonly roots: readonly Root[];
  readonly places: HeldDirectories;
  readonly changes: ResolvedChange[] = [];
  /** When they began to be resolved: what `confirm` finds is how things are later than this. */
  readonly since = clock();
  /**
   * The sandboxes that showed these paths when the rules were applied, by name, with a path that each covers, as the caller
   * wrote it. Undefined where the changes are made whatever runs.
   */
  sandboxes: ReadonlyMap<string, string | undefined> | undefined;
  /** Our own state directory. */
  readonly state: string;

  readonly #ownsPlaces: boolean;

  private constructor(roots: readonly Root[], state: string, places?: HeldDirectories) {
    this.roots = roots;
    this.state = state;
    this.places = places ?? new HeldDirectories();
    this.#ownsPlaces = places === undefined;
  }

  /**
   * Writes to files that were resolved before they were read. The directories stay the caller's. Undefined if there is
   * any other change: then all of them have to be resolved together.
   */
  static ofWrites(
    changes: readonly Change[],
    targets: readonly Target[],
    { roots, places, state }: Pick<TargetOptions, "roots" | "places" | "state">,
  ): ResolvedChanges | undefined {
    const known = new Map(targets.map(target => [target.path, target]));
    const resolvedChanges = new ResolvedChanges(roots, state, places);
    for (const change of changes) {
      const target = change.kind === "write" ? known.get(change.path) : undefined;
      if (target === undefined) return undefined;
      target.path.root.rules.admitChange(target.at, target.path.given); // rules may have changed meanwhile
      resolvedChanges.changes.push({ change, target });
    }
    atOnce(resolvedChanges.#refusingDuplicates());
    return resolvedChanges;
  }

  static async of(
    roots: readonly Root[],
    state: string,
    changes: readonly Change[],
    options: CommitOptions,
    edited = false,
  ): Promise<ResolvedChanges> {
    const resolvedChanges = new ResolvedChanges(roots, state);
    try {
      const base = { roots, places: resolvedChanges.places, state };
      await inSlices(changes, change =>
        resolvedChanges.changes.push(resolveChange(change, base, options, edited)),
      );
      await gently(resolvedChanges.#refusingDuplicates());
      return resolvedChanges;
    } catch (error) {
      resolvedChanges[Symbol.dispose]();
      throw error;
    }
  }

  /** The names that must be held. */
  get keys(): Keys {
    const keys = new Map<string, string>();
    for (const target of this.targets) keys.set(target.key, target.path.given);
    return keys;
  }

  /** Checks, once the locks are held, that everything is still where it was resolved to. */
  confirm(): void {
    atOnce(this.#confirming());
  }

  /** The same for any number of changes: everything else runs in between. */
  confirmInTurns(): Promise<void> {
    return gently(this.#confirming());
  }

  *#confirming(): Steps<void> {
    const moved = () => new ConcurrentChange(this.targets[0]?.path.given ?? "");
    if (!this.places.areCurrent()) throw moved();
    for (const target of this.targets) {
      if (!isStillMissing(target, this.places)) throw moved();
      yield;
    }
  }

  get targets(): Target[] {
    const targets: Target[] = [];
    for (const { source, target } of this.changes) {
      if (source !== undefined) targets.push(source);
      if (target !== undefined) targets.push(target);
    }
    return targets;
  }

  [Symbol.dispose](): void {
    if (this.#ownsPlaces) this.places[Symbol.dispose]();
    for (const { original } of this.changes) original?.handle.close();
  }

  *#refusingDuplicates(): Steps<void> {
    const seen = new Map<string, Change["kind"]>();
    for (const { change, target, source } of this.changes) {
      yield;
      for (const one of source?.at === target?.at ? [target] : [source, target]) {
        if (one === undefined) continue;
        const key = entryKey(one.entry);
        const isDirectory = this.places.newAt(one.entry) !== undefined;
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
 * A new entry gets the name as given, even beside one in another Unicode form, unless the caller means either form. A
 * file that was read before (`edited`, or with an expectation) is found under the name that it was read by.
 */
function resolveChange(
  change: Change,
  base: Omit<TargetOptions, "missing">,
  options: CommitOptions,
  edited: boolean,
): ResolvedChange {
  const missing = options.parents ? ("make" as const) : ("parent_not_found" as const);
  const there = { ...base, missing: "not_found" as const };
  const forCreation = (path: WorkspacePath) => {
    const exact: Exactness = options.unicodeForms === "either" && !path.exact ? "form" : true;
    return { ...base, missing, exact };
  };
  switch (change.kind) {
    case "write": {
      const wasRead = edited || (change.expect !== undefined && change.expect !== "absent");
      const how = wasRead ? { ...base, missing } : forCreation(change.path);
      const links = options.links ?? "follow";
      return { change, target: resolveTarget(change.path, { ...how, links }) };
    }
    case "remove": {
      const target = resolveTarget(change.path, there);
      base.places.vacated.add(entryKey(target.entry));
      return { change, target };
    }
    case "mode":
      return { change, target: resolveTarget(change.path, there) };
    case "move":
      return { change, ...resolveMove(change, there, forCreation(change.to)) };
    case "copy": {
      const resolved = resolvePath(base.roots, change.from);
      try {
        return {
          change,
          original: { handle: resolved.handle, at: resolved.path },
          target: resolveTarget(change.to, forCreation(change.to)),
        };
      } catch (error) {
        resolved.handle.close();
        throw error;
      }
    }
    case "mkdir": {
      const target = change.path.isRoot ? undefined : resolveTarget(change.path, forCreation(change.path));
      if (target !== undefined && isFree(target, base.places)) makesDirectory(target, base);
      return { change, target };
    }
    case "symlink":
      return { change, target: resolveTarget(change.path, forCreation(change.path)) };
  }
}

/** A move to another spelling of the same name gives it that spelling. */
function resolveMove(
  { from, to }: Extract<Change, { kind: "move" }>,
  there: TargetOptions,
  forCreation: TargetOptions,
): { readonly source: Target; readonly target: Target } {
  const source = resolveTarget(from, there);
  const target = resolveTarget(to, forCreation);
  const isItself = entryKey(target.entry) === entryKey(source.entry);
  return {
    source,
    target: isItself ? resolveTarget(to, { ...forCreation, exact: true, respell: true }) : target,
  };
}

/** Whether no entry exists at a target. */
function isFree({ entry, path }: Target, places: HeldDirectories): boolean {
  if (places.vacated.has(entryKey(entry))) return true;
  return (
    places.isNew(entry.place) || system(path.given, () => sys.lstat(places.address(entry))) === undefined
  );
}

/** The entries of some paths, as a write to them would find them. */
export async function resolveTargets(
  paths: readonly WorkspacePath[],
  base: Omit<TargetOptions, "missing">,
  options: CommitOptions,
): Promise<Target[]> {
  const missing = options.parents ? ("make" as const) : ("parent_not_found" as const);
  const how = { ...base, missing, links: options.links ?? ("follow" as const) };
  const targets: Target[] = [];
  await inSlices(paths, path => targets.push(resolveTarget(path, how)));
  return targets;
}
