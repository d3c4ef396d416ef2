// An OTLP receiver: takes what is posted to /v1/traces and /v1/metrics and gives it back as plain objects.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 is an error. */
  readonly status: number | undefined;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Point {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly sum: number;
}

export interface Collector {
  readonly url: string;
  /** What names the collector to a program, with little delay. */
  readonly environment: Readonly<Record<string, string>>;
  readonly spans: Span[];
  readonly points: Point[];
  /** All bodies, as they came. */
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
  /** The first span that fits, when it has come. */
  span(fits: (span: Span) => boolean): Promise<Span>;
}

interface Behaviour {
  /** How many requests are answered with this status first. */
  readonly refuse?: { readonly times: number; readonly status: number };
}

// biome-ignore lint/suspicious/noExplicitAny: what comes is checked by the tests
type Json = any;

export async function collector({ refuse = { times: 0, status: 503 } }: Behaviour = {}): Promise<Collector> {
  const [spans, points, bodies, headers]: [Span[], Point[], string[], IncomingHttpHeaders[]] = [
    [],
    [],
    [],
    [],
  ];
  let waiting: (() => void)[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      headers.push(request.headers);
      if (refused++ < refuse.times)
        return void response.writeHead(refuse.status, { "retry-after": "0" }).end();
      const raw = Buffer.concat(chunks);
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw).toString();
      bodies.push(text);
      const body: Json = JSON.parse(text);
      if (request.url?.endsWith("/v1/traces")) spans.push(...spansIn(body));
      else if (request.url?.endsWith("/v1/metrics")) points.push(...pointsIn(body));
      else return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      for (const wake of waiting.splice(0)) wake();
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: "20",
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
    spans,
    points,
    bodies,
    headers,
    async span(fits) {
      for (;;) {
        const found = spans.find(fits);
        if (found !== undefined) return found;
        await new Promise<void>(resolve => {
          waiting = [...waiting, resolve];
        });
      }
    },
  };
}

function spansIn(body: Json): Span[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap((scoped: Json) =>
      scoped.spans.map(
        ({ startTimeUnixNano, endTimeUnixNano, attributes, links, status, ...span }: Json) => ({
          ...span,
          start: BigInt(startTimeUnixNano),
          end: BigInt(endTimeUnixNano),
          attributes: plain(attributes),
          links: links ?? [],
          status: status.code,
          resource: plain(resource.attributes),
        }),
      ),
    ),
  );
}

function pointsIn(body: Json): Point[] {
  return body.resourceMetrics.flatMap(({ scopeMetrics }: Json) =>
    scopeMetrics.flatMap(({ metrics }: Json) =>
      metrics.flatMap(({ name, unit, histogram }: Json) =>
        histogram.dataPoints.map(({ attributes, count, sum, bucketCounts, explicitBounds }: Json) => {
          const counted = bucketCounts.reduce((total: number, one: string) => total + Number(one), 0);
          if (bucketCounts.length !== explicitBounds.length + 1 || counted !== Number(count))
            throw new Error(`${name}: the buckets do not add up`);
          return { metric: name, unit, attributes: plain(attributes), count: Number(count), sum };
        }),
      ),
    ),
  );
}

function plain(attributes: Json): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }: Json) => [key, anyOf(value)]));
}

function anyOf(value: Json): unknown {
  return value.arrayValue ? value.arrayValue.values.map(anyOf) : Object.values(value)[0];
}
