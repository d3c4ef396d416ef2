// What a call may reach: the workspace and, as they come, history, commands and versions. One engine serves a
// process; dialects and transports share it.
import type { Workspace } from "./workspace/workspace.ts";

export interface Engine {
  readonly workspace: Workspace;
}
