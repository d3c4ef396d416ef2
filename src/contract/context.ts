// What a call may reach, and who it is for.
import type { Engine } from "../engine/engine.ts";
import type { Fault } from "../engine/fault.ts";
import type { Need } from "../engine/policy/approval.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Session } from "./session.ts";
import type { Settings } from "./settings.ts";

/** What a person said. A refusal may come with a sentence for the agent. */
export type Approval = { readonly allowed: true } | { readonly allowed: false; readonly reason?: string };

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
  /** Asks a person whether something may be done; absent where nobody can be asked. */
  readonly approve?: ((needs: readonly Need[], tool: string) => Promise<Approval>) | undefined;
  progress(done: number, total?: number, message?: string): void;
}
