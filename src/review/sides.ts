// The two sides of a difference: what a path held before and after, with as much of its contents as can be shown.

import { Fault } from "../engine/fault.ts";
import { isNoText } from "../engine/text/detect.ts";
import { decode, type Text } from "../engine/text/text.ts";
import { listedIn, type Snapshot } from "../engine/workspace/archive/snapshot.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";

/** A larger file is named, and not compared. */
export const maxComparedBytes = 2 * 1024 * 1024;

export type FileSide =
  | { readonly kind: "file"; readonly size: number; readonly mode?: number; readonly bytes: Buffer }
  /** Contents that are not shown: too large, or not kept. */
  | {
      readonly kind: "file";
      readonly size: number;
      readonly mode?: number;
      readonly without: "large" | "unkept";
    }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode?: number }
  | { readonly kind: "special" };

/** What a path was and what it became. Undefined: nothing was there. */
export interface FileSides {
  readonly at: string;
  readonly from?: string | undefined;
  readonly before: FileSide | undefined;
  readonly after: FileSide | undefined;
}

export function sideOf({ archive }: Workspace, snapshot: Snapshot | undefined): FileSide | undefined {
  if (snapshot === undefined) return undefined;
  if (snapshot.kind !== "file") return snapshot;
  const { kind, size, mode, hash } = snapshot;
  if (size > maxComparedBytes) return { kind, size, mode, without: hash === undefined ? "unkept" : "large" };
  const bytes = hash === undefined ? undefined : archive.objects.get(hash);
  return bytes === undefined ? { kind, size, mode, without: "unkept" } : { kind, size, mode, bytes };
}

/** Also if a link is in the place of a directory above it. */
const absent = ["not_found", "not_a_directory", "is_a_link"] as const;

/** What is at a path now; links are not followed. */
export async function sideNow(workspace: Workspace, at: string): Promise<FileSide | undefined> {
  try {
    const path = workspace.place(at);
    const { kind, size, mode, target = "" } = workspace.lstat(path);
    if (kind === "symlink") return { kind, target };
    if (kind === "directory") return { kind, mode };
    if (kind !== "file") return { kind: "special" };
    if (size > maxComparedBytes) return { kind, size, mode, without: "large" };
    using file = await workspace.openUnmasked(path);
    return { kind, size, mode, bytes: await file.bytes(maxComparedBytes) };
  } catch (error) {
    if (absent.some(code => Fault.is(error, code))) return undefined;
    if (error instanceof Fault) return { kind: "special" };
    throw error;
  }
}

/** The text of a side as the rules show it. */
export async function shownText(
  workspace: Workspace,
  at: string,
  side: FileSide | undefined,
): Promise<Text | "none" | "binary" | "large" | "unkept" | "entry"> {
  if (side === undefined) return "none";
  if (side.kind !== "file") return "entry";
  if ("without" in side) return side.without;
  if (isNoText(side.bytes)) return "binary";
  try {
    return await decode(at, workspace.shown(at, side.bytes), { legacy: true });
  } catch (error) {
    if (Fault.is(error, "forbidden")) return "large"; // too large to be masked
    throw error;
  }
}

/** The files that a directory of the past held. At most `most`. */
export function* filesIn(
  workspace: Workspace,
  at: string,
  snapshot: Snapshot,
  most = { left: 1000 },
): Generator<{ readonly at: string; readonly snapshot: Snapshot }> {
  for (const listed of listedIn(snapshot, workspace.archive.objects) ?? []) {
    if (most.left-- <= 0) return;
    const path = `${at}/${listed.name}`;
    if (listed.kind === "directory") yield* filesIn(workspace, path, listed, most);
    else yield { at: path, snapshot: listed };
  }
}
