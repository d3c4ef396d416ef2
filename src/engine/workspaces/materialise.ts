// The files of a workspace that lies in the directory of workspaces: made, made usable again after a restart of the
// machine, and taken away.
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import { mountOverlay, unmount } from "../shell/overlay.ts";
import { copyTreeAttributes } from "../shell/tree-attributes.ts";
import { purgeLater } from "../workspace/commit/purge.ts";
import { makeDirectory } from "../workspace/commit/state.ts";
import { sys } from "../workspace/commit/syscalls.ts";
import { errnoOf } from "../workspace/errno.ts";
import { Handle } from "../workspace/handle.ts";
import { claimed } from "../workspace/system/claim.ts";
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
function isMounted(layout: Layout, tree: string): boolean {
  const place = join(layout.trees, tree);
  const [outer, inner] = [sys.lstat(place), sys.lstat(join(place, "tree"))];
  return outer !== undefined && inner !== undefined && outer.dev !== inner.dev;
}

/** Mounts an overlay that is not mounted: the machine was restarted. Two processes do it once. */
export async function remount(layout: Layout, tree: string, snapshot: string): Promise<void> {
  if (isMounted(layout, tree)) return;
  using _ = await claimed(layout.claims, `mount-${tree}`);
  if (!isMounted(layout, tree)) await mountTree(layout, tree, snapshot);
}

/**
 * Between two tries to unmount. Files that were written are flushed in the background, by any process that serves the
 * tree, and are open for that moment.
 */
const longestPauseMs = 1280;

/** Takes a tree away: false if its mount is still in use. */
export async function dismantle(layout: Layout, tree: string): Promise<boolean> {
  const place = join(layout.trees, tree);
  if (sys.lstat(place) === undefined) return true;
  for (let pause = 10; isMounted(layout, tree); pause *= 2) {
    if ((await unmount(place, "tree")) === undefined) continue;
    if (pause > longestPauseMs) return false;
    await setTimeout(pause);
  }
  sys.rename(place, join(layout.removing, `tree-${tree}`));
  using removing = Handle.open(layout.removing);
  await purgeLater(removing, `tree-${tree}`);
  return true;
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
