// What a suite is, and what it gets: the options of its run, chance that can be repeated, and a tally
// for what it tried.
import type { Chance } from "./chance.ts";
import type { Tally } from "./tally.ts";

export interface Run {
  /** The long form, by hand; the short one is part of the tests. */
  readonly long: boolean;
  /** How long to go on, where a suite repeats itself. */
  readonly minutes?: number;
  /** Chosen at random where it is not given. */
  readonly seed?: number;
  /** Only cases whose ids begin with this. */
  readonly only?: string;
  /** For power: a file with a cut that failed, to be made again. */
  readonly recording?: string;
  /** For a soak: a file for the report, and whether all clients come over HTTP. */
  readonly report?: string;
  readonly http?: boolean;
  /** For store: on a real S3 service. */
  readonly s3?: boolean;
}

export interface Trial extends Run {
  readonly chance: Chance;
  readonly tally: Tally;
  /** Reports progress in the long form; ignored in the short one. */
  say(line: string): void;
}

export interface Suite {
  readonly name: string;
  /** Tries everything. What fails goes into the tally; what is thrown is a failure of the suite itself. */
  run(trial: Trial): Promise<void>;
}
