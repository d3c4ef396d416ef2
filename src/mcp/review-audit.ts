// What a person does at the review page, as an entry of the audit log: the same fields as a call, with the client
// `review`.
import { beginning } from "../host/masked-tokens.ts";
import type { PageAction } from "../review/http/page-watch.ts";
import { auditedChanges } from "./audited-change.ts";
import { isRecord } from "./jsonrpc.ts";
import { textsIn } from "./recorded-call.ts";

const mostIds = 100;
const longestText = 100;

export function reviewEntry(action: PageAction): Record<string, unknown> {
  const { viewer, address, route, paths, about, bytesIn, bytesOut, ms, answer } = action;
  const body = isRecord(answer.body) ? answer.body : {};
  const isOk = answer.status < 400;
  // Of what the routes answer, only an undo that was done made changes.
  const changes = isOk && body.done === true ? textsIn(body.changes) : [];
  return {
    event: "call",
    caller: viewer.who,
    client: "review",
    address,
    tool: `review/${route}`,
    workspace: viewer.workspace.roots.map(({ path }) => path),
    paths,
    about: Object.fromEntries(Object.entries(about).map(([name, value]) => [name, bounded(value)])),
    decision: answer.status === 403 ? "denied" : "allowed",
    outcome: isOk ? "ok" : "error",
    fault: isOk ? undefined : (body.error ?? "conflict"),
    bytesIn,
    bytesOut,
    ms: Math.round(ms * 10) / 10,
    changes: auditedChanges(viewer.workspace, changes),
  };
}

function bounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, mostIds).map(bounded);
  if (typeof value === "string") return beginning(value, longestText);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}
