// OpenTelemetry: an SDK that was loaded with Node gets our spans; where the environment names an OTLP
// endpoint and there is no such SDK, spans and metrics are sent by our own small implementation of the API
// (docs/decisions/telemetry.md). Loaded only then.
import { context, type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { version } from "../../version.ts";
import { AsyncContext } from "./async-context.ts";
import { Batches } from "./batches.ts";
import { traceEngine } from "./engine-spans.ts";
import { OwnMeter } from "./meter.ts";
import { metricsBody, tracesBody } from "./otlp.ts";
import type { RecordedSpan } from "./recorded-span.ts";
import { Sender } from "./sender.ts";
import { type TelemetrySettings, telemetrySettings } from "./settings.ts";
import { OwnTracer } from "./tracer.ts";

export interface Telemetry {
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** For spans that have no children as a rule; absent where an SDK of the user follows everything. */
  readonly leaf?: AsyncContext["leaf"];
  /** Sends what is left, for a moment at most. */
  end(): Promise<void>;
}

const lastMs = 2000;

/** `foreign`: an SDK that the user has loaded takes what we record, and sends it. */
export function startTelemetry(
  environment: NodeJS.ProcessEnv,
  foreign: boolean,
  warn: (problem: string) => void,
): Telemetry {
  const own = foreign ? undefined : new AsyncContext();
  const end = own ? register(telemetrySettings(environment, warn), own, warn) : async () => {};
  const tracer = trace.getTracer("polyfs", version);
  traceEngine(tracer);
  return { tracer, meter: metrics.getMeter("polyfs", version), leaf: own?.leaf, end };
}

function register(
  settings: TelemetrySettings,
  following: AsyncContext,
  warn: (problem: string) => void,
): () => Promise<void> {
  const ends = [traces(settings, following, warn), measurements(settings, warn)];
  return async () => {
    await within(lastMs, Promise.all(ends.map(end => end())));
  };
}

function traces(
  { traces: target, resource, batch, sampler }: TelemetrySettings,
  following: AsyncContext,
  warn: (problem: string) => void,
): () => Promise<void> {
  if (target === undefined) return async () => {};
  const sender = new Sender(target, warn);
  const batches = new Batches<RecordedSpan>({
    ...batch,
    warn,
    send: spans => sender.send(tracesBody(resource, spans)),
  });
  context.setGlobalContextManager(following);
  trace.setGlobalTracerProvider(new OwnTracer(sampler, span => batches.add(span)));
  return async () => {
    sender.close();
    await batches.flush();
    sender.end();
  };
}

function measurements(
  { metrics: target, resource, metricsEveryMs, delta }: TelemetrySettings,
  warn: (problem: string) => void,
): () => Promise<void> {
  if (target === undefined) return async () => {};
  const sender = new Sender(target, warn);
  const meter = new OwnMeter(delta);
  metrics.setGlobalMeterProvider(meter);
  const send = async () => {
    const collected = meter.collect();
    if (collected.length > 0) await sender.send(metricsBody(resource, collected));
  };
  const timer = setInterval(() => void send(), metricsEveryMs).unref();
  return async () => {
    clearInterval(timer);
    sender.close();
    await send();
    sender.end();
  };
}

/** Waits for the promise, but not longer. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
