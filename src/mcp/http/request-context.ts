// A request over HTTP that has been let in: whose it is, what answers it, and whether the client is still there.
import type { Session } from "../../contract/session.ts";
import type { Principal } from "../auth/principal.ts";
import type { TraceHeaders } from "../trace-context.ts";
import type { MethodTable } from "./tables.ts";

export interface RequestContext {
  readonly principal: Principal;
  readonly table: MethodTable;
  /** Who shares turns: the caller, or where callers are not told apart, the connection. */
  readonly line: string;
  /** Aborted when the client goes away, or the server ends. */
  readonly signal: AbortSignal;
  /** Calls `listener` when the answer is out, or nobody wants it any more. */
  onEnd(listener: () => void): void;
  /** The method that a single message asks for. */
  readonly method?: string;
  /** Where the request comes from. */
  readonly address?: string;
  readonly traceHeaders?: TraceHeaders;
  /** The size of the request. */
  readonly bytes: number;
  /** What is kept for the client between its requests; absent where nothing is. */
  session?: Session;
  /** Keeps that alive while a call runs. */
  hold?: () => Disposable;
}

/** The SDK hands the request through to where it is answered; this is what we know about it. */
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
