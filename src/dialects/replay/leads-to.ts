// What a link leads to, as far as the allowed directories go. Of what lies outside nothing is told.
import { Fault, type Kind } from "../../engine/fault.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

/** Undefined where it leads nowhere. */
export function leadsTo(workspace: Workspace, path: WorkspacePath): Kind | "outside" | undefined {
  try {
    return workspace.stat(path).kind;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code === "outside_roots" ? "outside" : undefined;
  }
}
