// Which revision a request of a connection is in, and whether that revision has the method.
//
// The era is the request's own: an envelope in `_meta` makes it modern, else it is legacy. Once a client that
// never sent `initialize` has spoken modern, a request without an envelope is a mistake and refused as one.
import { beginning } from "../host/masked-tokens.ts";
import { isRecord, MethodNotFound, RpcError } from "./jsonrpc.ts";
import type { Method } from "./method.ts";
import {
  clientName,
  defaultRevision,
  missingEnvelope,
  negotiate,
  type ProtocolRevision,
  readEnvelope,
  unnamedRevision,
  unsupportedVersion,
} from "./revision.ts";

/** A request that may be run. */
interface Admitted {
  readonly method: Method;
  readonly revision: ProtocolRevision;
  /** The client's name, if the request has it. */
  readonly client?: string;
  /** The client's capabilities, if the request has them. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

export class Negotiation {
  readonly #methods: ReadonlyMap<string, Method>;
  #agreed: ProtocolRevision | undefined;
  #modern = false;

  constructor(methods: ReadonlyMap<string, Method>) {
    this.#methods = methods;
  }

  /** What `initialize` has agreed on. */
  get agreed(): ProtocolRevision | undefined {
    return this.#agreed;
  }

  /** Throws if the request cannot be run. Nothing in it waits: the next line may already rely on it. */
  admit(name: string, params: unknown): Admitted {
    if (name === "initialize") return this.#admitHandshake(name, params);
    const envelope = readEnvelope(params);
    if (envelope === undefined) {
      const method = this.#method(name, this.#modern ? "modern" : "legacy");
      if (this.#modern) throw missingEnvelope();
      return { method, revision: this.#agreed ?? unnamedRevision };
    }
    const method = this.#method(name, "modern");
    // Looking alone decides nothing: a client may do so and then fall back to the handshake.
    if (this.#agreed === undefined && name !== "server/discover") this.#modern = true;
    const { revision, client, capabilities } = envelope;
    return { method, revision, client, capabilities };
  }

  #admitHandshake(name: string, params: unknown): Admitted {
    const { protocolVersion, clientInfo } = isRecord(params) ? params : {};
    const asked = typeof protocolVersion === "string" ? protocolVersion : undefined;
    if (this.#modern) throw unsupportedVersion(asked);
    if (asked !== undefined) this.#agreed = negotiate(asked);
    const revision = this.#agreed ?? defaultRevision;
    return { method: this.#method(name, "legacy"), revision, client: clientName(clientInfo) };
  }

  #method(name: string, era: Method["era"]): Method {
    const method = this.#methods.get(name);
    if (method !== undefined && (method.era ?? era) === era) return method;
    throw new RpcError(MethodNotFound, `Method not found: ${beginning(name, 100)}`);
  }
}
