// What a run is asked to do.
import { parseArgs } from "node:util";
import type { Run } from "./suite.ts";

export const usage = `npm run proof -- SUITE [options], npm run soak -- [options]
  --list         name the suites that have a short form
  --long         more rounds of everything that is tried at random
  --minutes N    go on for so long; implies --long
  --seed S       repeat the choices of a run that failed
  --case ID      only cases whose ids begin with this
  --recording F  power: make a cut that failed once more, from the file that its failure names
  --report FILE  soak: the report, as Markdown, also printed
  --http         soak: all clients over HTTP, none over standard input and output
  --s3           store: on a real S3 service
`;

/** The options of a run, and the suite that they are for: "" where none is named. */
export function readOptions(args: readonly string[]): Run & { suite: string; help: boolean; list: boolean } {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      long: flag,
      minutes: text,
      seed: text,
      case: text,
      recording: text,
      report: text,
      http: flag,
      s3: flag,
      list: flag,
      help: { ...flag, short: "h" },
    },
  });
  const minutes = values.minutes === undefined ? undefined : numberOf("--minutes", values.minutes);
  return {
    suite: positionals[0] ?? "",
    help: values.help,
    list: values.list,
    long: values.long || minutes !== undefined,
    minutes,
    seed: values.seed === undefined ? undefined : numberOf("--seed", values.seed),
    only: values.case,
    recording: values.recording,
    report: values.report,
    http: values.http,
    s3: values.s3,
  };
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${option} takes a number greater than 0, not ${text}`);
  return number;
}
