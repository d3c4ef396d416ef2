// Errors on their way to the client. One that no method throws on purpose is a bug: it is logged, and told as such.
import { beginning } from "../host/masked-tokens.ts";
import { InternalError, RpcError } from "./jsonrpc.ts";
import type { Log } from "./log.ts";

export function rpcErrorOf(error: unknown, log: Log, method: string, request: string | number): RpcError {
  if (error instanceof RpcError) return error;
  log.error(`${beginning(method, 100)} failed`, error, { request });
  const reason = error instanceof Error ? error.message : String(error);
  return new RpcError(InternalError, `Internal error: ${reason}`);
}
