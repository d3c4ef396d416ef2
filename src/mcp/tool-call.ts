// What a running tool has at hand, from what the server has and who calls. A class, so that the caller's signal is
// asked for only when the tool asks (see running.ts).
import type { CallContext } from "../contract/context.ts";
import type { Session } from "../contract/session.ts";
import type { Settings } from "../contract/settings.ts";
import type { Engine } from "../engine/engine.ts";
import type { Fault } from "../engine/fault.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Asking } from "./approval.ts";
import type { Caller, ServerOptions } from "./method.ts";
import type { CallProgress } from "./progress.ts";
import type { ProtocolRevision } from "./revision.ts";

export class ToolCall implements CallContext {
  readonly engine: Engine;
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly progress: CallProgress["report"];
  readonly #caller: Caller;

  readonly #asking: Asking;

  constructor({ engine, settings }: ServerOptions, caller: Caller, progress: CallProgress, asking: Asking) {
    this.#asking = asking;
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

  get approve(): CallContext["approve"] {
    return this.#asking.approve;
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }
}
