// Counters in Prometheus format. Labels are few and ours (dialect, tool, outcome), so that no caller can make them
// grow without bound, and none names a caller or a file.
import type { Figures } from "../recorder.ts";

const buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600];

interface MetricSeries {
  count: number;
  seconds: number;
  readonly within: number[];
}

/** A gauge: its value is read on each scrape. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  value(): number | undefined;
}

export class Metrics {
  readonly #calls = new Map<string, number>();
  readonly #latency = new Map<string, MetricSeries>();
  readonly #refusals = new Map<number, number>();
  #bytesIn = 0;
  #bytesOut = 0;

  call({ dialect, tool = "", outcome, ms, bytesIn, bytesOut }: Figures): void {
    const labels = `dialect="${dialect}",tool="${tool}"`;
    add(this.#calls, `${labels},outcome="${outcome}"`);
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
    const series = this.#latency.get(labels) ?? { count: 0, seconds: 0, within: buckets.map(() => 0) };
    this.#latency.set(labels, series);
    series.count++;
    series.seconds += ms / 1000;
    for (const [at, limit] of buckets.entries()) {
      if (ms / 1000 <= limit) series.within[at] = (series.within[at] ?? 0) + 1;
    }
  }

  /** A request that was not served. */
  refused(status: number): void {
    add(this.#refusals, status);
  }

  print(gauges: readonly Gauge[]): string {
    return [
      ...family("polyfs_calls_total", "counter", "Calls of tools, by how they ended"),
      ...[...this.#calls].map(([labels, count]) => `polyfs_calls_total{${labels}} ${count}`),
      ...family("polyfs_call_seconds", "histogram", "How long calls took, from their turn to their answer"),
      ...[...this.#latency].flatMap(([labels, series]) => [
        ...buckets.map(
          (limit, at) => `polyfs_call_seconds_bucket{${labels},le="${limit}"} ${series.within[at]}`,
        ),
        `polyfs_call_seconds_bucket{${labels},le="+Inf"} ${series.count}`,
        `polyfs_call_seconds_sum{${labels}} ${series.seconds}`,
        `polyfs_call_seconds_count{${labels}} ${series.count}`,
      ]),
      ...family("polyfs_refused_total", "counter", "Requests that were not served, by status"),
      ...[...this.#refusals].map(([status, count]) => `polyfs_refused_total{status="${status}"} ${count}`),
      ...family("polyfs_received_bytes_total", "counter", "Bytes of calls"),
      `polyfs_received_bytes_total ${this.#bytesIn}`,
      ...family("polyfs_answered_bytes_total", "counter", "Bytes of content in answers to calls"),
      `polyfs_answered_bytes_total ${this.#bytesOut}`,
      ...gauges.flatMap(({ name, help, value }) => {
        const now = value();
        return now === undefined ? [] : [...family(name, "gauge", help), `${name} ${now}`];
      }),
      "",
    ].join("\n");
  }
}

function family(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
