// The context of a call: what it may reach, and who calls.
import type { Engine } from "../engine/engine.ts";
import type { Fault, Faults } from "../engine/fault.ts";
import type { Uncovered } from "../engine/history/uncovered.ts";
import type { Need } from "../engine/policy/approval.ts";
import type { CallerGrant } from "../engine/shell/launch.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Session } from "./session.ts";
import type { Settings } from "./settings.ts";

/** A person's answer. A refusal may include a sentence for the agent. */
export type Approval =
  | {
      readonly allowed: true;
      /** Also for what the same rules ask until the connection ends. */
      readonly lasting?: boolean;
    }
  | { readonly allowed: false; readonly reason?: string };

/** What a person is asked about, besides what the rules name. */
export interface Proposal {
  readonly changes: NonNullable<Faults["approval_needed"]["proposed"]>;
  /** The command line, for commands. */
  readonly command?: string;
}

/** Notes that a person left for the caller about its changes. */
export interface CallerNotes {
  /** Those that the caller has not got yet, newest first. Asking is cheap. */
  unread(session: Session): readonly CallerNote[];
  /** All about these changes. */
  about(changes: readonly string[]): readonly CallerNote[];
  /** The caller has got these. */
  delivered(notes: readonly CallerNote[]): void;
}

export interface CallerNote {
  readonly id: string;
  readonly change: string;
  /** Absolute. */
  readonly path?: string;
  /** From 1, in the text before or after the change. */
  readonly line?: number;
  readonly side?: "old" | "new";
  readonly text: string;
}

/** What a running tool can use. */
export interface CallContext {
  readonly engine: Engine;
  /** What this caller may reach: the engine's workspace, or a part of it. */
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly session: Session;
  /** The caller's protocol revision. Contracts differ by it in a few documented places. */
  readonly revision: string;
  /** Aborted when the call is cancelled. Created on first access: a tool that never waits does not pay for it. */
  readonly signal: AbortSignal;
  /** For how long what the caller starts may run; absent where that has no end. @internal */
  readonly grant?: CallerGrant | undefined;
  /** Told why the call failed, before that is put into words. @internal */
  failed?(fault: Fault): void;
  /** Told why a part of the call failed that is answered in its place. @internal */
  failedInPart?(fault: unknown): void;
  /** Told what a command changes that the history does not cover; the last word counts. @internal */
  uncovered?(changes: Uncovered): void;
  /** Asks a person whether something may be done; absent, or without an answer, where no person can be asked. */
  readonly approve?:
    | ((needs: readonly Need[], tool: string, proposal: Proposal) => Promise<Approval | undefined>)
    | undefined;
  /** Notes that a reviewer left for the caller; absent without a review page. @internal */
  readonly notes?: CallerNotes | undefined;
  /** The trace that the call belongs to. @internal */
  readonly trace?: string | undefined;
  progress(done: number, total?: number, message?: string): void;
}
