// What a fork changed since its base was frozen, or since it was last merged. Ignored files, `.git` and special files
// are not part of it, nor are files that a rule hides from the caller: a merge without rules includes those.
import { Fault, type Kind } from "../fault.ts";
import type { RecordedFile } from "../workspace/archive/log.ts";
import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import { display } from "../workspace/handle.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Bases } from "./bases.ts";
import type { ForkOrigin } from "./fork-origin.ts";
import { Ignored } from "./ignored.ts";
import { isSameSide, isUnwritten, LiveView, type SideAtPath, type TreeView } from "./merge-side.ts";
import type { WorkspaceRecord } from "./record.ts";

/** A path that differs. Written names, from the root. */
export interface ForkChange {
  readonly path: string;
  readonly before?: SideAtPath | undefined;
  readonly after?: SideAtPath | undefined;
}

export interface ForkTrees {
  readonly record: WorkspaceRecord;
  /** What the fork began as. */
  readonly origin: ForkOrigin;
  readonly bases: Bases;
  readonly fork: Workspace;
  /** The base as it is now; absent where that cannot be reached. */
  readonly base?: Workspace | undefined;
  readonly signal?: AbortSignal | undefined;
}

const mergeable: ReadonlySet<Kind> = new Set(["file", "directory", "symlink"]);

/** The most comparisons of a fork that is changed meanwhile. */
const comparisons = 10;

/**
 * In the order of paths. A comparison looks at one path after the other, so a change of several paths that is made
 * meanwhile may be seen in part: a move as a deletion, or as a copy. So a comparison counts only if no such change was
 * recorded during it, and a path as gone only if it was gone in the comparison before it too: other programs move files
 * without a record. A program that moves a file twice while the fork is compared is not noticed. `read` reads all
 * contents before that is decided. Faults: `base_changing`.
 */
export async function forkChanges(
  trees: ForkTrees,
  { read = false }: { readonly read?: boolean } = {},
): Promise<readonly ForkChange[]> {
  let gone: ReadonlySet<string> = new Set();
  for (let round = 1; round <= comparisons; round++) {
    const watch = await CompoundChanges.watch(trees.fork);
    const changes = await compared(trees);
    if (read) for (const { after } of changes) if (after?.kind === "file") await after.bytes();
    const left = changes.filter(isGone).map(({ path }) => path);
    const wereGone = left.every(path => gone.has(path));
    gone = new Set(left);
    if (wereGone && !(await watch.any())) return changes;
  }
  throw new Fault("base_changing", { name: trees.record.name });
}

function isGone({ before, after }: ForkChange): boolean {
  return before !== undefined && after === undefined;
}

/** Detects recorded changes of several paths in a workspace, by any server or command. */
class CompoundChanges {
  readonly #workspace: Workspace;
  readonly #past: ReadonlySet<string>;

  private constructor(workspace: Workspace, past: ReadonlySet<string>) {
    this.#workspace = workspace;
    this.#past = past;
  }

  static async watch(workspace: Workspace): Promise<CompoundChanges> {
    await workspace.allRecorded();
    return new CompoundChanges(workspace, new Set(workspace.archive.changes.ids()));
  }

  /** Since `watch`. */
  async any(): Promise<boolean> {
    const { archive, roots } = this.#workspace;
    await this.#workspace.allRecorded();
    const made = archive.changes.ids().filter(id => !this.#past.has(id));
    return made.some(id => {
      const within = archive.changes
        .get(id)
        ?.files.filter(({ at }) => roots.some(({ path }) => isWithin(at, path)));
      return within !== undefined && (within.length > 1 || within.some(reachesFurther));
    });
  }
}

/** Whether the change of a path is one of other paths too: where it was moved from, or what is below it. */
function reachesFurther({ effect, kind }: RecordedFile): boolean {
  return effect === "moved" || effect === "removed" || (effect !== "none" && kind === "directory");
}

async function compared(trees: ForkTrees): Promise<ForkChange[]> {
  const { origin, fork, base, bases, signal } = trees;
  const [ignored, ignoredBefore] = [new Ignored(fork), base && new Ignored(base)];
  if (fork.roots[0] === undefined) return [];
  const after = new LiveView(fork);
  const skip = (path: string, kind: Kind, existed: boolean) => {
    if (path === ".git" || path.endsWith("/.git")) return true;
    const written = display(path);
    if (after.isHidden(written)) return true;
    const isDirectory = kind === "directory";
    if (!ignored.has(written, isDirectory)) return false;
    // A rule that only the fork has does not hide what it changed of the base's files.
    return !existed || (ignoredBefore?.has(written, isDirectory) ?? true);
  };
  const changed = await origin.changedIn(fork, skip, signal);
  const before = new BaseView(origin.view, bases);
  const paths = new Set([...changed, ...bases.paths()].filter(path => !after.isHidden(path)));
  const changes: ForkChange[] = [];
  const slice = new TimeSlice();
  for (const path of [...paths].sort()) {
    if (slice.isOver) await slice.turn();
    const change = { path, before: before.at(path), after: after.at(path) };
    if (change.after !== undefined && !mergeable.has(change.after.kind)) continue;
    const isSame = after.isShownWhole(path) ? isSameSide : isUnwritten;
    if (!(await isSame(change.before, change.after))) changes.push(change);
  }
  return changes;
}

/** What a fork is compared with: its frozen base, and after that what was merged since. */
class BaseView implements TreeView {
  readonly #frozen: TreeView;
  readonly #bases: Bases;

  constructor(frozen: TreeView, bases: Bases) {
    this.#frozen = frozen;
    this.#bases = bases;
  }

  at(path: string): SideAtPath | undefined {
    return this.#bases.has(path) ? this.#bases.at(path) : this.#frozen.at(path);
  }
}
