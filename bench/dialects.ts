// The own dialect beside the others, as processor time: reads, listings, writes and edits in interleaved rounds of one
// run, so that other work on the machine matters little. The least of all rounds counts, and all threads of a server.
// `node bench/run.mjs dialects [rounds] [--only JOB] [--profile]`
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { polyfs } from "./adapters/polyfs.ts";
import { Client } from "./client.ts";
import { lineOf, textOf } from "./corpus.ts";
import { callsFor, type Job } from "./jobs.ts";
import { repository, snapshot } from "./places.ts";
import { processorTime, settled } from "./processor-time.ts";
import { job } from "./scenario.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, profile: { type: "boolean", default: false } },
});
const rounds = Number(positionals[0] ?? 9);
const base = mkdtempSync(join(tmpdir(), "polyfs-bench-dialects-"));
process.once("exit", () => rmSync(base, { recursive: true, force: true }));

const megabyte = 11_500; // lines

interface Line {
  readonly name: string;
  /** Calls of a round. */
  readonly calls: number;
  readonly prepare?: (root: string) => void;
  readonly jobAt: (root: string, turn: number) => Job;
}

const lines: readonly Line[] = [
  {
    name: "read 4 KB",
    calls: 200,
    jobAt: root => job("read", { path: join(root, "small.ts"), bytes: 8192 }),
  },
  { name: "list 100 entries", calls: 100, jobAt: root => job("list", { path: join(root, "many") }) },
  {
    name: "write 4 KB of text",
    calls: 30,
    jobAt: (root, turn) => job("write", { path: join(root, "written.txt"), content: textOf(turn * 50, 46) }),
  },
  {
    name: "write 4 KB of code",
    calls: 30,
    jobAt: (root, turn) => job("write", { path: join(root, "written.ts"), content: textOf(turn * 50, 46) }),
  },
  {
    name: "edit one line of 4 KB of text",
    calls: 30,
    prepare: root => writeFileSync(join(root, "edited.txt"), textOf(0, 46)),
    jobAt: (root, turn) => job("edit", { path: join(root, "edited.txt"), edits: [editAt(20, turn)] }),
  },
  {
    name: "edit one line of 1 MB of text",
    calls: 6,
    prepare: root => writeFileSync(join(root, "large.txt"), textOf(0, megabyte)),
    jobAt: (root, turn) => job("edit", { path: join(root, "large.txt"), edits: [editAt(5000, turn)] }),
  },
];

/** The edit of a line that earlier turns have edited, too. */
function editAt(number: number, turn: number) {
  const line = lineOf(number);
  const at = (round: number) => (round === 0 ? line : line.replace("= compute", `= edited_${round}`));
  return { old: at(turn), new: at(turn + 1), line: number + 1 };
}

const built = snapshot(join(repository, "dist"), "dialects");
const flags = values.profile ? ["--cpu-prof", `--cpu-prof-dir=${join(process.cwd(), "profiles")}`] : [];
const chosen = lines.filter(({ name }) => values.only === undefined || name.includes(values.only));
const adapters = polyfs(built, { flags });

const contenders = await Promise.all(
  adapters.map(async adapter => {
    const [root, state] = [join(base, adapter.name, "root"), join(base, adapter.name, "state")];
    mkdirSync(join(root, "many"), { recursive: true });
    mkdirSync(state, { recursive: true });
    writeFileSync(join(root, "small.ts"), textOf(0, 46));
    for (let i = 0; i < 100; i++) writeFileSync(join(root, "many", `module-${i}.ts`), "x\n".repeat(i));
    const client = new Client(await adapter.command({ root, state }));
    await client.start();
    if (adapter.greeting !== undefined) await client.call(adapter.greeting({ root, state }));
    return { ...adapter, root, client };
  }),
);

for (const { name, calls, prepare, jobAt } of chosen) {
  const able = contenders.filter(({ calls: own, root }) => callsFor(own, jobAt(root, 0)) !== undefined);
  const times = new Map(able.map(contender => [contender.name, [] as number[]]));
  for (const { root } of able) prepare?.(root);
  for (let round = -1; round < rounds; round++) {
    for (let at = 0; at < able.length; at++) {
      const contender = able[(at + round + able.length) % able.length];
      if (contender === undefined) continue;
      const before = processorTime(contender.client.pid);
      for (let i = 0; i < calls; i++)
        for (const one of callsFor(contender.calls, jobAt(contender.root, (round + 1) * calls + i)) ?? []) {
          const { failed, text } = await contender.client.call(one);
          if (failed) throw new Error(`${contender.name}: ${text}`);
        }
      // What follows an answer, such as recording a change, is part of what it costs.
      await settled(contender.client.pid);
      // The first round compiles the code.
      if (round >= 0)
        times.get(contender.name)?.push((1000 * (processorTime(contender.client.pid) - before)) / calls);
    }
  }
  const least = [...times].map(([dialect, all]) => [dialect, Math.min(...all)] as const);
  const quickest = Math.min(...least.map(([, time]) => time));
  const told = least.map(([dialect, time]) => `${dialect} ${time.toFixed(0)}`).join(", ");
  const own = least.find(([dialect]) => dialect === "polyfs")?.[1] ?? Number.NaN;
  process.stdout.write(`${name}: ${(own / quickest).toFixed(2)} × the quickest (µs: ${told})\n`);
}
await Promise.all(contenders.map(({ client }) => client.close()));
process.exit(0);
