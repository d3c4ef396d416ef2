// What a fork changed since its base was frozen, or since it was last merged. Ignored files, `.git` and special files
// are not part of it.
import { join } from "node:path";
import type { Kind } from "../fault.ts";
import { sys } from "../workspace/commit/syscalls.ts";
import { addressOf } from "../workspace/footprint/raw-names.ts";
import { bytesOf, display, type Handle } from "../workspace/handle.ts";
import { type Pair, treeDifference } from "../workspace/tree/tree-difference.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Bases } from "./bases.ts";
import { Ignored } from "./ignored.ts";
import type { Layout } from "./layout.ts";
import { FrozenView, isSameSide, LiveView, type SideAtPath, type TreeView } from "./merge-side.ts";
import type { WorkspaceRecord } from "./record.ts";

/** A path that differs. Written names, from the root. */
export interface ForkChange {
  readonly path: string;
  readonly before?: SideAtPath | undefined;
  readonly after?: SideAtPath | undefined;
}

export interface ForkTrees {
  readonly layout: Layout;
  readonly record: WorkspaceRecord;
  /** The frozen base. */
  readonly frozen: Handle;
  readonly bases: Bases;
  readonly fork: Workspace;
  /** The base as it is now; absent where that cannot be reached. */
  readonly base?: Workspace | undefined;
  readonly signal?: AbortSignal | undefined;
}

const mergeable: ReadonlySet<Kind> = new Set(["file", "directory", "symlink"]);

/** In the order of paths. */
export async function forkChanges(trees: ForkTrees): Promise<ForkChange[]> {
  const { frozen, fork, base, bases, signal } = trees;
  const [ignored, ignoredBefore] = [new Ignored(fork), base && new Ignored(base)];
  const root = fork.roots[0];
  if (root === undefined) return [];
  const differences = await treeDifference(frozen, root.handle, {
    untouched: untouchedIn(trees),
    signal,
    skip(path, kind, existed) {
      if (path === ".git" || path.endsWith("/.git")) return true;
      const written = display(path);
      const isDirectory = kind === "directory";
      if (!ignored.has(written, isDirectory)) return false;
      // A rule that only the fork has does not hide what it changed of the base's files.
      return !existed || (ignoredBefore?.has(written, isDirectory) ?? true);
    },
  });
  const [before, after] = [new BaseView(new FrozenView(frozen), bases), new LiveView(fork)];
  const paths = new Set([...differences.map(({ path }) => display(path)), ...bases.paths()]);
  const changes: ForkChange[] = [];
  for (const path of [...paths].sort()) {
    const change = { path, before: before.at(path), after: after.at(path) };
    if (change.after !== undefined && !mergeable.has(change.after.kind)) continue;
    if (!(await isSameSide(change.before, change.after))) changes.push(change);
  }
  return changes;
}

/** What a fork is compared with: its frozen base, and behind that what was merged since. */
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

/** How the copy method tells that a file is still the base's, without reading it. */
function untouchedIn({ layout, record }: ForkTrees): (pair: Pair) => boolean {
  const { method, tree = "", created } = record;
  switch (method) {
    case "overlay": {
      const upper = join(layout.trees, tree, "upper");
      // What was never written is not in the upper layer, and shows the inode of the lower one.
      return ({ path, before, after }) =>
        before.inode === after.inode &&
        before.kind === after.kind &&
        sys.lstat(below(upper, path)) === undefined;
    }
    case "link":
      return ({ before, after }) =>
        after.kind === "file" && before.inode === after.inode && before.device === after.device;
    case "reflink":
    case "copy": {
      // Copies have the times of the base. What was written since the fork was made has a later time of change.
      const until = BigInt(created - coarseClockMs) * 1_000_000n;
      return ({ before, after }) =>
        after.kind === "file" &&
        before.kind === "file" &&
        before.size === after.size &&
        before.mode === after.mode &&
        before.modified / 1_000_000n === after.modified / 1_000_000n &&
        after.changed < until;
    }
  }
}

/** File systems take their times from a clock that ticks this slowly. */
const coarseClockMs = 50;

function below(directory: string, path: string): string | Buffer {
  const address = addressOf(path);
  return typeof address === "string"
    ? `${directory}/${address}`
    : Buffer.concat([Buffer.from(`${bytesOf(directory)}/`, "latin1"), address]);
}
