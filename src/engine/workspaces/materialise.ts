// The files of a workspace that is in the directory of workspaces: made, made usable again after a restart of the
// machine, and taken away.
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import { mountOverlay, unmount } from "../shell/overlay.ts";
import { copyTreeAttributes } from "../shell/tree-attributes.ts";
import { purgeLater } from "../workspace/commit/purge.ts";
import { makeDirectory } from "../workspace/commit/state.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { errnoOf } from "../workspace/errno.ts";
import { Handle } from "../workspace/handle.ts";
import { claim, claimed } from "../workspace/system/claim.ts";
import { cloneTree } from "../workspace/tree/clone-tree.ts";
import { linkTree } from "../workspace/tree/link-tree.ts";
import type { Layout } from "./layout.ts";
import type { CopyMethod } from "./record.ts";

/** What a tree is made from: nothing, a directory, or a snapshot. */
export interface Source {
  readonly directory: string;
  readonly method: CopyMethod;
  /** Of a snapshot. */
  readonly snapshot?: string;
}

/** Makes `trees/<tree>`. The caller holds the claim on it, and removes what a failure leaves. */
export async function materialise(
  layout: Layout,
  tree: string,
  source: Source | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const place = join(layout.trees, tree);
  makeDirectory(place);
  makeDirectory(join(place, "tree"));
  if (source === undefined) return sys.chmodAt(join(place, "tree"), 0o755);
  if (source.method === "overlay" && source.snapshot !== undefined) {
    makeDirectory(join(place, "upper"));
    makeDirectory(join(place, "work"));
    using lower = Handle.open(source.directory, { directory: true });
    sys.chmodAt(join(place, "upper"), lower.stat().mode & 0o7777);
    return await mountTree(layout, tree, source.snapshot);
  }
  using from = Handle.open(source.directory, { directory: true, own: source.snapshot !== undefined });
  using to = Handle.open(join(place, "tree"), { directory: true, own: true }); // no server uses it yet
  if (source.method === "link" && source.snapshot !== undefined) return await linkTree(from, to, signal);
  const placing = source.method === "overlay" ? "copy" : source.method;
  const { copied } = await cloneTree(from, to, { placing, signal });
  await copyTreeAttributes(source.directory, join(place, "tree"), copied, signal);
}

async function mountTree(layout: Layout, tree: string, snapshot: string): Promise<void> {
  const failed = await mountOverlay({
    directory: join(layout.trees, tree),
    lower: `../../snapshots/${snapshot}/tree`,
    upper: "upper",
    work: "work",
    at: "tree",
  });
  if (failed !== undefined) throw new Fault("not_mounted", { reason: failed });
}

/** Whether something is mounted where the tree is seen. */
function isMounted(place: string): boolean {
  const [outer, inner] = [sys.lstat(place), sys.lstat(join(place, "tree"))];
  return outer !== undefined && inner !== undefined && outer.dev !== inner.dev;
}

/** Mounts an overlay that is not mounted: the machine was restarted. Two processes do it once. */
export async function remount(layout: Layout, tree: string, snapshot: string): Promise<void> {
  const place = join(layout.trees, tree);
  if (isMounted(place)) return;
  using _ = await mounting(layout, tree);
  if (!isMounted(place) && sys.lstat(place) !== undefined) await mountTree(layout, tree, snapshot);
}

/** Held while a tree that others may know is mounted or taken away: what is moved away must not be mounted again. */
function mounting({ claims }: Layout, tree: string): Promise<Disposable> {
  return claimed(claims, `mount-${tree}`);
}

/**
 * Between two tries to unmount. Files that were written are flushed in the background, by any process that serves the
 * tree, and are open for that moment.
 */
const longestPauseMs = 1280;

/** Takes a tree away: false if its mount is still in use. */
export async function dismantle(layout: Layout, tree: string): Promise<boolean> {
  const away = `tree-${tree}`;
  {
    using _ = await mounting(layout, tree);
    const place = join(layout.trees, tree);
    if (sys.lstat(place) === undefined) return true;
    if (!(await isUnmounted(place))) return false;
    sys.rename(place, join(layout.removing, away));
  }
  await removeMoved(layout, away);
  return true;
}

async function isUnmounted(place: string): Promise<boolean> {
  for (let pause = 10; isMounted(place); pause *= 2) {
    if ((await unmount(place, "tree")) === undefined) continue;
    if (pause > longestPauseMs) return false;
    await setTimeout(pause);
  }
  return true;
}

/**
 * Removes what was moved to `removing`, unless another process does: two would get in each other's way. The mount(8) of
 * a killed process may have mounted the tree after it was moved.
 */
export async function removeMoved({ claims, removing }: Layout, name: string): Promise<void> {
  using held = claim(claims, `removing-${name}`);
  if (held === undefined || !(await isUnmounted(join(removing, name)))) return;
  using directory = Handle.open(removing);
  await purgeLater(directory, name);
}

/** Notes that a workspace was used just now. */
export function touchUsed(layout: Layout, tree: string): void {
  try {
    sys.touch(join(layout.trees, tree), new Date());
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error; // it was removed
  }
}

/** When a workspace was last used, in milliseconds since 1970. */
export function lastUsed(layout: Layout, tree: string): number | undefined {
  return sys.lstat(`${layout.trees}/${tree}`)?.mtimeMs;
}
