// What a call may reach, and who it is for.
import type { Engine } from "../engine/engine.ts";
import type { Fault } from "../engine/fault.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Session } from "./session.ts";
import type { Settings } from "./settings.ts";

/** What a running tool has at hand. */
export interface CallContext {
  readonly engine: Engine;
  /** What this caller may reach: the engine's workspace, or a part of it. */
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly session: Session;
  /** The protocol revision that the caller speaks. Contracts differ by it in a few documented places. */
  readonly revision: string;
  /** Aborted when the call is not wanted any more. Made when first asked for: a tool that never waits leaves it. */
  readonly signal: AbortSignal;
  /** Told why the call failed, before that is put into words. */
  failed?(fault: Fault): void;
  progress(done: number, total?: number, message?: string): void;
}
