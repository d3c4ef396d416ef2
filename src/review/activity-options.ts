// What a server sends to the review pages about itself, and the questions of its policy.

import type { Proposal } from "../contract/context.ts";
import type { Session } from "../contract/session.ts";
import type { Need } from "../engine/policy/approval.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";

export interface ActivityOptions {
  readonly workspace: Workspace;
  readonly state: string | undefined;
  readonly transport: "stdio" | "http";
  readonly dialect: string;
  /** Whether callers may enter workspaces besides, and write there. */
  readonly servesWorkspaces?: boolean;
  /** The directories that are served now. */
  roots(): readonly string[];
  /** Writes into the policy file that these need no question from now on. Absent where there is no such file. */
  readonly writeRule?:
    | ((needs: readonly Need[]) => Promise<{ readonly file: string; readonly text: string }>)
    | undefined;
  /** How long a question waits. */
  readonly patienceMs?: number;
}

export interface AskedQuestion {
  readonly needs: readonly Need[];
  readonly tool: string;
  readonly proposal: Proposal;
  readonly session: Session;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}
