// The JSON form of OTLP, as collectors take it at /v1/traces and /v1/metrics.
import type { Attributes, AttributeValue } from "@opentelemetry/api";
import { version } from "../../version.ts";

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: number }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

export function keyValues(attributes: Attributes): KeyValue[] {
  const list: KeyValue[] = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) list.push({ key, value: anyValue(value) });
  }
  return list;
}

function anyValue(value: AttributeValue | null | undefined): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return { arrayValue: { values: (value ?? []).map(anyValue) } };
}

/** Milliseconds since 1970 in nanoseconds, as text: no number holds as many digits. */
export function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

const scope = { name: "polyfs", version };

export function tracesBody(resource: Attributes, spans: readonly object[]): string {
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans }] }],
  });
}

export function metricsBody(resource: Attributes, metrics: readonly object[]): string {
  return JSON.stringify({
    resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics: [{ scope, metrics }] }],
  });
}
