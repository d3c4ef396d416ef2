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

/** Put together as text: a thousand spans a second are cheaper to write down than to build as objects first. */
export function tracesBody(resource: Attributes, spans: readonly { json(): string }[]): string {
  const about = JSON.stringify({ attributes: keyValues(resource) });
  const written = spans.map(span => span.json()).join(",");
  return `{"resourceSpans":[{"resource":${about},"scopeSpans":[{"scope":${JSON.stringify(scope)},"spans":[${written}]}]}]}`;
}

const shared = new WeakMap<Attributes, string>();

/** The members of the JSON array for attributes that many spans share, and that do not change. */
export function sharedMembers(attributes: Attributes): string {
  let members = shared.get(attributes);
  if (members === undefined) {
    members = JSON.stringify(keyValues(attributes)).slice(1, -1);
    shared.set(attributes, members);
  }
  return members;
}

const names = new Map<string, string>();
const mostNames = 1000;

/** Keys are few, and the same ones come again. */
function quoted(key: string): string {
  let name = names.get(key);
  if (name === undefined) {
    name = JSON.stringify(key);
    if (names.size < mostNames) names.set(key, name);
  }
  return name;
}

export function member(key: string, value: AttributeValue): string {
  const name = quoted(key);
  if (typeof value === "string") return `{"key":${name},"value":{"stringValue":${JSON.stringify(value)}}}`;
  return `{"key":${name},"value":${JSON.stringify(anyValue(value))}}`;
}

export function metricsBody(resource: Attributes, metrics: readonly object[]): string {
  return JSON.stringify({
    resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics: [{ scope, metrics }] }],
  });
}
