// Which requests are answered without the SDK: calls whose form leaves nothing to negotiate. They are nearly all that
// a client sends, and the SDK's schemas and web streams cost a small call several times its own work. Everything else
// goes to the SDK (endpoint.ts), and so does every request that it would refuse.
import type { IncomingHttpHeaders } from "node:http";
import { type Id, idText, isRecord } from "../jsonrpc.ts";
import type { Method, Params } from "../method.ts";
import { type Envelope, logLevelKey, metaOf, modernRevisions, readEnvelope } from "../revision.ts";
import type { MethodTable } from "./tables.ts";

export interface DirectCall {
  readonly id: Id;
  readonly name: string;
  readonly method: Method;
  readonly params: Params;
  /** Of a request of 2026-07-28. */
  readonly envelope?: Envelope;
  /** Whether the client wants log messages. */
  readonly logs: boolean;
}

/** Undefined for a request that the SDK answers. */
export function directCall(
  { methods }: MethodTable["server"],
  headers: IncomingHttpHeaders,
  message: unknown,
): DirectCall | undefined {
  if (!isRecord(message)) return undefined;
  const { jsonrpc, id: given, method: name, params } = message;
  if (jsonrpc !== "2.0" || name !== "tools/call" || !isRecord(params)) return undefined;
  const id = Number.isSafeInteger(given) || typeof given === "string" ? idText(given) : undefined;
  const method = methods.get(name);
  if (id === undefined || method === undefined || !takesEither(headers.accept)) return undefined;
  // The answer to a question, which the SDK keeps apart from the other parameters.
  if ("inputResponses" in params || "requestState" in params || "task" in params) return undefined;
  const meta = metaOf(params);
  if (params._meta !== undefined && meta === undefined) return undefined;
  const { progressToken } = meta ?? {};
  const isToken = typeof progressToken === "string" || Number.isSafeInteger(progressToken);
  if (progressToken !== undefined && !isToken) return undefined;
  const call = { id, name, method, params };
  const version = headers["mcp-protocol-version"];
  if (!modernRevisions.some(known => known === version)) {
    const claims = Object.keys(meta ?? {}).some(key => key.startsWith("io.modelcontextprotocol/"));
    return claims ? undefined : { ...call, logs: true };
  }
  const envelope = validEnvelope(params);
  const agrees =
    envelope?.revision === version &&
    headers["mcp-method"] === name &&
    headers["mcp-name"] === params.name &&
    headers["mcp-session-id"] === undefined;
  if (envelope?.client === undefined || !agrees) return undefined;
  if (mayAsk(envelope.capabilities) || !isPlain(envelope.capabilities)) return undefined;
  return { ...call, envelope, logs: meta?.[logLevelKey] !== undefined };
}

/** Whether a question can be put to the person at the client. */
export function mayAsk(capabilities: Readonly<Record<string, unknown>> | undefined): boolean {
  return capabilities?.elicitation !== undefined;
}

/** Whether the SDK's schema takes it: capabilities are objects of flags and objects. */
function isPlain(capabilities: Readonly<Record<string, unknown>>): boolean {
  const isFlag = (value: unknown) => typeof value === "boolean" || isRecord(value);
  return Object.values(capabilities).every(value => isRecord(value) && Object.values(value).every(isFlag));
}

function takesEither(accept = ""): boolean {
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

function validEnvelope(params: Params): Envelope | undefined {
  try {
    return readEnvelope(params);
  } catch {
    return undefined; // the SDK says what is wrong with it
  }
}
