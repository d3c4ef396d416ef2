// Who looks at the page, and what they may see and do. Everything that is shown goes through the viewer's workspace:
// its roots, and the rules that mask and hide.
import { printable } from "../contract/wording.ts";
import type { ChangeRecord, RecordedFile } from "../engine/workspace/archive/log.ts";
import { isWithin } from "../engine/workspace/root.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";

export interface Viewer {
  readonly mode: "local" | "http";
  /** The name of the token. */
  readonly who?: string | undefined;
  /** What may be seen now; roots may be added while a page is open. */
  readonly workspace: Workspace;
  readonly mayUndo: boolean;
  /**
   * Runs an undo that writes to these paths. Without it, the undo runs in `workspace`. A page beside the server needs
   * it for a replica: there, an undo has to reach the store.
   */
  undoIn?<T>(paths: readonly string[], action: (workspace: Workspace) => Promise<T>): Promise<T>;
  /** How many requests the token may send in a minute; absent: no limit. */
  readonly rate?: { readonly owner: string; readonly perMinute: number } | undefined;
}

/** Whether every one of these paths is in a root of the viewer's. */
export function reaches({ workspace: { roots } }: Viewer, paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every(path => roots.some(root => isWithin(path, root.path)));
}

/** The files of a change that no rule hides. */
export function visibleFiles({ workspace }: Viewer, { files }: ChangeRecord): RecordedFile[] {
  return files.filter(
    ({ at, from, effect }) =>
      effect !== "none" && !workspace.isHidden(at) && (from === undefined || !workspace.isHidden(from)),
  );
}

/** Whether a path is a file of a change that the viewer may see, or is in a directory of it. */
export function holdsPath(viewer: Viewer, record: ChangeRecord, path: string): boolean {
  if (!reaches(viewer, [path]) || viewer.workspace.isHidden(path)) return false;
  return visibleFiles(viewer, record).some(
    ({ at, kind }) => path === at || (kind === "directory" && path.startsWith(`${at}/`)),
  );
}

/** Where something was moved from, for people. A name that a rule hides is hidden as an origin, too. */
export function originOf(viewer: Viewer, from: string | undefined): { readonly from?: string } {
  return from === undefined || viewer.workspace.isHidden(from) ? {} : { from: nameOf(viewer, from) };
}

/** For people: relative to its root, with the root's own name where there are several. */
export function nameOf({ workspace: { roots } }: Viewer, path: string): string {
  const holding = roots.filter(root => isWithin(path, root.path));
  const root = holding.reduce<(typeof roots)[number] | undefined>(
    (best, one) => (best === undefined || one.path.length > best.path.length ? one : best),
    undefined,
  );
  if (root === undefined || root.path === path) return printable(path);
  const below = path.slice(root.path.length).replace(/^[/\\]/, "");
  return printable(roots.length === 1 ? below : `${root.path.split(/[/\\]/).at(-1)}/${below}`);
}
