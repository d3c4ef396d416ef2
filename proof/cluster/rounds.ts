// Runs rounds of two machines in one process (round.ts), one after the other, and judges each by its log.
import { existsSync } from "node:fs";
import { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { judgeRound } from "./judge-round.ts";
import { Round } from "./round.ts";

/** Many small files, and nothing here is about power cuts. */
const memory = "/dev/shm";
/** Rounds that failed once. */
const regressions = [
  // Another machine moves the directory of a file that waits for the store.
  1018015254,
  // A line is replaced elsewhere in a file whose other lines wait for the store.
  1039660873,
  // A program writes while its line is being sent with an edit, and gives way to that edit.
  1501161943,
];

export function isRounds({ tally, only = "" }: Trial): boolean {
  return oneRound.test(only) || ["CL6", "CL7", "CL8", "CL9"].some(id => tally.wants(id));
}

/** `--case "CL6 round SEED"` plays one round again. Its choices are the same; the time that things take is not. */
const oneRound = /^CL6 round (\d+)$/;

export async function tryRounds(trial: Trial, isOver: () => boolean): Promise<void> {
  const { chance, say, only = "" } = trial;
  const [, seed] = oneRound.exec(only) ?? [];
  const usual = process.env.TMPDIR;
  if (existsSync(memory)) process.env.TMPDIR = memory;
  let rounds = 0;
  for (const known of seed === undefined ? regressions : [Number(seed)]) await tryRound(trial, known);
  for (; seed === undefined && !isOver(); rounds++) await tryRound(trial, 1 + chance.below(2 ** 31));
  if (usual === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usual;
  say(`${rounds} rounds of two machines in one process`);
}

async function tryRound({ tally }: Trial, seed: number): Promise<void> {
  await tally.attempt(`CL6 round ${seed}`, async () => {
    await using round = await Round.run(new Chance(seed), seed % 2 === 1);
    const problems = await judgeRound(round);
    tally.survived(round.deeds.length);
    if (problems.length > 0) throw new Error([...problems, ...round.events].join("\n  "));
  });
}
