// Histograms for the OpenTelemetry API, which is all that our own metrics need; other instruments do nothing.
import {
  type Attributes,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
} from "@opentelemetry/api";
import { keyValues, nanoseconds } from "./otlp.ts";

const defaultBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Attributes are few and ours; should they ever not be, memory stays bounded. */
const mostSeries = 2000;

interface Series {
  readonly attributes: Attributes;
  count: number;
  sum: number;
  min: number;
  max: number;
  readonly buckets: number[];
}

export class OwnMeter implements MeterProvider {
  readonly #delta: boolean;
  readonly #histograms: OwnHistogram[] = [];
  #since = Date.now();

  constructor(delta: boolean) {
    this.#delta = delta;
  }

  getMeter(): Meter {
    const createHistogram = (name: string, options?: MetricOptions) => {
      const histogram = new OwnHistogram(name, options);
      this.#histograms.push(histogram);
      return histogram;
    };
    return Object.assign(Object.create(createNoopMeter()), { createHistogram });
  }

  /** What there is to report now; empty where nothing was recorded. */
  collect(): object[] {
    const [from, to] = [nanoseconds(this.#since), nanoseconds(Date.now())];
    const metrics = this.#histograms.flatMap(one => one.collect(from, to, this.#delta));
    if (this.#delta) this.#since = Date.now();
    return metrics;
  }
}

class OwnHistogram implements Histogram {
  readonly #name: string;
  readonly #options: MetricOptions;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();
  /** Frequent callers pass the same object. */
  #known = new WeakMap<Attributes, Series>();

  constructor(name: string, options: MetricOptions = {}) {
    this.#name = name;
    this.#options = options;
    this.#bounds = options.advice?.explicitBucketBoundaries ?? defaultBounds;
  }

  record(value: number, attributes: Attributes = {}): void {
    const series = this.#known.get(attributes) ?? this.#find(attributes);
    if (series === undefined) return;
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket++;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
  }

  #find(attributes: Attributes): Series | undefined {
    const key = JSON.stringify(attributes);
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= mostSeries) return undefined;
      series = {
        attributes,
        count: 0,
        sum: 0,
        min: Number.POSITIVE_INFINITY,
        max: Number.NEGATIVE_INFINITY,
        buckets: new Array<number>(this.#bounds.length + 1).fill(0),
      };
      this.#series.set(key, series);
    }
    this.#known.set(attributes, series);
    return series;
  }

  collect(from: string, to: string, delta: boolean): object[] {
    if (this.#series.size === 0) return [];
    const dataPoints = [...this.#series.values()].map(({ attributes, count, sum, min, max, buckets }) => ({
      attributes: keyValues(attributes),
      startTimeUnixNano: from,
      timeUnixNano: to,
      count: String(count),
      sum,
      min,
      max,
      explicitBounds: this.#bounds,
      bucketCounts: buckets.map(String),
    }));
    if (delta) {
      this.#series.clear();
      this.#known = new WeakMap();
    }
    const { unit = "", description = "" } = this.#options;
    const histogram = { aggregationTemporality: delta ? 1 : 2, dataPoints };
    return [{ name: this.#name, description, unit, histogram }];
  }
}
