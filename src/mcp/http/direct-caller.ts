// The caller of a request that is answered without the SDK.
import type { Session } from "../../contract/session.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { Principal } from "../auth/principal.ts";
import type { Id } from "../jsonrpc.ts";
import type { Caller } from "../method.ts";
import type { ProtocolRevision } from "../revision.ts";
import type { DirectCall } from "./direct-call.ts";
import type { OpenRequest } from "./open-requests.ts";
import type { RequestContext } from "./request-context.ts";

/** What a caller has from its session, or from the envelope of its request. */
export interface DirectCallerOptions {
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  /** Notifies the client while the call runs, and after it. */
  readonly notify: Caller["notify"];
  readonly tellLater: Caller["notify"];
}

export class DirectCaller implements Caller {
  readonly id: Id;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly workspace: Workspace;
  readonly capabilities: Caller["capabilities"];
  fault?: string;
  readonly #open: OpenRequest;
  readonly #principal: Principal;
  readonly #logs: boolean;
  readonly #options: DirectCallerOptions;
  #controller: AbortController | undefined;
  /** The client wants no answer any more. */
  cancelled = false;
  answered = false;

  constructor(call: DirectCall, context: RequestContext, options: DirectCallerOptions) {
    this.id = call.id;
    this.session = options.session;
    this.revision = options.revision;
    this.capabilities = options.capabilities;
    this.workspace = context.principal.is.workspace;
    this.#open = context.open;
    this.#principal = context.principal;
    this.#logs = call.logs;
    this.#options = options;
  }

  /** Created on first access, as in running.ts. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.aborted) controller.abort();
      else this.#open.onAbort(() => controller.abort()); // `AbortSignal.any` costs several times as much
    }
    return this.#controller.signal;
  }

  get grant(): Principal {
    return this.#principal;
  }

  get aborted(): boolean {
    return this.cancelled || this.#open.aborted;
  }

  cancel(): void {
    this.cancelled = true;
    this.#controller?.abort();
  }

  readonly notify: Caller["notify"] = (method, params) => {
    if (method === "notifications/message" && !this.#logs) return;
    const { notify, tellLater } = this.#options;
    (this.answered ? tellLater : notify)(method, params);
  };
}
