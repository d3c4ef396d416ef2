// What a fork changed since its base was frozen, or since it was last merged. Ignored files, `.git` and special files
// are not part of it, nor are files that a rule hides from the caller: a merge without rules includes those.
import { Fault, type Kind } from "../fault.ts";
import type { ChangeEffect } from "../workspace/archive/log.ts";
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

/** The most comparisons of a fork in which files are moved meanwhile. */
const comparisons = 10;

/**
 * In the order of paths. While something is moved in the fork, a comparison may see that the old path is gone, and miss
 * the new one. So a path counts as gone only if it was gone before the others were listed, and no change has moved
 * anything since; otherwise the fork is compared again. A program that moves a file twice while the fork is compared is
 * not noticed. Faults: `base_changing`.
 */
export async function forkChanges(trees: ForkTrees): Promise<readonly ForkChange[]> {
  let before = await compared(trees);
  if (!before.some(isGone)) return before;
  for (let round = 1; round <= comparisons; round++) {
    const gone = new Set(before.filter(isGone).map(({ path }) => path));
    const moves = await Moves.watch(trees.fork);
    const changes = await compared(trees);
    const left = changes.filter(isGone);
    if (left.length === 0) return changes;
    if (left.every(({ path }) => gone.has(path)) && !(await moves.any())) return changes;
    before = changes;
  }
  throw new Fault("base_changing", { name: trees.record.name });
}

function isGone({ before, after }: ForkChange): boolean {
  return before !== undefined && after === undefined;
}

/** Detects recorded moves and removals in a workspace, by any server or command. */
class Moves {
  readonly #workspace: Workspace;
  readonly #past: ReadonlySet<string>;

  private constructor(workspace: Workspace, past: ReadonlySet<string>) {
    this.#workspace = workspace;
    this.#past = past;
  }

  static async watch(workspace: Workspace): Promise<Moves> {
    await workspace.allRecorded();
    return new Moves(workspace, new Set(workspace.archive.changes.ids()));
  }

  /** Since `watch`. */
  async any(): Promise<boolean> {
    const { archive, roots } = this.#workspace;
    await this.#workspace.allRecorded();
    const made = archive.changes.ids().filter(id => !this.#past.has(id));
    // A command that moves something is recorded as one that removes and creates.
    return made.some(id =>
      archive.changes
        .get(id)
        ?.files.some(({ at, effect }) => leaves.has(effect) && roots.some(({ path }) => isWithin(at, path))),
    );
  }
}

const leaves: ReadonlySet<ChangeEffect> = new Set<ChangeEffect>(["moved", "removed"]);

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
  for (const path of [...paths].sort()) {
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
