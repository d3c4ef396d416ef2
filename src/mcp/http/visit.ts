// A request over HTTP that has been let in: whose it is, what answers it, and whether the client is still there.
import type { Session } from "../../contract/session.ts";
import type { Principal } from "../auth/principal.ts";
import type { Table } from "./tables.ts";

export interface Visit {
  readonly principal: Principal;
  readonly table: Table;
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
  /** The trace that it belongs to, as its header has it. */
  readonly traceparent?: string;
  /** The size of the request. */
  readonly bytes: number;
  /** What is kept for the client between its requests; absent where nothing is. */
  session?: Session;
  /** Keeps that alive while a call runs. */
  hold?: () => Disposable;
}

/** The SDK hands the request through to where it is answered; this is what we know about it. */
export class Visits {
  readonly #visits = new WeakMap<Request, Visit>();

  set(request: Request, visit: Visit): void {
    this.#visits.set(request, visit);
  }

  of(request: Request | undefined): Visit {
    const visit = request && this.#visits.get(request);
    if (visit === undefined) throw new Error("a request that nobody let in");
    return visit;
  }
}
