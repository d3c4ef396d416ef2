// An accepted HTTP request: its principal, its methods, and whether the client is still connected.
import type { Session } from "../../contract/session.ts";
import type { Principal } from "../auth/principal.ts";
import type { TraceHeaders } from "../trace-context.ts";
import type { MethodTable } from "./tables.ts";

export interface RequestContext {
  readonly principal: Principal;
  readonly table: MethodTable;
  /** The scheduling key: the caller or, if callers are not identified, the connection. */
  readonly line: string;
  /** Aborted when the client goes away, or the server ends. */
  readonly signal: AbortSignal;
  /** Calls `listener` when the answer is sent or the client is gone. */
  onEnd(listener: () => void): void;
  /** The method that a single message asks for. */
  readonly method?: string;
  /** Where the request comes from. */
  readonly address?: string;
  readonly traceHeaders?: TraceHeaders;
  /** The size of the request. */
  readonly bytes: number;
  /** The client's session; absent if there is none. */
  session?: Session;
  /** Keeps that alive while a call runs. */
  hold?: () => Disposable;
}

/** Maps the SDK's request objects to their contexts. */
export class RequestContexts {
  readonly #contexts = new WeakMap<Request, RequestContext>();

  set(request: Request, requestContext: RequestContext): void {
    this.#contexts.set(request, requestContext);
  }

  of(request: Request | undefined): RequestContext {
    const requestContext = request && this.#contexts.get(request);
    if (requestContext === undefined) throw new Error("request without a context");
    return requestContext;
  }
}
