// Runs a scenario: rounds in which every contender has its turn, so that other work on the machine affects all equally.

import type { Contender, Sample } from "./contender.ts";
import type { Corpus } from "./corpus.ts";
import type { Scenario } from "./scenario.ts";
import { right, type Verdict, wrong } from "./verdict.ts";

export interface Result {
  readonly contender: string;
  readonly family: Contender["family"];
  /** The median, in milliseconds; undefined if there is none. */
  readonly ms: number | undefined;
  readonly samples: readonly number[];
  /** Of the answer to one job. */
  readonly bytes: number;
  readonly verdict: Verdict;
}

/** A contender that has had this much time in a scenario sits out the rounds that are left. */
const enoughMs = 3000;

let turn = 0;

export async function race(
  scenario: Scenario,
  contenders: readonly Contender[],
  corpus: Corpus,
  rounds: number,
): Promise<Result[]> {
  const runners = contenders.map(contender => ({
    contender,
    samples: [] as number[],
    bytes: 0,
    verdict: right,
    spent: 0,
    out: false,
  }));
  for (let round = scenario.fresh ? 0 : -1; round < rounds; round++) {
    for (const runner of runners) {
      if (runner.out || (runner.spent > enoughMs && runner.samples.length > 0)) continue;
      scenario.prepare?.(corpus);
      const { repeat = 1 } = scenario;
      const once = scenario.jobs(corpus, ++turn);
      const jobs = Array.from({ length: repeat }, () => once).flat();
      const started = performance.now();
      const sample = await attempt(runner.contender, scenario, jobs);
      runner.spent += performance.now() - started;
      if (sample === undefined || sample instanceof Error) {
        runner.out = true;
        if (sample !== undefined) runner.verdict = wrong(sample.message);
        continue;
      }
      const verdict = judged(sample, scenario, corpus);
      if (verdict.is !== "right") runner.verdict = verdict;
      runner.out = verdict.is === "wrong";
      runner.bytes = sample.bytes / Math.max(1, jobs.length);
      // The first round warms up; a contender that it took too long counts it.
      if (round >= 0 || runner.spent > enoughMs)
        runner.samples.push(sample.ms / (scenario.perJob ? jobs.length : repeat));
    }
  }
  return runners
    .filter(({ samples, verdict }) => samples.length > 0 || verdict.is === "wrong")
    .map(({ contender, samples, bytes, verdict }) => ({
      contender: contender.name,
      family: contender.family,
      ms: median(samples),
      samples,
      bytes,
      verdict,
    }));
}

async function attempt(contender: Contender, scenario: Scenario, jobs: Parameters<Contender["sample"]>[1]) {
  try {
    return await contender.sample(scenario, jobs);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function judged({ failure, answers }: Sample, scenario: Scenario, corpus: Corpus): Verdict {
  if (failure !== undefined) return wrong(failure.slice(0, 300));
  return scenario.check(answers.slice(-answers.length / (scenario.repeat ?? 1)), corpus, turn);
}

function median(samples: readonly number[]): number | undefined {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)];
}
