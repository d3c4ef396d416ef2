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
import { beginning, withoutTokens } from "../host/masked-tokens.ts";
import { RpcError } from "./jsonrpc.ts";
import type { MethodAnswer } from "./method.ts";
import { decisionOf, type RecordedCall } from "./recorded-call.ts";
import type { RemoteSpan } from "./trace-context.ts";
import type { RefusedRequest, RequestTracing, TracedCaller, TracedRequest, Transport } from "./tracing.ts";

/** Seconds, as the conventions advise them. */
const explicitBucketBoundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const inSeconds = { unit: "s", advice: { explicitBucketBoundaries } };

interface Instruments {
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** Told of calls that have no spans inside them; absent where every call is followed. */
  readonly leaf?: { begin(span: Span): void; end(span: Span): void };
}

export class RequestSpans implements RequestTracing {
  readonly #tracer: Tracer;
  readonly #leaf: Instruments["leaf"];
  readonly #operations: Histogram;
  readonly #sessions: Histogram;

  constructor({ tracer, meter, leaf }: Instruments) {
    this.#tracer = tracer;
    this.#leaf = leaf;
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
    caller: TracedCaller,
    run: (trace: string) => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    // It lasts as long as the client listens, so its duration means nothing.
    if (request.method === "subscriptions/listen") return await run("");
    const started = clock();
    const kind = kindOf(request, caller);
    const span = this.#start(request, kind);
    let ended: Attributes | undefined;
    try {
      const answer = await this.#run(span, request.call, run);
      if (answer.result.isError === true) ended = { "error.type": "tool_error" };
      return answer;
    } catch (error) {
      const code = error instanceof RpcError ? String(error.code) : undefined;
      ended = { "error.type": code ?? "internal" };
      if (code !== undefined) ended["rpc.response.status_code"] = code;
      throw error;
    } finally {
      this.#end(span, request, caller, ended);
      const attributes = ended === undefined ? kind.metrics : { ...kind.metrics, ...ended };
      this.#operations.record((clock() - started) / 1000, attributes);
    }
  }

  #run(span: Span, call: RecordedCall | undefined, run: (trace: string) => Promise<MethodAnswer>) {
    const { traceId } = span.spanContext();
    if (this.#leaf === undefined || call?.leaf !== true)
      return context.with(trace.setSpan(context.active(), span), run, undefined, traceId);
    this.#leaf.begin(span);
    return run(traceId);
  }

  refused({ method, status, address, trace: { parent } }: RefusedRequest): string {
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
    return span.spanContext().traceId;
  }

  sessionEnded({ started }: Session, transport: Transport): void {
    this.#sessions.record((Date.now() - started) / 1000, transportAttributes[transport]);
  }

  #start({ trace: { parent, link } }: TracedRequest, kind: RequestKind): Span {
    return this.#tracer.startSpan(
      kind.name,
      {
        kind: SpanKind.SERVER,
        attributes: kind.attributes,
        links: link && [{ context: spanContext(link) }],
      },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext(parent)),
    );
  }

  #end(span: Span, request: TracedRequest, caller: TracedCaller, ended: Attributes | undefined): void {
    const { call, address } = request;
    if (call?.leaf === true) this.#leaf?.end(span);
    if (span.isRecording()) {
      const { id, session, fault } = caller;
      // One object with the same keys each time: that is several times as fast as setting one after the other.
      span.setAttributes({
        "jsonrpc.request.id": id && beginning(id.startsWith('"') ? id.slice(1, -1) : id, 100),
        // Our own id: the one on the wire is enough to use the session.
        "mcp.session.id": session.lasting ? session.connection : undefined,
        "client.address": address,
        "polyfs.paths.count": call?.paths.length,
        "polyfs.policy.decision": call && decisionOf(fault),
        "polyfs.fault": fault,
      });
      if (ended !== undefined) span.setAttributes(ended).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

const transportAttributes: Readonly<Record<Transport, Attributes>> = {
  stdio: { "network.transport": "pipe" },
  http: { "network.transport": "tcp", "network.protocol.name": "http" },
};

/** What requests of one kind have in common. */
interface RequestKind {
  readonly revision: string;
  readonly dialect: string;
  readonly transport: Transport;
  readonly name: string;
  readonly attributes: Attributes;
  readonly metrics: Attributes;
}

const kinds = new WeakMap<Workspace, Map<string, RequestKind[]>>();

/** One object for each kind: names come from our tables, so there are few. */
function kindOf(request: TracedRequest, { revision }: TracedCaller): RequestKind {
  const { method, call, transport, dialect, workspace } = request;
  const tool = method === "tools/call" && call?.known ? call.name : undefined;
  let known = kinds.get(workspace);
  if (known === undefined) {
    known = new Map();
    kinds.set(workspace, known);
  }
  const ofName = known.get(tool ?? method) ?? [];
  for (const kind of ofName)
    if (kind.revision === revision && kind.dialect === dialect && kind.transport === transport) return kind;
  const kind = describe(request, revision, tool);
  ofName.push(kind);
  known.set(tool ?? method, ofName);
  return kind;
}

function describe(
  { method, transport, dialect, workspace }: TracedRequest,
  revision: string,
  tool: string | undefined,
): RequestKind {
  const metrics: Attributes = {
    "mcp.method.name": method,
    "mcp.protocol.version": revision,
    ...transportAttributes[transport],
    ...(method === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
    ...(tool !== undefined && { "gen_ai.tool.name": tool }),
  };
  const roots = workspace.roots.map(({ path }) => path);
  return {
    revision,
    dialect,
    transport,
    name: tool === undefined ? method : `${method} ${tool}`,
    attributes: { ...metrics, "polyfs.dialect": dialect, "polyfs.workspace": roots },
    metrics,
  };
}

function spanContext({ traceId, spanId, flags, state }: RemoteSpan): SpanContext {
  const traceState = state === undefined ? {} : { traceState: createTraceState(withoutTokens(state)) };
  return { traceId, spanId, traceFlags: flags, isRemote: true, ...traceState };
}
