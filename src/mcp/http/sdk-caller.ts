// The caller of a request, from what the SDK provides.
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Session } from "../../contract/session.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { Principal } from "../auth/principal.ts";
import type { Id } from "../jsonrpc.ts";
import type { Caller, Params } from "../method.ts";
import type { ProtocolRevision } from "../revision.ts";

interface SdkCallerOptions {
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly principal: Principal;
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  /** Aborted when the client no longer exists, where the SDK does not see to that. */
  readonly gone?: AbortSignal;
  /** Whether the client can be asked back. */
  readonly asks: boolean;
  /** Whether it wants log messages. */
  readonly logs: boolean;
  /** Notifies the client between requests; does nothing without a session. */
  readonly tellLater: Caller["notify"];
}

export class SdkCaller implements Caller, Disposable {
  readonly id: Id;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly workspace: Workspace;
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly ask: Caller["ask"];
  fault?: string;
  readonly #context: ServerContext;
  readonly #principal: Principal;
  readonly #logs: boolean;
  readonly #tellLater: Caller["notify"];
  #answered = false;

  constructor(context: ServerContext, options: SdkCallerOptions) {
    this.id = JSON.stringify(context.mcpReq.id);
    this.session = options.session;
    this.revision = options.revision;
    this.workspace = options.principal.is.workspace;
    this.#principal = options.principal;
    this.capabilities = options.capabilities;
    const { signal } = context.mcpReq;
    this.signal = options.gone === undefined ? signal : AbortSignal.any([signal, options.gone]);
    this.ask = options.asks ? (method, params) => this.#ask(method, params) : undefined;
    this.#context = context;
    this.#logs = options.logs;
    this.#tellLater = options.tellLater;
  }

  get grant(): Principal {
    return this.#principal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  readonly notify: Caller["notify"] = (method, params) => {
    if (method === "notifications/message" && !this.#logs) return;
    if (this.#answered) return this.#tellLater(method, params);
    // A client that is gone misses it; its call is being stopped anyway.
    this.#context.mcpReq.notify({ method, params }).catch(() => {});
  };

  #ask(method: string, params: Params): Promise<unknown> {
    const answer = { validate: (value: unknown) => ({ value }), version: 1, vendor: "polyfs" } as const;
    return this.#context.mcpReq.send({ method, params }, { "~standard": answer }, { signal: this.signal });
  }

  /** The request is answered: a session of its own ends with it. */
  [Symbol.dispose](): void {
    this.#answered = true;
    if (!this.session.lasting) this.session[Symbol.dispose]();
  }
}
