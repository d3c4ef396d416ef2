// Requests as spans and metrics, by the conventions for MCP (open-telemetry/semantic-conventions-genai,
// docs/gen-ai/mcp.md at 0393513c, status Development: names may change with it). Arguments, results, paths and
// messages are left out: they hold what is in files. Loaded only with telemetry.
import {
  type Attributes,
  context,
  createTraceState,
  type Histogram,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Session } from "../contract/session.ts";
import { clock } from "../engine/clock.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { RpcError } from "./jsonrpc.ts";
import type { Caller, MethodAnswer } from "./method.ts";
import { decisionOf, type RecordedCall } from "./recorded-call.ts";
import type { RemoteSpan } from "./trace-context.ts";
import type { RefusedRequest, RequestTracing, TracedRequest, Transport } from "./tracing.ts";

/** Seconds, as the conventions advise them. */
const explicitBucketBoundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const inSeconds = { unit: "s", advice: { explicitBucketBoundaries } };

export class RequestSpans implements RequestTracing {
  readonly #tracer: Tracer;
  readonly #operations: Histogram;
  readonly #sessions: Histogram;

  constructor({ tracer, meter }: { readonly tracer: Tracer; readonly meter: Meter }) {
    this.#tracer = tracer;
    const described = (description: string) => ({ ...inSeconds, description });
    this.#operations = meter.createHistogram(
      "mcp.server.operation.duration",
      described("How long requests took, as the server sees it"),
    );
    this.#sessions = meter.createHistogram(
      "mcp.server.session.duration",
      described("How long sessions lasted, as the server sees it"),
    );
  }

  async request(
    request: TracedRequest,
    caller: Caller,
    run: (trace: string) => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    // It lasts as long as the client listens, which is no measure of anything.
    if (request.method === "subscriptions/listen") return await run("");
    const started = clock();
    const common = commonAttributes(request, caller);
    const span = this.#start(request, caller, common);
    const ended: Attributes = {};
    try {
      const { traceId } = span.spanContext();
      const answer = await context.with(trace.setSpan(context.active(), span), () => run(traceId));
      if (answer.result.isError === true) ended["error.type"] = "tool_error";
      return answer;
    } catch (error) {
      const code = error instanceof RpcError ? String(error.code) : undefined;
      ended["error.type"] = code ?? "internal";
      if (code !== undefined) ended["rpc.response.status_code"] = code;
      throw error;
    } finally {
      this.#end(span, caller, ended, request.call);
      const attributes = ended["error.type"] === undefined ? common : { ...common, ...ended };
      this.#operations.record((clock() - started) / 1000, attributes);
    }
  }

  refused({ method, status, address, trace: { parent } }: RefusedRequest): void {
    const attributes: Attributes = {
      ...transportAttributes.http,
      "http.request.method": method,
      "http.response.status_code": status,
      "error.type": String(status),
      "polyfs.policy.decision": "denied",
    };
    if (address !== undefined) attributes["client.address"] = address;
    const span = this.#tracer.startSpan(
      `${method} refused`,
      { kind: SpanKind.SERVER, attributes },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext(parent)),
    );
    // By the HTTP conventions, a server's span fails with a fault of the server.
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  sessionEnded({ started }: Session, transport: Transport): void {
    this.#sessions.record((Date.now() - started) / 1000, transportAttributes[transport]);
  }

  #start(request: TracedRequest, caller: Caller, common: Attributes): Span {
    const { method, call, address, dialect, workspace } = request;
    const { session, id } = caller;
    const tool = common["gen_ai.tool.name"];
    const attributes: Attributes = {
      ...common,
      "polyfs.dialect": dialect,
      "polyfs.workspace": rootsOf(workspace),
    };
    if (id !== undefined)
      attributes["jsonrpc.request.id"] = (id.startsWith('"') ? id.slice(1, -1) : id).slice(0, 100);
    // Our own id: the one on the wire is enough to use the session.
    if (session.lasting) attributes["mcp.session.id"] = session.connection;
    if (address !== undefined) attributes["client.address"] = address;
    if (call !== undefined) attributes["polyfs.paths.count"] = call.paths.length;
    const { parent, link } = request.trace;
    return this.#tracer.startSpan(
      tool === undefined ? method : `${method} ${tool}`,
      {
        kind: SpanKind.SERVER,
        attributes,
        ...(link !== undefined && { links: [{ context: spanContext(link) }] }),
      },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext(parent)),
    );
  }

  #end(span: Span, { fault }: Caller, ended: Attributes, call: RecordedCall | undefined): void {
    if (span.isRecording()) {
      span.setAttributes(ended);
      if (fault !== undefined) span.setAttribute("polyfs.fault", fault);
      if (call !== undefined) span.setAttribute("polyfs.policy.decision", decisionOf(fault));
      if (ended["error.type"] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

const transportAttributes: Readonly<Record<Transport, Attributes>> = {
  stdio: { "network.transport": "pipe" },
  http: { "network.transport": "tcp", "network.protocol.name": "http" },
};

const known = new Map<string, Attributes>();
const mostKnown = 1000;

/** What spans and metrics both have, one object for each set: names come from our tables, so there are few. */
function commonAttributes({ method, call, transport }: TracedRequest, { revision }: Caller): Attributes {
  const tool = method === "tools/call" && call?.known ? call.name : undefined;
  const key = `${transport} ${revision} ${method} ${tool ?? ""}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const attributes: Attributes = {
    "mcp.method.name": method,
    "mcp.protocol.version": revision,
    ...transportAttributes[transport],
    ...(method === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
    ...(tool !== undefined && { "gen_ai.tool.name": tool }),
  };
  if (known.size < mostKnown) known.set(key, attributes);
  return attributes;
}

const roots = new WeakMap<Workspace, string[]>();

function rootsOf(workspace: Workspace): string[] {
  const paths = roots.get(workspace) ?? workspace.roots.map(({ path }) => path);
  roots.set(workspace, paths);
  return paths;
}

function spanContext({ traceId, spanId, flags, state }: RemoteSpan): SpanContext {
  const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
  return { traceId, spanId, traceFlags: flags, isRemote: true, ...traceState };
}
