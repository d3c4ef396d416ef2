// Where a request belongs in a trace, by W3C Trace Context: `traceparent` and `tracestate` in the request's `_meta`,
// or in the headers of the HTTP request that carries it. What is malformed is ignored, as that standard wants it.
import type { Params } from "./method.ts";
import { metaOf } from "./revision.ts";

export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  readonly state?: string;
}

/** Trace headers of an HTTP request. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface TraceContext {
  readonly parent?: RemoteSpan;
  /** The HTTP request's own span, where the message names another one as its parent. */
  readonly link?: RemoteSpan;
}

export function traceContextOf(params: Params, headers: TraceHeaders): TraceContext {
  const meta = metaOf(params) ?? {};
  const stated = remoteSpan(meta.traceparent, meta.tracestate);
  const carried = remoteSpan(headers.traceparent, headers.tracestate);
  if (stated === undefined) return carried === undefined ? {} : { parent: carried };
  const isOther = carried !== undefined && carried.spanId !== stated.spanId;
  return isOther ? { parent: stated, link: carried } : { parent: stated };
}

const longestState = 512;

function remoteSpan(traceparent: unknown, tracestate: unknown): RemoteSpan | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, version = "ff", traceId = "", spanId = "", flags = "", more = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(traceparent) ?? [];
  if (version === "ff" || (version === "00" && more !== "")) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = typeof tracestate === "string" && tracestate.length <= longestState ? tracestate : undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16), ...(state !== undefined && { state }) };
}
