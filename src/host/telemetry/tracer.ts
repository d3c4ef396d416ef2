// A tracer for the OpenTelemetry API that does what a server's spans need: identifiers, sampling by the environment's
// choice, and a place to put spans that have ended.
import { randomBytes } from "node:crypto";
import {
  type Context,
  context as contexts,
  type Span,
  type SpanContext,
  type SpanOptions,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { RecordedSpan } from "./recorded-span.ts";
import type { TelemetrySettings } from "./settings.ts";

export class OwnTracer implements Tracer, TracerProvider {
  readonly #isSampled: (parent: SpanContext | undefined, traceId: string) => boolean;
  readonly #onEnd: (span: RecordedSpan) => void;

  constructor(sampler: TelemetrySettings["sampler"], onEnd: (span: RecordedSpan) => void) {
    this.#isSampled = samplerOf(sampler);
    this.#onEnd = onEnd;
  }

  getTracer(): Tracer {
    return this;
  }

  startSpan(name: string, options: SpanOptions = {}, within: Context = contexts.active()): Span {
    const parent = options.root ? undefined : validParent(within);
    const traceId = parent?.traceId ?? randomHex(16);
    const sampled = this.#isSampled(parent, traceId);
    const context: SpanContext = {
      traceId,
      spanId: randomHex(8),
      traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(parent?.traceState && { traceState: parent.traceState }),
    };
    if (!sampled) return trace.wrapSpanContext(context);
    const { kind, attributes, links } = options;
    return new RecordedSpan({ context, name, kind, parent, attributes, links }, this.#onEnd);
  }

  /** The last argument is the function; options and a context may come before it. */
  startActiveSpan<F extends (span: Span) => unknown>(name: string, ...rest: unknown[]): ReturnType<F> {
    const action = rest.at(-1) as F;
    const [options, within = contexts.active()] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const span = this.startSpan(name, options, within);
    return contexts.with(trace.setSpan(within, span), () => action(span)) as ReturnType<F>;
  }
}

function validParent(within: Context): SpanContext | undefined {
  const parent = trace.getSpanContext(within);
  return parent !== undefined && trace.isSpanContextValid(parent) ? parent : undefined;
}

function samplerOf({ name, ratio }: TelemetrySettings["sampler"]) {
  const own = name.replace("parentbased_", "");
  // By the last 14 digits, which is the part that W3C Trace Context promises to be random.
  const chosen = (traceId: string) =>
    own === "always_on" ||
    (own === "traceidratio" && Number.parseInt(traceId.slice(-14), 16) >= (1 - ratio) * 2 ** 56);
  return (parent: SpanContext | undefined, traceId: string) =>
    parent !== undefined && name.startsWith("parentbased_")
      ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0
      : chosen(traceId);
}

/** Random digits are cheap by the page. */
const pageBytes = 4096;
let digits = "";
let used = 0;

function randomHex(bytes: number): string {
  if (used + 2 * bytes > digits.length) {
    digits = randomBytes(pageBytes).toString("hex");
    used = 0;
  }
  const hex = digits.slice(used, used + 2 * bytes);
  used += 2 * bytes;
  return isZero(hex) ? randomHex(bytes) : hex;
}

/** An identifier of zeros counts as none. */
function isZero(hex: string): boolean {
  return hex.startsWith("00000000") && /^0+$/.test(hex);
}
