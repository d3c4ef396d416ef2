// What a transport reports about its requests to the tracer (request-spans.ts). Without one, nothing is
// made of this.
import type { Session } from "../contract/session.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Caller, MethodAnswer } from "./method.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { TraceContext } from "./trace-context.ts";

export type Transport = "stdio" | "http";

export interface TracedRequest {
  readonly transport: Transport;
  readonly method: string;
  /** Where the request is a call. */
  readonly call: RecordedCall | undefined;
  readonly dialect: string;
  readonly workspace: Workspace;
  readonly address?: string;
  readonly trace: TraceContext;
}

/** An HTTP request that was not served. */
export interface RefusedRequest {
  readonly method: string;
  readonly status: number;
  readonly address: string | undefined;
  readonly trace: TraceContext;
}

/** What a span has of its caller. */
export type TracedCaller = Pick<Caller, "id" | "session" | "revision" | "fault">;

export interface RequestTracing {
  /** Runs a request as a span; `run` gets the id of its trace. */
  request(
    request: TracedRequest,
    caller: TracedCaller,
    run: (trace: string) => Promise<MethodAnswer>,
  ): Promise<MethodAnswer>;
  /** Records a request that was refused before it reached a method. Returns the id of its trace. */
  refused(request: RefusedRequest): string;
  sessionEnded(session: Session, transport: Transport): void;
}
