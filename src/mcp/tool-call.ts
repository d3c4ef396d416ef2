// The context of a running tool, from the server and the caller. A class, so that the caller's signal is created only
// if the tool uses it (running.ts).
import type { CallContext } from "../contract/context.ts";
import type { Session } from "../contract/session.ts";
import type { Settings } from "../contract/settings.ts";
import type { Engine } from "../engine/engine.ts";
import { Fault } from "../engine/fault.ts";
import type { Uncovered } from "../engine/history/uncovered.ts";
import type { CallerGrant } from "../engine/shell/launch.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Asking } from "./approval.ts";
import type { Caller, Params, ServerOptions } from "./method.ts";
import type { CallProgress } from "./progress.ts";
import { decisionOf } from "./recorded-call.ts";
import type { ProtocolRevision } from "./revision.ts";
import { traceContextOf } from "./trace-context.ts";

export class ToolCall implements CallContext {
  readonly engine: Engine;
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly progress: CallProgress["report"];
  readonly notes: CallContext["notes"];
  readonly #caller: Caller;

  readonly #asking: Asking;
  readonly #params: Params;

  constructor(
    { engine, settings, activity }: ServerOptions,
    caller: Caller,
    progress: CallProgress,
    asking: Asking,
    params: Params,
  ) {
    this.#asking = asking;
    this.notes = activity?.notes;
    this.#params = params;
    this.engine = engine;
    this.workspace = caller.workspace ?? engine.workspace;
    this.settings = settings;
    this.session = caller.session;
    this.revision = caller.revision;
    this.progress = progress.report;
    this.#caller = caller;
  }

  failed({ code }: Fault): void {
    this.#caller.fault = code;
  }

  /** Of a call about several files, the record has that one was denied. */
  failedInPart(error: unknown): void {
    if (error instanceof Fault && decisionOf(error.code) === "denied") this.#caller.fault = error.code;
  }

  uncovered(changes: Uncovered): void {
    this.#caller.uncovered = changes;
  }

  get trace(): string | undefined {
    return traceContextOf(this.#params, {}).parent?.traceId;
  }

  get approve(): CallContext["approve"] {
    return this.#asking.approve;
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  get grant(): CallerGrant | undefined {
    return this.#caller.grant;
  }
}
