// A run as data: what the Markdown, the chart and the JSON are made from.
import type { Memory } from "../contender.ts";
import type { Result } from "../race.ts";
import type { Scenario, Target } from "../scenario.ts";

export interface Run {
  readonly date: string;
  readonly machine: string;
  readonly rounds: number;
  readonly rows: readonly Row[];
  readonly memory: readonly (Memory & { readonly contender: string; readonly family: Result["family"] })[];
  /** Those that did not start, and what they said. */
  readonly absent: readonly { readonly contender: string; readonly why: string }[];
  readonly versions: Readonly<Record<string, string>>;
}

export interface Row {
  readonly scenario: Pick<Scenario, "id" | "title" | "targets">;
  readonly results: readonly Result[];
  /** Bytes of the content, where that is the answer. */
  readonly content?: number;
}

export const referenceServer = "@modelcontextprotocol/server-filesystem";

/** The fastest of a family whose answer is right, else the fastest that gave a part. */
export function best(row: Row, family: Result["family"]): Result | undefined {
  const timed = row.results.filter(result => result.family === family && result.ms !== undefined);
  const ordered = timed.toSorted((a, b) => (a.ms ?? 0) - (b.ms ?? 0));
  return (
    ordered.find(({ verdict }) => verdict.is === "right") ??
    (family === "rival" ? undefined : ordered.find(({ verdict }) => verdict.is === "partial"))
  );
}

/** The dialect that people get by default: it is the one that is compared. */
const defaultContender = "polyfs";

export function own(row: Row): Result | undefined {
  const result = row.results.find(({ contender }) => contender === defaultContender);
  return result?.ms === undefined || result.verdict.is === "wrong" ? undefined : result;
}

/** Our time by what the target compares it with; undefined if that is not there. */
export function reached(row: Row, { of }: Target): number | undefined {
  const ours = own(row)?.ms;
  if (ours === undefined) return undefined;
  if (of === "ms") return ours;
  const reference = row.results.find(({ contender }) => contender === referenceServer);
  const other = of === "MB" ? undefined : of === "reference" ? reference : best(row, of);
  return other?.ms === undefined ? undefined : ours / other.ms;
}

export function time(ms: number | undefined): string {
  if (ms === undefined) return "–";
  return ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : ms.toFixed(0);
}
