// What a call may reach: the workspace and, as they come, history, commands and versions. One engine serves a
// process; dialects and transports share it.
import type { Sandbox } from "./shell/launch.ts";
import { type Grant, Workspace } from "./workspace/workspace.ts";

export interface Engine extends Disposable {
  readonly workspace: Workspace;
  /** Confines commands to a workspace; absent where nobody asked for a sandbox. */
  readonly confine?: ((workspace: Workspace) => Sandbox) | undefined;
}

export interface EngineOptions {
  readonly roots: readonly Grant[];
  readonly confine?: Engine["confine"];
}

export function openEngine({ roots, confine }: EngineOptions): Engine {
  const workspace = Workspace.open(roots);
  return { workspace, confine, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}
