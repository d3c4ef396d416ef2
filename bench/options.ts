// What a run is asked to do.
import { parseArgs } from "node:util";

export const usage = `npm run bench -- [options]
  --scenario A,B     only scenarios whose names hold one of these words
  --contender A,B    only contenders (dialects, floor, limit, rivals) whose names hold one of these words
  --peers[=A,B]      rivals too, installed into the user's cache the first time; some of them by a part of the name
  --rounds N         samples of each contender in each scenario (7)
  --small            a tenth of the files, for a quick look
  --dist DIR         the build to measure (dist/, brought up to date)
  --before DIR       another build beside it, to compare a change with what was before
  --profile DIR      CPU and allocation profiles of polyfs, with names that can be read (see CONTRIBUTING.md)
  --report FILE      the Markdown, also printed
  --chart FILE       the picture, SVG
  --json FILE        everything that was measured
`;

export interface Options {
  readonly scenario: readonly string[];
  readonly contender: readonly string[];
  /** Undefined: without rivals. Empty: all of them. */
  readonly peers: readonly string[] | undefined;
  readonly rounds: number;
  readonly small: boolean;
  readonly dist: string | undefined;
  readonly before: string | undefined;
  readonly profile: string | undefined;
  readonly report: string | undefined;
  readonly chart: string | undefined;
  readonly json: string | undefined;
  readonly help: boolean;
}

export function readOptions(args: readonly string[]): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    // A bare --peers means all of them; parseArgs has no values that may be left out.
    args: args.map(arg => (arg === "--peers" ? "--peers=" : arg)),
    options: {
      scenario: text,
      contender: text,
      peers: text,
      rounds: { ...text, default: "7" },
      small: flag,
      dist: text,
      before: text,
      profile: text,
      report: text,
      chart: text,
      json: text,
      help: { ...flag, short: "h" },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a number from 1 on");
  return {
    scenario: words(values.scenario),
    contender: words(values.contender),
    peers: values.peers === undefined ? undefined : words(values.peers),
    rounds,
    small: values.small,
    dist: values.dist,
    before: values.before,
    profile: values.profile,
    report: values.report,
    chart: values.chart,
    json: values.json,
    help: values.help,
  };
}

function words(list = ""): string[] {
  return list.split(",").filter(word => word !== "");
}
