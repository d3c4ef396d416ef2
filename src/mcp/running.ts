// A request in progress, and as such the caller. Its signal is created on first access: creating one costs a third of
// a small call, and a tool that never waits does not need it.
import type { Session } from "../contract/session.ts";
import type { Effect } from "../contract/tool.ts";
import type { Id } from "./jsonrpc.ts";
import type { Caller } from "./method.ts";
import { defaultRevision, type ProtocolRevision } from "./revision.ts";

export class Running implements Caller {
  readonly id: Id;
  readonly bytes: number;
  readonly session: Session;
  readonly notify: Caller["notify"];
  readonly ask: Caller["ask"];
  capabilities: Caller["capabilities"];
  revision: ProtocolRevision = defaultRevision;
  /** It stays open until the client leaves or ends it. */
  listens = false;
  fault?: string;
  effect?: Effect;
  /** The client no longer wants an answer. */
  cancelled = false;
  #aborted = false;
  #controller: AbortController | undefined;

  constructor(id: Id, bytes: number, session: Session, notify: Caller["notify"], ask: Caller["ask"]) {
    this.id = id;
    this.bytes = bytes;
    this.ask = ask;
    this.session = session;
    this.notify = notify;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
