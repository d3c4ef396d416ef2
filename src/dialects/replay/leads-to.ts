// The target of a link, within the allowed directories. Nothing is revealed about the outside.
import { Fault, type Kind } from "../../engine/fault.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

/** Undefined if it is dangling. */
export function leadsTo(workspace: Workspace, path: WorkspacePath): Kind | "outside" | undefined {
  try {
    return workspace.stat(path).kind;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code === "outside_roots" ? "outside" : undefined;
  }
}
