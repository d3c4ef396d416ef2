// Runs a suite: gives it chance from a seed that is printed, and makes an error that it throws count as a failure.
import { Chance } from "./chance.ts";
import type { Run, Suite } from "./suite.ts";
import { Tally } from "./tally.ts";

export async function prove(
  suite: Suite,
  run: Run,
  say: (line: string) => void = () => undefined,
): Promise<Tally> {
  const seed = run.seed ?? Math.floor(Math.random() * 2 ** 31) + 1;
  const tally = new Tally(suite.name, { seed, only: run.only, say });
  try {
    await suite.run({ ...run, chance: new Chance(seed), tally, say });
  } catch (error) {
    tally.failed("the suite itself", error);
  }
  return tally;
}
