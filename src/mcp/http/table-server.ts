// Our table of methods under the SDK's server, which does the protocol around it: handshakes, envelopes, streams.
// The SDK's own handlers for tools are not used: they would check results against schemas that know less than our
// contracts, and change error codes that contracts promise. One is made for each session, and for each request
// that belongs to none.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  type Result as SdkResult,
  Server as SdkServer,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { Session } from "../../contract/session.ts";
import { beginning } from "../../host/masked-tokens.ts";
import { isRecord, MethodNotFound, RpcError } from "../jsonrpc.ts";
import type { Log } from "../log.ts";
import { type Caller, type Method, type Params, unknownMethod } from "../method.ts";
import { clientName, type Era, modernRevisions, negotiate, type ProtocolRevision } from "../revision.ts";
import { rpcErrorOf } from "../rpc-failure.ts";
import type { Server } from "../server.ts";
import type { CallScheduler } from "./call-scheduler.ts";
import { callerName, type RequestContext, type RequestContexts } from "./request-context.ts";
import { SdkCaller } from "./sdk-caller.ts";

export interface TableServerOptions {
  readonly contexts: RequestContexts;
  readonly calls: CallScheduler;
  readonly log: Log;
}

export class TableServer extends SdkServer {
  readonly #era: Era;
  readonly #options: TableServerOptions;
  /** Codes that the SDK would change on their way out, by the request's id. */
  readonly #codes = new Map<string | number, number>();

  constructor(era: Era, { info, capabilities, instructions }: Server, options: TableServerOptions) {
    super(info, {
      capabilities,
      instructions,
      ...(era === "modern" ? { supportedProtocolVersions: [...modernRevisions] } : {}),
    });
    this.#era = era;
    this.#options = options;
    this.onerror = error => options.log.debug("http", error);
    this.fallbackRequestHandler = (request, context) => this.#answer(request, context);
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#exact(message), options);
    await super.connect(transport);
  }

  async #answer(request: JSONRPCRequest, context: ServerContext): Promise<SdkResult> {
    try {
      const requestContext = this.#options.contexts.of(context.http?.req);
      const { methods } = requestContext.table.server;
      const found = methods.get(request.method);
      const isOurs = found !== undefined && (found.era ?? this.#era) === this.#era;
      const method = isOurs ? found : missing(request.method);
      const name = found === undefined ? unknownMethod : request.method;
      const { inputResponses } = context.mcpReq;
      const requestState = context.mcpReq.requestState();
      const params = {
        ...request.params,
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      };
      using caller = this.#caller(requestContext, context);
      const { calls } = this.#options;
      const { result } = await calls.answer(requestContext, name, method, params, caller);
      return result;
    } catch (error) {
      // A cancelled request gets no answer, not even an error.
      if (context.mcpReq.signal.aborted) throw error;
      const known = rpcErrorOf(error, this.#options.log, request.method, request.id);
      this.#codes.set(request.id, known.code);
      throw known;
    }
  }

  #caller(requestContext: RequestContext, context: ServerContext): Caller & Disposable {
    const modern = this.#era === "modern";
    const envelope: Params = context.mcpReq.envelope ?? {};
    const stated = envelope[CLIENT_CAPABILITIES_META_KEY];
    const client = clientName(modern ? envelope[CLIENT_INFO_META_KEY] : this.getClientVersion());
    const session = requestContext.session ?? new Session({ lasting: false });
    session.client = callerName(requestContext.principal, client);
    return new SdkCaller(context, {
      session,
      revision: this.#revision(context),
      principal: requestContext.principal,
      // A session outlives its requests; a stateless server is closed with its request.
      gone: requestContext.session === undefined ? undefined : requestContext.open.signal,
      capabilities: modern ? (isRecord(stated) ? stated : undefined) : this.getClientCapabilities(),
      asks: !modern && requestContext.session !== undefined,
      // By the stream that the client listens to, if it does.
      tellLater: (method, params) => {
        if (requestContext.session !== undefined) this.notification({ method, params }).catch(() => {});
      },
      logs: !modern || envelope[LOG_LEVEL_META_KEY] !== undefined,
    });
  }

  #revision(context: ServerContext): ProtocolRevision {
    if (this.#era === "modern") return modernRevisions[0];
    const stated = context.http?.req?.headers.get("mcp-protocol-version");
    return negotiate(this.getNegotiatedProtocolVersion() ?? stated ?? "");
  }

  #exact(message: JSONRPCMessage): JSONRPCMessage {
    if (!("error" in message) || message.id === undefined) return message;
    const code = this.#codes.get(message.id);
    this.#codes.delete(message.id);
    return code === undefined ? message : { ...message, error: { ...message.error, code } };
  }
}

/** Refuses, like a method, so that it is recorded like one. */
function missing(name: string): Method {
  return {
    run() {
      throw new RpcError(MethodNotFound, `Method not found: ${beginning(name, 100)}`);
    },
  };
}
