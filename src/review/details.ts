// One change or one task with its differences, and from the start of a task to what is on the disk now.
import { netTexts } from "../engine/history/hunks.ts";
import { type NetFile, netOf } from "../engine/history/net.ts";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
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
  const files = netOf(records)
    .flatMap(one => expanded(viewer, edited(one, records)))
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
  for (const { at, before } of netOf(records).flatMap(one => expanded(viewer, one))) {
    if (file !== undefined && at !== file) continue;
    const [old, now] = [sideOf(workspace, before), await sideNow(workspace, at)];
    if (isSame(old, now)) continue;
    files.push({ at, before: old, after: now });
  }
  return await differenceOf(viewer, files, file === undefined ? overview : wholeFile);
}

/** A file that was moved and edited in one step is compared with what it was. */
function edited(net: NetFile, records: readonly ChangeRecord[]): NetFile {
  if (net.from === undefined) return net;
  for (const { files } of records) {
    const moved = files.find(({ at, effect }) => at === net.at && effect === "moved");
    if (moved?.before?.kind === "file" && net.after?.kind === "file") return { ...net, before: moved.before };
  }
  return { ...net, before: net.after };
}

/** A directory that was removed or copied with what it held, file by file. */
function expanded({ workspace }: Viewer, net: NetFile): NetFile[] {
  const { before, after, at } = net;
  if (before?.kind === "directory" && after === undefined)
    return [
      net,
      ...[...filesIn(workspace, at, before)].map(one => ({
        at: one.at,
        before: one.snapshot,
        after: undefined,
      })),
    ];
  if (after?.kind === "directory" && before === undefined)
    return [
      net,
      ...[...filesIn(workspace, at, after)].map(one => ({
        at: one.at,
        before: undefined,
        after: one.snapshot,
      })),
    ];
  return [net];
}

function isSame(a: ShownFile["before"], b: ShownFile["after"]): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind !== b.kind) return false;
  if (a.kind === "symlink" && b.kind === "symlink") return a.target === b.target;
  if (a.kind !== "file" || b.kind !== "file") return true;
  if (!("bytes" in a) || !("bytes" in b)) return a.size === b.size && a.mode === b.mode;
  return a.bytes.equals(b.bytes) && a.mode === b.mode;
}
