// Paths as this contract writes them: relative to the workspace, which is the first root.
import type { CallContext } from "../../contract/context.ts";
import { asShown } from "../../contract/render/paths.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";

/** The path that a caller wrote. Answers and refusals name it as `given`. */
export function pathAt({ workspace }: Pick<CallContext, "workspace">, written: string): WorkspacePath {
  return asShown(workspace, workspace.at(written));
}
