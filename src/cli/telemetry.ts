// Telemetry, where it is wanted: the environment names an OTLP endpoint, or an OpenTelemetry SDK was loaded
// before us (`node --import`). Otherwise nothing of it is loaded.
import type { Log } from "../mcp/log.ts";
import type { RequestTracing } from "../mcp/tracing.ts";
import type { Config } from "./config.ts";

interface OpenTelemetry {
  readonly tracing: RequestTracing;
  /** Where it goes, for the line of the start. */
  readonly to: string;
  end(): Promise<void>;
}

const endpoints = ["ENDPOINT", "TRACES_ENDPOINT", "METRICS_ENDPOINT"];

/** `store`: each call may reach a shared store, so that every call is followed. */
export async function openTelemetry(
  log: Log,
  { store }: Pick<Config, "store">,
): Promise<OpenTelemetry | undefined> {
  const { env } = process;
  const foreign = isSdkLoaded();
  const endpoint = endpoints.map(name => env[`OTEL_EXPORTER_OTLP_${name}`]).find(Boolean);
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return undefined;
  if (!foreign && endpoint === undefined) return undefined;
  const { startTelemetry } = await import("../host/telemetry/telemetry.ts");
  const { RequestSpans } = await import("../mcp/request-spans.ts");
  const telemetry = startTelemetry(env, foreign, problem => log.warn(problem));
  const to = foreign ? "the SDK that was loaded with Node" : hostOf(endpoint ?? "");
  const { tracer, meter } = telemetry;
  const leaf = store === undefined ? telemetry.leaf : undefined;
  return { tracing: new RequestSpans({ tracer, meter, leaf }), to, end: telemetry.end };
}

/** The API keeps what is registered in one place of the process, whichever copy of it is asked. */
function isSdkLoaded(): boolean {
  const registered: unknown = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1"));
  return typeof registered === "object" && registered !== null && "trace" in registered;
}

/** Without what may be secret in an address. */
function hostOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).origin : "nowhere: the endpoint is not a URL";
}
