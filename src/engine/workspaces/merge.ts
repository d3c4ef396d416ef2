// Brings what a fork changed to its base: planned against the base as it is, committed in one change, and noted in the
// fork's log, so that the next merge brings only what is new.
import { Fault, type FaultCode, type MergeConflict } from "../fault.ts";
import { once } from "../once.ts";
import type { WorkspaceStore } from "../store/store.ts";
import type { Change, Commit } from "../workspace/commit/change.ts";
import type { TextOrigin } from "../workspace/rules.ts";
import { isWithinAny, outermost } from "../workspace/within.ts";
import {
  Bases,
  type ForkEvent,
  type ForkLog,
  type RecordedSide,
  type RefusedPath,
  recorded,
} from "./bases.ts";
import { type ForkChange, type ForkTrees, forkChanges } from "./difference.ts";
import { Ignored } from "./ignored.ts";
import type { BaseWrites } from "./masked-writes.ts";
import {
  type Conflict,
  type MergePlan,
  type MergeSource,
  type PlannedPath,
  planMerge,
} from "./merge-plan.ts";
import type { BaseMoves } from "./merge-renames.ts";
import { isSameSide, LiveView, type SideAtPath, type TreeView } from "./merge-side.ts";
import type { ToldOverlap } from "./overlaps.ts";
import type { Candidate } from "./renames.ts";
import { shownLines } from "./shown-conflicts.ts";
import { undosIn } from "./undone.ts";

export interface MergedFile {
  readonly path: string;
  readonly effect: "added" | "changed" | "deleted";
  /** The base had changed it too. */
  readonly merged: boolean;
}

/** What a merge did. */
export interface MergeResult {
  /** The change of the base; absent where there was nothing to do. */
  readonly change?: string;
  /** History could not keep all of it, as a file that is too large: it can be undone only path by path. */
  readonly unkept?: true;
  readonly files: readonly MergedFile[];
  /** The store could not note it: the next merge compares both sides from before this one. */
  readonly unnoted?: true;
}

export interface MergeOptions {
  readonly store: WorkspaceStore;
  /** How events are written in the fork's log. */
  readonly log: ForkLog;
  /** The name of the base, for refusals. */
  readonly baseName: string;
  readonly prefer?: "fork" | "base" | undefined;
}

/** The most attempts at a comparison or merge whose sides keep changing. A shared base may change all the time. */
const rounds = 30;

/** The faults of a side that changed since it was read: a path has appeared, is gone, or has another kind. */
const overtaken: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "changed_meanwhile",
  "exists",
  "not_found",
  "parent_not_found",
  "not_a_file",
  "not_a_directory",
  "not_empty",
  "is_a_link",
]);

type MergeTrees = Omit<ForkTrees, "bases" | "base"> & { readonly base: NonNullable<ForkTrees["base"]> };

/** Faults: `merge_conflict`, and those of a commit. */
export async function mergeFork(trees: MergeTrees, options: MergeOptions): Promise<MergeResult> {
  const bases = await basesOf(trees, options);
  return await untilUndisturbed(() => mergeOnce(trees, bases, options));
}

/** What the fork is compared with. A base that cannot be reached has undone nothing. */
export async function basesOf(
  { record, origin, fork, base }: Omit<ForkTrees, "bases">,
  { store, log }: Pick<MergeOptions, "store" | "log">,
): Promise<Bases> {
  const views = [fork, ...(base ? [base] : [])].map(tree => new LiveView(tree));
  return await Bases.of(store, log, record.id, {
    undosOf: base ? undosIn(base) : async () => [],
    origin: origin.view,
    isShownWhole: path => views.every(view => view.isShownWhole(path)),
  });
}

/** Retries an action while either side keeps changing. */
export async function untilUndisturbed<T>(action: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof Fault) || !overtaken.has(error.code) || round === rounds) throw error;
    }
  }
}

async function mergeOnce(trees: MergeTrees, bases: Bases, options: MergeOptions): Promise<MergeResult> {
  const changes = await forkChanges({ ...trees, bases }, { read: true });
  const writes = await trees.origin.writesIn(trees.base);
  const plan = await planned(trees, bases, changes, writes, options.prefer);
  if (plan.conflicts.length > 0) {
    const shown = withoutMasked(plan.conflicts, maskedIn(trees));
    await remember(options, trees, await refusal(plan.conflicts, shown));
    throw new Fault("merge_conflict", { name: trees.record.name, base: options.baseName, conflicts: shown });
  }
  const note = await merged(changes, plan.outcomes, trees, bases.undos);
  const made = await commit(plan.outcomes, trees);
  const change = made?.id;
  const isNoted =
    changes.length === 0 ||
    (await remember(options, trees, await note(change)).then(() => true, unlessFault));
  const files = plan.outcomes
    .filter(({ theirs, side }) => (side ?? theirs)?.kind !== "directory")
    .map(fileOf);
  return {
    files,
    ...(change !== undefined && { change }),
    ...(made?.recorded === false && { unkept: true as const }),
    ...(!isNoted && { unnoted: true as const }),
  };
}

function planned(
  { origin, fork, base, signal }: MergeTrees,
  bases: Bases,
  changes: readonly ForkChange[],
  writes: BaseWrites,
  prefer: MergeOptions["prefer"],
): Promise<MergePlan> {
  const theirs = new LiveView(base);
  const isMasked = maskedIn({ fork, base });
  const isShownWhole = (path: string) => !isMasked(path);
  const ignored = once(() => new Ignored(base));
  const filesOf = (paths: readonly string[], view: TreeView): Candidate[] =>
    paths.filter(isShownWhole).flatMap(path => {
      const side = view.at(path);
      return side?.kind === "file" ? [{ path, side }] : [];
    });
  const moves = async (): Promise<BaseMoves> => {
    const appeared = await origin.appearedIn(base, signal);
    const gone = appeared.length > 0 ? await origin.goneFrom(base, signal) : [];
    // Files that this fork's own merges added or removed are not moves of the base. Ignore rules are not read for paths
    // that the policy denies.
    const kept = appeared.filter(
      path => !bases.has(path) && isShownWhole(path) && !ignored().has(path, false),
    );
    const own = [...bases.paths()].filter(path => theirs.at(path) === undefined);
    const left = gone.filter(path => !bases.has(path));
    return {
      appeared: filesOf(kept, theirs),
      gone: [...filesOf(left, origin.view), ...filesOf(own, bases)],
    };
  };
  return planMerge({
    changes,
    bases,
    theirs,
    moves,
    rewritten: async () => filesOf(await origin.rewrittenIn(base, signal), origin.view),
    isShownWhole,
    writes,
    prefer,
  });
}

/** Whether callers do not see the real bytes of a path, in the fork or in the base. */
function maskedIn({ fork, base }: Pick<MergeTrees, "fork" | "base">): (path: string) => boolean {
  const views = [new LiveView(fork), new LiveView(base)];
  return path => views.some(view => !view.isShownWhole(path));
}

async function commit(
  outcomes: readonly PlannedPath[],
  { base, signal }: MergeTrees,
): Promise<Commit | undefined> {
  const view = new LiveView(base);
  const doomed = await emptied(outcomes, view);
  const removed: Change[] = [...doomed].map(path => ({
    kind: "remove",
    path: view.pathOf(path),
    recursive: true,
  }));
  const made: Change[] = [];
  for (const { path, theirs, side, sources } of outcomes) {
    const at = view.pathOf(path);
    const isInside = isWithinAny(path, doomed);
    const replaces = theirs !== undefined && (side?.kind !== theirs.kind || side.kind === "symlink");
    if (replaces && !isInside) {
      const expect = theirs.kind === "file" ? { expect: await theirs.bytes() } : {};
      removed.push({ kind: "remove", path: at, ...expect });
    }
    if (side === undefined) continue;
    if (side.kind === "symlink") made.push({ kind: "symlink", path: at, target: side.target ?? "" });
    else if (side.kind === "directory")
      made.push(
        theirs?.kind === "directory"
          ? { kind: "mode", path: at, mode: plainMode(side) }
          : { kind: "mkdir", path: at, mode: plainMode(side) },
      );
    else {
      const expect = replaces
        ? {}
        : { expect: theirs === undefined ? ("absent" as const) : await theirs.bytes() };
      const origins = await hiddenOrigins(sources, view);
      made.push({
        kind: "write",
        path: at,
        bytes: await side.bytes(),
        mode: plainMode(side),
        ...expect,
        ...origins,
      });
    }
  }
  if (removed.length + made.length === 0) return undefined;
  const options = { parents: true, links: "refuse" as const, unmasked: true, ...(signal && { signal }) };
  return await base.commit([...removed, ...made], options);
}

/** The texts that a file is merged from, if a rule hides something of one. */
async function hiddenOrigins(
  sources: readonly MergeSource[] = [],
  view: LiveView,
): Promise<{ origins?: readonly TextOrigin[] }> {
  const files = sources.flatMap(({ path, side }) =>
    side?.kind === "file" ? [{ at: view.pathOf(path).absolute, side }] : [],
  );
  if (files.every(({ at }) => view.workspace.isShownWhole(at))) return {};
  return {
    origins: await Promise.all(files.map(async ({ at, side }) => ({ at, bytes: await side.bytes() }))),
  };
}

/** Only the owner may install a set-user-ID program: a merge drops such a mode. */
function plainMode({ mode }: SideAtPath): number {
  return mode & 0o777;
}

/**
 * The outermost directories that go with all that they hold. That is looked at once more: what came into one since it
 * was planned must not go with it. Faults: `changed_meanwhile`.
 */
async function emptied(outcomes: readonly PlannedPath[], view: LiveView): Promise<ReadonlySet<string>> {
  const all = new Map(outcomes.map(outcome => [outcome.path, outcome]));
  const going = outcomes.filter(
    ({ theirs, side }) => theirs?.kind === "directory" && side?.kind !== "directory",
  );
  const paths = new Set(going.map(({ path }) => path));
  for (const path of paths) {
    for (const name of view.namesIn(path)) {
      const outcome = all.get(`${path}/${name}`);
      const isPlanned = outcome !== undefined && outcome.side === undefined;
      if (!isPlanned || !(await isSameSide(view.at(outcome.path), outcome.theirs)))
        throw new Fault("changed_meanwhile", { path });
    }
  }
  return new Set(outermost(paths));
}

function fileOf({ path, theirs, side, merged: both }: PlannedPath): MergedFile {
  const effect = side === undefined ? "deleted" : theirs === undefined ? "added" : "changed";
  return { path, effect, merged: both && effect === "changed" };
}

type Recorded = { readonly event: ForkEvent; readonly objects: ReadonlyMap<string, Uint8Array> };

/** The log entry of a merge. All files are read before the commit, because a file may be gone after it. */
async function merged(
  changes: readonly ForkChange[],
  outcomes: readonly PlannedPath[],
  trees: MergeTrees,
  undos: readonly string[],
): Promise<(change: string | undefined) => Promise<Recorded>> {
  const objects = new Map<string, Uint8Array>();
  const sides = Object.create(null) as Record<string, RecordedSide>; // a file may be named __proto__
  for (const { path, after } of changes) sides[path] = await recorded(after, objects);
  const earlier = undos.length > 0 ? { undos } : {};
  // A file with lines of both sides is another one than the fork's, which the next merge compares with.
  const own = outcomes.filter(({ merged: both }) => !both).map(({ path }) => path);
  const masked = own.filter(maskedIn(trees));
  return async (change = "") => {
    const writes = masked.length > 0 ? (await trees.origin.writesIn(trees.base)).of(change) : undefined;
    for (const path of masked) {
      const [side, written] = [sides[path], writes?.(path)];
      if (side && written !== undefined) sides[path] = { ...side, written };
    }
    return { event: { type: "merged", change, sides, ...earlier }, objects };
  };
}

/** Only what is shown can be resolved. A first conflict that is too large to be shown whole counts as shown. */
async function refusal(conflicts: readonly Conflict[], shown: readonly MergeConflict[]): Promise<Recorded> {
  const objects = new Map<string, Uint8Array>();
  const paths = Object.create(null) as Record<string, RefusedPath>;
  for (const [i, most] of shownLines(shown, "base").entries()) {
    const { path, reason, told, contents, sides } = conflicts[i] as Conflict;
    const { base = [] } = shown[i] as MergeConflict;
    const cutAt = most < base.length ? base[most - 1]?.line : undefined;
    if (told === undefined && cutAt !== undefined && i > 0) continue;
    const isShown = ({ lines }: ToldOverlap) => cutAt === undefined || lines.theirs[1] <= cutAt + 1;
    paths[path] = {
      reason,
      ours: await recorded(sides.ours, objects),
      theirs: await recorded(sides.theirs, objects),
      ...(contents && told === undefined && { contents }),
      ...(told && { told: told.filter((one, at) => isShown(one) || (i === 0 && at === 0)) }),
    };
  }
  return { event: { type: "refused", paths }, objects };
}

/**
 * Appends to the fork's log. No other process merges this fork now, but one may have a moment ago. The entry has an id
 * like those of changes: where the log is shared, every server makes its next ids so that they sort after this one.
 */
async function remember(
  { store, log }: MergeOptions,
  { base, record: { id } }: MergeTrees,
  { event, objects }: Recorded,
): Promise<void> {
  const made = base.archive.changes.newId();
  const entry = { id: made, body: log.print(event), objects: [...objects.keys()], bytes: 0 };
  for (;;) {
    const info = await store.info(id);
    if (info === undefined) return; // dropped and collected meanwhile
    const { result } = await store.append(id, info.revision, entry, { objects: [...objects] });
    if (result !== "stale") return;
  }
}

/** The merge is done, so this is not a failure. Without the note it is as after a crash. */
function unlessFault(error: unknown): false {
  if (!(error instanceof Fault)) throw error;
  return false;
}

/** Values that a rule masks are not shown in a refusal. */
function withoutMasked(conflicts: readonly Conflict[], isMasked: (path: string) => boolean): MergeConflict[] {
  return conflicts.map(({ told: _told, sides: _sides, ...conflict }) => {
    if (!isMasked(conflict.path)) return conflict;
    const { fork: _fork, base: _base, ...rest } = conflict;
    return { ...rest, masked: true };
  });
}
