// One change or one task with its differences, and from the start of a task to what is on the disk now.
import { netTexts } from "../engine/history/hunks.ts";
import { type NetFile, netOf } from "../engine/history/net.ts";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import { gently, TimeSlice } from "../engine/workspace/footprint/time-slice.ts";
import type { Difference } from "./api.ts";
import { differenceOf, overview, type ShownFile, wholeFile } from "./difference.ts";
import { filesIn, maxComparedBytes, sideNow, sideOf } from "./sides.ts";
import type { Viewer } from "./viewer.ts";

/** The net result of changes. `records` are newest first. `file`: only this one, with more of its lines. */
export async function netDifference(
  viewer: Viewer,
  records: readonly ChangeRecord[],
  file?: string,
): Promise<Difference> {
  const { workspace } = viewer;
  const numbers = new Map(
    (await netTexts(workspace, records, maxComparedBytes))
      .filter(({ opaque }) => !opaque)
      .map(({ at, first }) => [at, first]),
  );
  const files = (await shownNet(viewer, records))
    .filter(({ at }) => file === undefined || at === file)
    .map((one): ShownFile => {
      const first = numbers.get(one.at);
      return {
        at: one.at,
        from: one.from,
        before: sideOf(workspace, one.before),
        after: sideOf(workspace, one.after),
        ...(first !== undefined && { first }),
      };
    });
  return await differenceOf(viewer, files, file === undefined ? overview : wholeFile);
}

/** From how the files of these changes were before the first of them to how they are now. */
export async function differenceToNow(
  viewer: Viewer,
  records: readonly ChangeRecord[],
  file?: string,
): Promise<Difference> {
  const { workspace } = viewer;
  const files: ShownFile[] = [];
  const slice = new TimeSlice();
  for (const { at, from, before } of await shownNet(viewer, records)) {
    if (file !== undefined && at !== file) continue;
    if (slice.isOver) await slice.turn();
    const now = await sideNow(workspace, at);
    const isMoved = from !== undefined && now !== undefined;
    const old = before === undefined && isMoved ? now : sideOf(workspace, before);
    // A masked file is not compared: that would confirm a guess.
    const isMasked = old?.kind === "file" && now?.kind === "file" && !workspace.isShownWhole(at);
    if (!isMasked && !isMoved && isSame(old, now)) continue;
    files.push({ at, ...(isMoved && { from }), before: old, after: now });
  }
  return await differenceOf(viewer, files, file === undefined ? overview : wholeFile);
}

async function shownNet(viewer: Viewer, records: readonly ChangeRecord[]): Promise<NetFile[]> {
  const net = await gently(netOf(records, viewer.workspace));
  const listed = new Set(net.map(({ at }) => at));
  return net.flatMap(one => [
    visible(viewer, one),
    ...inside(viewer, one).filter(({ at }) => !listed.has(at)), // one that was edited before is listed as it was
  ]);
}

/** Where the rules hide the path that a file had before, they hide what it held there. */
function visible({ workspace }: Viewer, net: NetFile): NetFile {
  const { from, after } = net;
  return from !== undefined && workspace.isHidden(from) ? { ...net, before: after } : net;
}

/** The files of a directory that was removed or copied. */
function inside({ workspace }: Viewer, { at, before, after }: NetFile): NetFile[] {
  if (before?.kind === "directory" && after === undefined)
    return [...filesIn(workspace, at, before)].map(one => ({
      at: one.at,
      before: one.snapshot,
      after: undefined,
    }));
  if (after?.kind === "directory" && before === undefined)
    return [...filesIn(workspace, at, after)].map(one => ({
      at: one.at,
      before: undefined,
      after: one.snapshot,
    }));
  return [];
}

function isSame(a: ShownFile["before"], b: ShownFile["after"]): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind !== b.kind) return false;
  if (a.kind === "symlink" && b.kind === "symlink") return a.target === b.target;
  if (a.kind !== "file" || b.kind !== "file") return true;
  if (!("bytes" in a) || !("bytes" in b)) return a.size === b.size && a.mode === b.mode;
  return a.bytes.equals(b.bytes) && a.mode === b.mode;
}
