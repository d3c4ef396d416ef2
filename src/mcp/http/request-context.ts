// An accepted HTTP request: its principal, its methods, and whether the client is still connected.
import type { Session } from "../../contract/session.ts";
import type { Principal } from "../auth/principal.ts";
import type { TraceHeaders } from "../trace-context.ts";
import type { OpenRequest } from "./open-requests.ts";
import type { MethodTable } from "./tables.ts";

export interface RequestContext {
  readonly principal: Principal;
  readonly table: MethodTable;
  readonly open: OpenRequest;
  /** The method that a single message asks for. */
  readonly method?: string;
  /** Where the request comes from. */
  readonly address?: string;
  readonly traceHeaders?: TraceHeaders;
  /** The size of the request. */
  readonly bytes: number;
  /** Whether it has reached a method, which is recorded and traced there. */
  reached?: boolean;
  /** Whether the audit log has a line about its refusal. */
  recorded?: boolean;
  /** The client's session; absent if there is none. */
  session?: Session;
  /** Keeps that alive while a call runs. */
  hold?: () => Disposable;
}

/** A caller with a token is known by its name; the client's own name comes second. */
export function callerName({ is: { name } }: Principal, client: string | undefined): string {
  if (name === undefined) return client ?? "unknown";
  return client ? `${name} (${client})` : name;
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
