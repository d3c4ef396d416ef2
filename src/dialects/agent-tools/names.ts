// Paths as this contract writes them: relative to the workspace, which is the first root. What lies elsewhere (and
// was granted) is named in full.
import type { CallContext } from "../../contract/call.ts";
import { printable } from "../../contract/wording.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

/** The path that a caller wrote. Answers and refusals name it as `given`. */
export function pathAt({ workspace }: Pick<CallContext, "workspace">, written: string): WorkspacePath {
  const path = workspace.at(written);
  return path.below("", shownPath(workspace, path));
}

/** The name of something that was found below a directory, on one line. */
export function nameBelow(directory: WorkspacePath, path: string): string {
  const { given } = directory;
  return printable(given === "." ? path : given.endsWith("/") ? given + path : `${given}/${path}`);
}

function shownPath({ roots }: Workspace, path: WorkspacePath): string {
  if (path.root !== roots[0]) return path.absolute;
  return path.isRoot ? "." : path.relative;
}
