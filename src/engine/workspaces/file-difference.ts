// A path that a fork changed, as callers are shown it: what happened to it, how many lines, and which.
import { Fault, type Kind } from "../fault.ts";
import { isBinary } from "../text/detect.ts";
import { diffCounts, unifiedDiff } from "../text/diff.ts";
import { decode } from "../text/text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ForkChange } from "./difference.ts";
import { LiveView, type SideAtPath } from "./merge-side.ts";

/** One path that a fork changed. */
export interface ForkDifference {
  readonly path: string;
  readonly effect: "added" | "changed" | "deleted";
  readonly kind: Kind;
  /** Lines; absent where it is not text. */
  readonly added?: number;
  readonly removed?: number;
  /** Permission bits, where they differ. */
  readonly modes?: readonly [before: number, after: number];
  /** A unified diff; "" where there is none, it was too long for the budget, or it was not wanted. */
  readonly diff: string;
}

/** The largest file that is compared by lines here. */
const mostBytes = 4 * 1024 * 1024;

export interface DiffBudget {
  /** How many characters all diffs together may have. */
  readonly room?: number;
  /** Whether deleted files have one, which is all of their lines. */
  readonly deleted?: boolean;
}

/** What a rule hides is left out. */
export async function fileDifferences(
  changes: readonly ForkChange[],
  fork: Workspace,
  { room = Number.POSITIVE_INFINITY, deleted = true }: DiffBudget = {},
): Promise<ForkDifference[]> {
  const found: ForkDifference[] = [];
  let left = room;
  const view = new LiveView(fork);
  for (const change of changes) {
    const at = view.pathOf(change.path).absolute;
    if (fork.isHidden(at)) continue;
    const wanted = deleted || change.after !== undefined;
    const difference = await differenceOf(change, bytes => fork.shown(at, bytes), wanted ? left : 0);
    left -= difference.diff.length;
    found.push(difference);
  }
  return found;
}

async function differenceOf(
  { path, before, after }: ForkChange,
  shown: (bytes: Buffer) => Buffer,
  room: number,
): Promise<ForkDifference> {
  const effect = before === undefined ? "added" : after === undefined ? "deleted" : "changed";
  const kind = (after ?? before)?.kind ?? "file";
  const differ =
    before !== undefined && after !== undefined && before.mode !== after.mode && kind !== "symlink";
  const modes = differ ? { modes: [before.mode, after.mode] as const } : {};
  const texts = await bothTexts(path, before, after, shown);
  if (texts === undefined) return { path, effect, kind, ...modes, diff: "" };
  const [old, now] = texts;
  const diff = room > 0 ? unifiedDiff(old, now) : "";
  return { path, effect, kind, ...modes, ...diffCounts(old, now), diff: diff.length > room ? "" : diff };
}

/** Undefined for what a rule masks and no mask can be made for. */
function ifShown(shown: () => Buffer): Buffer | undefined {
  try {
    return shown();
  } catch (error) {
    if (Fault.is(error, "forbidden")) return undefined;
    throw error;
  }
}

async function bothTexts(
  path: string,
  before: SideAtPath | undefined,
  after: SideAtPath | undefined,
  shown: (bytes: Buffer) => Buffer,
): Promise<readonly [string, string] | undefined> {
  const texts: string[] = [];
  for (const side of [before, after]) {
    if (side === undefined) {
      texts.push("");
      continue;
    }
    if (side.kind !== "file") return undefined;
    const bytes = await side.bytes();
    if (bytes.length > mostBytes || isBinary(bytes, { first: 8000 })) return undefined;
    const text = ifShown(() => shown(bytes));
    if (text === undefined) return undefined;
    texts.push((await decode(path, text)).raw);
  }
  return [texts[0] ?? "", texts[1] ?? ""];
}
