// A call of `polyfs call` with its line in the audit log, which is that of a server's call.
import { call } from "../../contract/call.ts";
import type { CallContext } from "../../contract/context.ts";
import type { Dialect, Outcome } from "../../contract/dialect.ts";
import { Fault } from "../../engine/fault.ts";
import type { AuditLog } from "../../host/audit-log.ts";
import { RpcError } from "../../mcp/jsonrpc.ts";
import type { Caller } from "../../mcp/method.ts";
import { decisionOf, recordedCall } from "../../mcp/recorded-call.ts";
import { Recorder } from "../../mcp/recorder.ts";
import type { ProtocolRevision } from "../../mcp/revision.ts";
import { wireResult } from "../../mcp/tools.ts";
import { userName } from "../user-name.ts";

interface GivenCall {
  readonly name: string;
  readonly params: unknown;
  readonly bytesIn: number;
}

export async function auditedCall(
  audit: AuditLog,
  dialect: Dialect,
  { name, params, bytesIn }: GivenCall,
  context: CallContext & { readonly revision: ProtocolRevision },
): Promise<Outcome> {
  const { workspace, session, signal, revision } = context;
  const { prefix = "" } = dialect;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const find = () => dialect.tools.find(tool => tool.name === bare);
  const made = recordedCall(find, "tools/call", { name, arguments: params });
  const caller: Caller = {
    session,
    signal,
    revision,
    get aborted() {
      return signal.aborted;
    },
    notify() {},
  };
  const outcome: Outcome[] = [];
  const run = async () => {
    const ended = await call(dialect, name, params, { ...context, ...reportsTo(caller) });
    outcome.push(ended);
    if ("error" in ended) throw new RpcError(ended.error.code, ended.error.message);
    return { result: wireResult(ended, revision) };
  };
  using recorder = new Recorder(workspace, { audit: entry => audit.append(entry) });
  const origin = { caller: userName(), dialect: dialect.name, workspace, bytesIn };
  const answer = made === undefined ? run() : recorder.record(origin, made, caller, run);
  await answer.catch((error: unknown) => {
    if (outcome.length === 0) throw error;
  });
  return outcome[0] as Outcome;
}

/** Why the call failed and what the history does not cover, for the record. */
function reportsTo(caller: Caller): Required<Pick<CallContext, "failed" | "failedInPart" | "uncovered">> {
  return {
    failed({ code }) {
      caller.fault = code;
    },
    failedInPart(error) {
      if (error instanceof Fault && decisionOf(error.code) === "denied") caller.fault = error.code;
    },
    uncovered(changes) {
      caller.uncovered = changes;
    },
  };
}
