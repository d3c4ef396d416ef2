// What the environment says about telemetry, by the names of the OpenTelemetry specification. Nothing is sent unless
// an endpoint is named.
import { randomUUID } from "node:crypto";
import { version } from "../../version.ts";

export type Signal = "traces" | "metrics";

/** Where one signal goes. */
export interface ExportTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly gzip: boolean;
}

export interface TelemetrySettings {
  readonly traces?: ExportTarget;
  readonly metrics?: ExportTarget;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: { readonly name: string; readonly ratio: number };
  readonly batch: { readonly delayMs: number; readonly queue: number; readonly size: number };
  readonly metricsEveryMs: number;
  readonly delta: boolean;
}

type TelemetryEnvironment = Readonly<Record<string, string | undefined>>;

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
];

/** `warn` gets the values that cannot be used; a wrong value must not keep the server from starting. */
export function telemetrySettings(
  environment: TelemetryEnvironment,
  warn: (problem: string) => void,
): TelemetrySettings {
  const number = (name: string, otherwise: number, most = 2 ** 31 - 1): number => {
    const text = environment[name]?.trim() || undefined;
    const value = Number(text);
    if (text !== undefined && Number.isFinite(value) && value >= 0 && value <= most) return value;
    if (text !== undefined) warn(`${name} is not a valid number: using ${otherwise}`);
    return otherwise;
  };
  const name = environment.OTEL_TRACES_SAMPLER?.trim() || "parentbased_always_on";
  const known = samplers.includes(name);
  if (!known)
    warn(`OTEL_TRACES_SAMPLER: ${name} is unknown (${samplers.join(", ")}); every trace is sampled`);
  const preference = environment.OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE ?? "cumulative";
  return {
    traces: targetOf("traces", environment, warn, number),
    metrics: targetOf("metrics", environment, warn, number),
    resource: resourceOf(environment, warn),
    sampler: {
      name: known ? name : "parentbased_always_on",
      ratio: number("OTEL_TRACES_SAMPLER_ARG", 1, 1),
    },
    batch: {
      delayMs: number("OTEL_BSP_SCHEDULE_DELAY", 5000),
      queue: Math.max(1, number("OTEL_BSP_MAX_QUEUE_SIZE", 2048)),
      size: Math.max(1, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)),
    },
    metricsEveryMs: Math.max(100, number("OTEL_METRIC_EXPORT_INTERVAL", 60_000)),
    delta: preference.toLowerCase() !== "cumulative",
  };
}

function targetOf(
  signal: Signal,
  environment: TelemetryEnvironment,
  warn: (problem: string) => void,
  number: (name: string, otherwise: number) => number,
): ExportTarget | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
  const setting = (name: string) =>
    environment[`${own}_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`];
  const exporter = environment[`OTEL_${signal.toUpperCase()}_EXPORTER`] || "otlp";
  if (exporter !== "otlp") {
    if (exporter !== "none")
      warn(`OTEL_${signal.toUpperCase()}_EXPORTER: only otlp and none are supported; no ${signal} are sent`);
    return undefined;
  }
  const text = endpointOf(signal, environment);
  if (text === undefined) return undefined;
  const protocol = setting("PROTOCOL") ?? "http/json";
  if (protocol === "grpc") {
    warn(`OTLP over gRPC is not supported: name the HTTP endpoint (port 4318); no ${signal} are sent`);
    return undefined;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    warn(`the OTLP endpoint is not an http or https URL; no ${signal} are sent`);
    return undefined;
  }
  return {
    url,
    headers: pairsOf(setting("HEADERS") ?? "", () => warn(`${own}_HEADERS: a pair is not name=value`)),
    timeoutMs: number(
      environment[`${own}_TIMEOUT`] ? `${own}_TIMEOUT` : "OTEL_EXPORTER_OTLP_TIMEOUT",
      10_000,
    ),
    gzip: setting("COMPRESSION") === "gzip",
  };
}

/** The endpoint of a signal is taken as it is; that of all signals is extended by the signal's path. */
function endpointOf(signal: Signal, environment: TelemetryEnvironment): string | undefined {
  const own = environment[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
  if (own) return own;
  const common = environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  return common ? `${common.replace(/\/+$/, "")}/v1/${signal}` : undefined;
}

function resourceOf(
  environment: TelemetryEnvironment,
  warn: (problem: string) => void,
): Record<string, string> {
  const given = pairsOf(environment.OTEL_RESOURCE_ATTRIBUTES ?? "", () =>
    warn("OTEL_RESOURCE_ATTRIBUTES: a pair is not name=value"),
  );
  return {
    "service.name": "polyfs",
    "service.version": version,
    "service.instance.id": randomUUID(),
    ...given,
    ...(environment.OTEL_SERVICE_NAME ? { "service.name": environment.OTEL_SERVICE_NAME } : {}),
    "telemetry.sdk.name": "polyfs",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": version,
  };
}

/** `a=1,b=2`, percent-encoded. */
function pairsOf(text: string, malformed: () => void): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
    try {
      if (name === "") malformed();
      else pairs[name] = decodeURIComponent(value.trim());
    } catch {
      malformed();
    }
  }
  return pairs;
}
