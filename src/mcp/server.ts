// The server's methods for every transport: a table made once from (dialect, engine, settings). The stdio core runs
// the whole table; the HTTP side registers the same methods with the SDK's server, which keeps the modern era's
// fields that are added here.
import { offeredTools } from "../contract/call.ts";
import { Fault } from "../engine/fault.ts";
import { InvalidParams, isRecord, RpcError } from "./jsonrpc.ts";
import type {
  Caller,
  Method,
  MethodAnswer,
  MethodResult,
  Params,
  ServerIdentity,
  ServerOptions,
} from "./method.ts";
import { resourceMethods } from "./resources.ts";
import { eraOf, modernRevisions, negotiate, serverInfoKey } from "./revision.ts";
import { subscriptionMethods } from "./subscriptions.ts";
import { namesOf, toolMethods } from "./tools.ts";

export interface Server {
  readonly info: ServerIdentity;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  readonly methods: ReadonlyMap<string, Method>;
  /** The names of the tools that are offered now, one in a line. */
  offered(): string;
  /** The answer to a request, in the wire format of the caller's revision. Throws `RpcError`. */
  answer(method: Method, params: Params, caller: Caller): Promise<MethodAnswer>;
}

export function createServer(options: ServerOptions): Server {
  const { info } = options;
  const { instructions, resources = false } = options.dialect;
  const subscribe = options.subscriptions ?? false;
  const capabilities = { tools: {}, ...(resources && { resources: { subscribe }, completions: {} }) };
  const about = instructions === undefined ? {} : { instructions };
  const methods = new Map<string, Method>(
    Object.entries({
      initialize: {
        era: "legacy",
        run: ({ protocolVersion }) => {
          if (typeof protocolVersion !== "string") {
            throw new RpcError(InvalidParams, "Invalid params: protocolVersion must be a string");
          }
          const tools = options.changingTools ? { listChanged: true } : {};
          return {
            result: {
              protocolVersion: negotiate(protocolVersion),
              capabilities: { ...capabilities, tools },
              serverInfo: info,
              ...about,
            },
          };
        },
      },
      ping: { era: "legacy", run: () => ({ result: {}, json: "{}" }) },
      "server/discover": {
        era: "modern",
        ttlMs: 0,
        run: () => ({ result: { supportedVersions: modernRevisions, capabilities, ...about } }),
      },
      ...toolMethods(options),
      ...(resources && resourceMethods(options)),
      ...(resources && subscribe && subscriptionMethods(options)),
    } satisfies Record<string, Method>),
  );
  return {
    info,
    capabilities,
    instructions,
    methods,
    offered: () =>
      namesOf(offeredTools(options.dialect, { ...options, workspace: options.engine.workspace })),
    async answer(method, params, caller) {
      const answer = await recorded(method, params, caller);
      return eraOf(caller.revision) === "legacy" ? answer : stamp(answer, method, info);
    },
  };
}

/** Runs a method. A fault that it words as a protocol error is noted for the record, as one of a tool is. */
async function recorded(method: Method, params: Params, caller: Caller): Promise<MethodAnswer> {
  try {
    return await method.run(params, caller);
  } catch (error) {
    if (error instanceof RpcError && error.cause instanceof Fault) caller.fault = error.cause.code;
    throw error;
  }
}

const stamped = new WeakMap<MethodResult, MethodAnswer>();

/**
 * The fields that revision 2026-07-28 requires of every result: its type, how long it can be cached, and the server.
 */
function stamp({ result, json }: MethodAnswer, { ttlMs }: Method, info: ServerIdentity): MethodAnswer {
  const known = stamped.get(result);
  if (known !== undefined) return known;
  const meta = { ...(isRecord(result._meta) ? result._meta : {}), [serverInfoKey]: info };
  const cache = ttlMs === undefined ? {} : { ttlMs, cacheScope: "private" };
  const whole = { resultType: "complete", ...result, ...cache, _meta: meta };
  // Only results that were encoded before are worth caching: they are the same object each time.
  if (json === undefined) return { result: whole };
  const answer = { result: whole, json: JSON.stringify(whole) };
  stamped.set(result, answer);
  return answer;
}
