// Which requests are calls, for turns, audit and figures: those that touch files.
import type { Effect, Tool } from "../contract/tool.ts";
import { isRecord } from "./jsonrpc.ts";
import type { Params } from "./method.ts";

export interface RecordedCall {
  readonly name: string;
  /** Whether there is such a tool. */
  readonly known: boolean;
  readonly effect: Effect;
  /** The paths that it names. */
  readonly paths: readonly string[];
  /** The trace that it belongs to, by the rules of W3C Trace Context. */
  readonly trace?: string;
}

/** Undefined for the methods that touch no file. `find` finds a tool by the name in a call. */
export function recordedCall(
  find: (name: unknown) => Tool | undefined,
  method: string,
  params: Params,
  traceparent?: unknown,
): RecordedCall | undefined {
  if (method !== "tools/call" && method !== "resources/read") return undefined;
  const meta = isRecord(params._meta) ? params._meta : {};
  const trace = traceIn(meta.traceparent ?? traceparent);
  if (method === "resources/read")
    return { name: method, known: true, effect: "reads", paths: [String(params.uri)], trace };
  const tool = find(params.name);
  const { effect = "reads", paths = [] } = tool ?? {};
  const given = isRecord(params.arguments) ? params.arguments : {};
  return {
    name: tool?.name ?? String(params.name).slice(0, 100),
    known: tool !== undefined,
    effect,
    paths: paths.flatMap(parameter => textsIn(given[parameter])),
    trace,
  };
}

function traceIn(traceparent: unknown): string | undefined {
  return typeof traceparent === "string"
    ? /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-/.exec(traceparent)?.[1]
    : undefined;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter(one => typeof one === "string") : [];
}
