// Paths as answers print them, for contracts that do so relative to the first root: what is elsewhere (and was granted)
// is named in full.
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { printable } from "../wording.ts";

/** The same path, which answers and refusals name (`given`) as it is printed. */
export function asShown(workspace: Workspace, path: WorkspacePath): WorkspacePath {
  return path.below("", shownPath(workspace, path));
}

export function shownPath({ roots }: Workspace, path: WorkspacePath): string {
  if (path.root !== roots[0]) return nativeForm(path.absolute);
  return path.isRoot ? "." : path.relative;
}

/** The name of something that was found below a directory, on one line. */
export function nameBelow({ given }: WorkspacePath, path: string): string {
  return printable(given === "." ? path : given.endsWith("/") ? given + path : `${given}/${path}`);
}
