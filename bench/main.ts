// `npm run bench`: polyfs, what it is compared with, and the limits, on the same files in one run. See options.ts.
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { floor } from "./adapters/floor.ts";
import { polyfs } from "./adapters/polyfs.ts";
import { rivals, rivalVersions } from "./adapters/rivals.ts";
import { type Contender, limitContender, ServerContender } from "./contender.ts";
import { full, makeCorpus } from "./corpus.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { repository, snapshot } from "./places.ts";
import { race } from "./race.ts";
import { chart } from "./report/chart.ts";
import { markdown } from "./report/markdown.ts";
import type { Row, Run } from "./report/run.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/all.ts";

// Files and servers are cleared away when the process exits, also on these.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const options = readOptions(process.argv.slice(2));
if (options.help) process.stdout.write(usage);
else await main(options);

async function main(options: Options): Promise<void> {
  const size = { files: full.files / 10, ignored: full.ignored / 10, hugeLines: full.hugeLines / 10 };
  using corpus = makeCorpus(options.small ? size : full);
  const built = resolve(options.dist ?? join(repository, "dist"));
  const adapters = [
    floor,
    ...polyfs(snapshot(built, "now"), { flags: profiling(options.profile) }),
    ...(options.before === undefined
      ? []
      : polyfs(snapshot(resolve(options.before), "before"), { family: "before" })),
    ...(options.peers === undefined ? [] : rivals(options.peers)),
  ];
  const wanted = (name: string, words: readonly string[]) =>
    words.length === 0 || words.some(word => name.includes(word));
  const all: Contender[] = [limitContender, ...adapters.map(adapter => new ServerContender(adapter, corpus))];
  const { contenders, absent } = await present(all.filter(({ name }) => wanted(name, options.contender)));

  const rows: Row[] = [];
  for (const scenario of scenarios.filter(({ id }) => wanted(id, options.scenario))) {
    process.stderr.write(`${scenario.id}\n`);
    const results = await race(scenario, contenders, corpus, options.rounds);
    rows.push({ scenario, results, content: scenario.content?.(corpus) });
  }
  const memory = [];
  for (const contender of contenders)
    memory.push({ contender: contender.name, family: contender.family, ...(await contender.close()) });
  const run: Run = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.version.slice(1)}`,
    rounds: options.rounds,
    rows,
    memory,
    absent,
    versions: options.peers === undefined ? {} : rivalVersions(options.peers),
  };
  const report = markdown(run);
  process.stdout.write(report);
  if (options.report !== undefined) writeFileSync(options.report, report);
  if (options.chart !== undefined) writeFileSync(options.chart, chart(run));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, undefined, 1)}\n`);
}

/** One profile for each server that runs; a server that serves all scenarios writes its own when it ends. */
function profiling(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  return ["--cpu-prof", "--heap-prof"].flatMap(flag => [flag, `${flag}-dir=${resolve(directory)}`]);
}

/** Those that start; reports a dialect that this build lacks, or a rival that cannot be installed. */
async function present(
  contenders: readonly Contender[],
): Promise<{ contenders: Contender[]; absent: Run["absent"] }> {
  const start: Scenario = { ...scenarioOfStart() };
  const there: Contender[] = [];
  const absent: { contender: string; why: string }[] = [];
  for (const contender of contenders) {
    try {
      await contender.sample(start, []);
      there.push(contender);
    } catch (error) {
      absent.push({ contender: contender.name, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { contenders: there, absent };
}

function scenarioOfStart(): Scenario {
  const start = scenarios.find(scenario => scenario.start);
  if (start === undefined) throw new Error("there is no scenario of starting");
  return start;
}
