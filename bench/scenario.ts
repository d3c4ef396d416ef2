// What is measured: jobs on the corpus, how to check the answers, and what we want to reach.
import type { Corpus } from "./corpus.ts";
import type { Job, JobKind, Jobs } from "./jobs.ts";
import type { Verdict } from "./verdict.ts";

export interface Target {
  /** What the time is compared with; `ms` and `MB` are plain figures. */
  readonly of: "rival" | "limit" | "floor" | "reference" | "ms" | "MB";
  readonly atMost: number;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** Measured is the start itself; there are no jobs. */
  readonly start?: boolean;
  /** Each sample gets a server that has done nothing before; its start is not timed. */
  readonly fresh?: boolean;
  /** All jobs of a sample are sent at once. */
  readonly together?: boolean;
  /** A sample does the jobs this many times, one after the other, and the time is that of once: for what is quick. */
  readonly repeat?: number;
  /** The time of one job, not of all of a sample. */
  readonly perJob?: boolean;
  /** Restores the state before each sample; not timed. */
  prepare?(corpus: Corpus): void;
  /** `turn` differs for each sample. */
  jobs(corpus: Corpus, turn: number): readonly Job[];
  check(answers: readonly string[], corpus: Corpus, turn: number): Verdict;
  /** Bytes of the content that one job asks for, where that content is the answer. */
  content?(corpus: Corpus): number;
  readonly targets: readonly Target[];
}

export function job<K extends JobKind>(kind: K, what: Jobs[K]): Job<K> {
  return { kind, what } as Job<K>;
}
