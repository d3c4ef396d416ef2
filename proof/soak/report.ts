// The report, as Markdown.
import { cpus, release } from "node:os";
import type { Gauge } from "./gauge.ts";
import type { Meter, Violation } from "./meter.ts";

export interface Facts {
  readonly minutes: number;
  readonly seed: number;
  readonly clients: number;
  readonly changes: number;
  readonly stateMb: number;
  readonly http: boolean;
}

const violations: readonly Violation[] = [
  "lost edit",
  "torn file",
  "stray file",
  "lost file",
  "history",
  "unexpected error",
];

export function report(meter: Meter, gauges: readonly Gauge[], facts: Facts): string {
  const { calls, restarts, kills, unanswered, outside, looks } = meter.counts;
  const count = (number: number) => number.toLocaleString("en-US");
  const one = (number: number) => number.toFixed(1);
  const rate = one(calls / (facts.minutes * 60));
  const lines = [
    "# Soak",
    "",
    `${one(facts.minutes)} minutes, ${facts.clients} clients${facts.http ? ", all over HTTP" : ""}, seed ${facts.seed}; ` +
      `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} cores.`,
    "",
    `${count(calls)} calls (${rate}/s), ${count(facts.changes)} changes in the history, ${count(outside)} saves from ` +
      `outside, ${restarts} restarts, ${kills} servers killed, ${unanswered} calls without an answer because of that; ` +
      `${count(looks)} looks at files for tears. The state directory ends with ${one(facts.stateMb)} MB.`,
    "",
    "| must be 0 | |",
    "|---|---:|",
    ...violations.map(name => `| ${name} | ${meter.violations.get(name) ?? 0} |`),
    "",
    "| call | count | p50 ms | p95 ms | p99 ms | max ms |",
    "|---|---:|---:|---:|---:|---:|",
    ...[...meter.kinds].map(([kind, times]) => {
      const at = [0.5, 0.95, 0.99].map(share => one(times.percentile(share)));
      return `| ${kind} | ${count(times.count)} | ${at.join(" | ")} | ${one(times.most)} |`;
    }),
    "",
    "| server | MB at start | most | at end | MB a minute | open files at start | at end |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...gauges.map(({ name, memory, files }) => {
      const mb = [memory.start, memory.most, memory.end, memory.slope].map(one);
      return `| ${name} | ${mb.join(" | ")} | ${files.start} | ${files.end} |`;
    }),
    "",
    "| refusals that such a load must meet | |",
    "|---|---:|",
    ...[...meter.expected].map(([what, times]) => `| ${what} | ${count(times)} |`),
  ];
  return `${lines.join("\n")}\n`;
}
