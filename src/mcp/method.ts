// A method of the server: its caller, parameters and result; and the options of a server.
import type { Dialect } from "../contract/dialect.ts";
import type { Session } from "../contract/session.ts";
import type { Settings } from "../contract/settings.ts";
import type { Effect } from "../contract/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Uncovered } from "../engine/history/uncovered.ts";
import type { CallerGrant } from "../engine/shell/launch.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Activity } from "../review/activity.ts";
import type { Id } from "./jsonrpc.ts";
import type { Era, ProtocolRevision } from "./revision.ts";

/** The server's identity. It is sent with every result of the modern era, so it is short. */
export interface ServerIdentity {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
}

export interface ServerOptions {
  readonly dialect: Dialect;
  readonly engine: Engine;
  readonly settings: Settings;
  readonly info: ServerIdentity;
  /** Whether changes can be notified between requests; that takes a lasting connection. */
  readonly subscriptions?: boolean;
  /** Whether the list of tools can change while a client is connected. */
  readonly changingTools?: boolean;
  /** Tells review pages what is called, and asks the person there. @internal */
  readonly activity?: Activity;
}

/** The caller of a request, and how to reach it while the request runs. */
export interface Caller {
  /** The id of the request, where the transport is ours. */
  readonly id?: Id;
  /** The size of the message that carried the request, where the transport is ours. */
  readonly bytes?: number;
  readonly session: Session;
  readonly revision: ProtocolRevision;
  readonly signal: AbortSignal;
  /** Absent where it cannot end. */
  readonly grant?: CallerGrant;
  /** Whether the signal has fired. Reading this creates none. */
  readonly aborted: boolean;
  /** Why the call failed, for the record. */
  fault?: string;
  /** That of the tool it calls, once the call has begun. */
  effect?: Effect;
  /** What the call changed, or may have, that the history does not cover: for the record. */
  uncovered?: Uncovered;
  /** What this caller may reach, if that is less than the engine's workspace. */
  readonly workspace?: Workspace;
  readonly notify: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** The client's capabilities. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Asks the client something while the request runs; only where the era and the transport have a way. */
  readonly ask?: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

export type Params = Readonly<Record<string, unknown>>;

export type MethodResult = Readonly<Record<string, unknown>>;

/** A result, with its JSON if that was encoded before. */
export interface MethodAnswer {
  readonly result: MethodResult;
  readonly json?: string;
}

/** How a method that there is not is recorded, as in OpenTelemetry's conventions: clients may send any name. */
export const unknownMethod = "_OTHER";

export interface Method {
  /** The era that has the method; both by default. */
  readonly era?: Era;
  /** How long a client of the modern era may keep the result; absent where results are not cacheable. */
  readonly ttlMs?: number;
  run(params: Params, caller: Caller): Promise<MethodAnswer> | MethodAnswer;
}
