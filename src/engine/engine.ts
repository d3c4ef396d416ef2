// What a call may reach: the workspace and, as they come, history, commands and versions. One engine serves a
// process; dialects and transports share it.
import { type Grant, Workspace } from "./workspace/workspace.ts";

export interface Engine extends Disposable {
  readonly workspace: Workspace;
}

export interface EngineOptions {
  readonly roots: readonly Grant[];
}

export function openEngine({ roots }: EngineOptions): Engine {
  const workspace = Workspace.open(roots);
  return { workspace, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}
