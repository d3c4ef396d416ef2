// A command's look at the tree, and which recorded changes it shows: each whole, or not at all. Looking takes a while,
// and other callers commit meanwhile. So the look waits until what has been committed by then is recorded, and what those
// changes touched is looked at again, unless it is still what was seen: nothing has happened to it since, so the look
// shows all changes of it that are recorded. What is recorded later happened later. Contents tell nothing here: they may
// come back, and a program may have written between two commits.
import type { ChangeRecord } from "../workspace/archive/log.ts";
import { isStill, seenAt, type TreeSnapshot, withPaths } from "../workspace/footprint/tree-snapshot.ts";
import { bytesOf } from "../workspace/handle.ts";
import { RelatedPaths } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A path that others commit to all the time is given up. */
const mostTries = 10;

export interface Look {
  readonly snapshot: TreeSnapshot;
  /** When it began and, at first, ended: milliseconds since 1970. */
  readonly since: number;
  readonly time: number;
  /** The ids of the changes that it shows, from about its beginning on. Those that were recorded later it does not show. */
  readonly shown: ReadonlySet<string>;
  /** Which changes of these paths, and of those below, it shows is unknown. */
  readonly unclear: ReadonlySet<string>;
}

/** `take` takes a snapshot of the tree, or of some of it. */
export async function lookAt(
  workspace: Workspace,
  take: (only?: RelatedPaths) => Promise<TreeSnapshot>,
): Promise<Look> {
  const { changes } = workspace.archive;
  const since = Date.now();
  const shown = new Set(changes.idsSince(since));
  let snapshot = await take();
  const time = Date.now();
  let stale: string[] = [];
  for (let tries = 0, again: RelatedPaths | undefined; snapshot.complete; tries++) {
    await workspace.allRecorded();
    // Of commands that ran beside others, their own looks tell when.
    const news = changes.sinceThen(since, shown).filter(({ looks }) => looks === undefined);
    const touched = new Set<string>();
    for (const record of touching(news, again)) {
      shown.add(record.id);
      for (const path of pathsOf(record)) touched.add(path);
    }
    stale = [...touched].flatMap(path => staleAt(snapshot, path) ?? []);
    if (stale.length === 0 || tries === mostTries) break;
    again = new RelatedPaths();
    for (const path of stale) again.add(path);
    snapshot = withPaths(snapshot, await take(again), again);
  }
  return { snapshot, since, time, shown, unclear: new Set(stale) };
}

/** The records that concern these paths, and those that concern what they touched besides. */
function touching(
  records: readonly ChangeRecord[],
  paths: RelatedPaths | undefined,
): readonly ChangeRecord[] {
  if (paths === undefined) return records;
  const all = new RelatedPaths();
  const found = new Set<ChangeRecord>();
  const isFound = (path: string) => paths.has(path) || all.has(path);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const record of records) {
      if (found.has(record) || !pathsOf(record).some(isFound)) continue;
      found.add(record);
      for (const path of pathsOf(record)) all.add(path);
    }
  }
  return [...found];
}

function pathsOf({ files, parents }: ChangeRecord): string[] {
  return [...parents, ...files.flatMap(({ at, from }) => (from === undefined ? [at] : [from, at]))].map(
    bytesOf,
  );
}

/** What has to be looked at again because of a path, if the path is not what was seen. */
function staleAt(snapshot: TreeSnapshot, path: string): string | undefined {
  const seen = seenAt(snapshot, path);
  return seen === undefined || isStill(path, seen.entry) ? undefined : (seen.missing ?? path);
}
