// Counts while the load runs: durations of calls by kind, in buckets, so that hours fit into little memory;
// errors by kind; and what must not happen.
const perDoubling = 12;

/** Times in buckets that grow: within six percent of the truth. */
class Times {
  readonly #buckets = new Map<number, number>();
  count = 0;
  most = 0;

  add(ms: number): void {
    this.count++;
    this.most = Math.max(this.most, ms);
    const bucket = Math.ceil(Math.log2(Math.max(ms, 0.01)) * perDoubling);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  percentile(share: number): number {
    let left = Math.ceil(this.count * share);
    for (const bucket of [...this.#buckets.keys()].sort((a, b) => a - b)) {
      left -= this.#buckets.get(bucket) ?? 0;
      if (left <= 0) return Math.min(this.most, 2 ** (bucket / perDoubling));
    }
    return this.most;
  }
}

export type Violation =
  | "lost edit"
  | "torn file"
  | "stray file"
  | "lost file"
  | "history"
  | "unexpected error";

export class Meter {
  readonly kinds = new Map<string, Times>();
  /** Refusals that such a load must meet, by what they say. */
  readonly expected = new Map<string, number>();
  readonly violations = new Map<Violation, number>();
  readonly #tell: (violation: Violation, what: string) => void;
  readonly counts = { calls: 0, restarts: 0, kills: 0, unanswered: 0, outside: 0, looks: 0 };

  constructor(tell: (violation: Violation, what: string) => void) {
    this.#tell = tell;
  }

  call(kind: string, ms: number): void {
    this.counts.calls++;
    const times = this.kinds.get(kind) ?? new Times();
    this.kinds.set(kind, times);
    times.add(ms);
  }

  refusal(what: string): void {
    this.expected.set(what, (this.expected.get(what) ?? 0) + 1);
  }

  violation(violation: Violation, what: string): void {
    this.violations.set(violation, (this.violations.get(violation) ?? 0) + 1);
    this.#tell(violation, what);
  }
}
