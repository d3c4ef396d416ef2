// The run as Markdown: one table to see where we are, one with all servers, and what was left out.
import type { Result } from "../race.ts";
import { best, own, type Row, type Run, referenceServer, time } from "./run.ts";
import { targetWords } from "./targets.ts";

export function markdown(run: Run): string {
  return [
    `Measured on ${run.date}, ${run.machine}; all in one run, ${run.rounds} interleaved rounds, medians in milliseconds.`,
    "Read them as ratios. *limit* is the same work without a server, *node floor* a minimal server by hand.",
    "",
    ...summary(run),
    "",
    ...memory(run),
    "",
    ...allServers(run),
    "",
    ...notes(run),
    "",
  ].join("\n");
}

const headlines = [
  "start",
  "read-4k",
  "read-10m",
  "tail-first",
  "search-rare-first",
  "write-4k",
  "edit-1m",
  "patch-100",
];

/** The short comparison table. */
export function comparison({ rows }: Run): string {
  const lines = table(
    ["scenario", "limit", "polyfs", "best rival", "÷ rival"],
    rows
      .filter(({ scenario }) => headlines.includes(scenario.id))
      .map(row => {
        const ours = own(row);
        const [limit, rival] = (["limit", "rival"] as const).map(family => best(row, family));
        const who = rival === undefined ? "–" : `${time(rival.ms)} (${short(rival.contender)})`;
        return [row.scenario.title, time(limit?.ms), time(ours?.ms) + mark(ours), who, ratio(ours, rival)];
      }),
  );
  return lines.join("\n");
}

function summary({ rows }: Run): string[] {
  return table(
    [
      "scenario",
      "limit",
      "node floor",
      "polyfs",
      "quickest dialect",
      "which",
      "best rival",
      "which",
      "÷ rival",
      "÷ limit",
      "target",
    ],
    rows.map(row => {
      const ours = own(row);
      const [limit, floor, quickest, rival] = (["limit", "floor", "ours", "rival"] as const).map(family =>
        best(row, family),
      );
      return [
        row.scenario.title,
        time(limit?.ms),
        time(floor?.ms),
        time(ours?.ms) + mark(ours),
        time(quickest?.ms) + mark(quickest),
        quickest?.contender ?? "–",
        time(rival?.ms),
        rival === undefined ? "–" : short(rival.contender),
        ratio(ours, rival),
        ratio(ours, limit),
        targetWords(row),
      ];
    }),
  );
}

function allServers({ rows }: Run): string[] {
  const contenders = [...new Set(rows.flatMap(({ results }) => results.map(({ contender }) => contender)))];
  return [
    "In each cell: the time, and where the content is the answer the size of the answer by the size of the content.",
    "`✗` answers wrongly or refuses, `~` answers a part, `–` has no such tool.",
    "",
    ...table(
      ["scenario", ...contenders.map(short)],
      rows.map(row => [row.scenario.title, ...contenders.map(contender => cell(row, contender))]),
    ),
  ];
}

function cell(row: Row, contender: string): string {
  const result = row.results.find(result => result.contender === contender);
  if (result === undefined) return "–";
  if (result.verdict.is === "wrong") return "✗";
  const size =
    row.content === undefined || result.bytes === 0 ? "" : ` (${(result.bytes / row.content).toFixed(2)})`;
  return `${time(result.ms)}${mark(result)}${size}`;
}

function memory({ memory }: Run): string[] {
  const known = memory.filter(({ start, end }) => start !== undefined || end !== undefined);
  if (known.length === 0) return [];
  const megabytes = (value: number | undefined) => (value === undefined ? "–" : value.toFixed(0));
  return table(
    ["memory, MB", "after start", "after the run", "at most"],
    known.map(({ contender, start, end, most }) => [
      short(contender),
      megabytes(start),
      megabytes(end),
      megabytes(most),
    ]),
  );
}

function notes({ rows, absent, versions }: Run): string[] {
  const wrongs = rows.flatMap(({ scenario, results }) =>
    results
      .filter(({ verdict }) => verdict.is !== "right")
      .map(
        ({ contender, verdict }) =>
          `- ${short(contender)}, ${scenario.id}: ${verdict.is}: ${oneLine(verdict.why ?? "")}`,
      ),
  );
  return [
    ...absent.map(({ contender, why }) => `- ${contender} did not start: ${oneLine(why)}`),
    ...wrongs,
    ...Object.entries(versions).map(([name, version]) => `- ${name} ${version}`),
  ];
}

function ratio(ours: Result | undefined, other: Result | undefined): string {
  return ours?.ms === undefined || other?.ms === undefined ? "–" : (ours.ms / other.ms).toFixed(2);
}

function mark(result: Result | undefined): string {
  return result?.verdict.is === "partial" ? " ~" : "";
}

/** Names without the scope; the reference server by what it is called everywhere. */
function short(contender: string): string {
  return contender === referenceServer ? "reference server" : contender.replace(/^@[^/]+\//, "");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, 160);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)];
}
