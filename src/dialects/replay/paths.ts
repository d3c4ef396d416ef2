// The contract's rule about paths: the canonical path must be in an allowed directory, writable for tools that write.
// It is checked first, so that it decides before anything else can fail; the engine enforces it again, race-free, when
// it opens or changes something.
import { Fault } from "../../engine/fault.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

export interface AllowedPath {
  readonly path: WorkspacePath;
  /** The canonical path, which results print. */
  readonly at: string;
}

export function readable(workspace: Workspace, given: string): AllowedPath {
  const path = workspace.at(given);
  return { path, at: nativeForm(workspace.locate(path).path) };
}

export function writable(workspace: Workspace, given: string): AllowedPath {
  const path = workspace.at(given);
  const { path: at, root } = workspace.locate(path);
  if (root.access === "read-only") throw new Fault("read_only", { path: given });
  return { path, at: nativeForm(at) };
}
