// The caller of a request that is answered without the SDK.
import type { Session } from "../../contract/session.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
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
  readonly #logs: boolean;
  readonly #options: DirectCallerOptions;
  #cancel: AbortController | undefined;
  #signal: AbortSignal | undefined;
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
    this.#logs = call.logs;
    this.#options = options;
  }

  /** Created on first access, as in running.ts. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#cancel = new AbortController();
      if (this.cancelled) this.#cancel.abort();
      this.#signal = AbortSignal.any([this.#open.signal, this.#cancel.signal]);
    }
    return this.#signal;
  }

  get aborted(): boolean {
    return this.cancelled || this.#open.aborted;
  }

  cancel(): void {
    this.cancelled = true;
    this.#cancel?.abort();
  }

  readonly notify: Caller["notify"] = (method, params) => {
    if (method === "notifications/message" && !this.#logs) return;
    const { notify, tellLater } = this.#options;
    (this.answered ? tellLater : notify)(method, params);
  };
}
