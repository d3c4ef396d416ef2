// Random programs run against real servers and against a model of a few hundred lines, side by side. A difference is a
// bug in one of the two. A failure is minimised and printed as the calls that lead to it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Suite, Trial } from "../suite.ts";
import { StepCommand } from "./command.ts";
import { prepare } from "./fixture.ts";
import { names } from "./names.ts";
import { Servers } from "./servers.ts";
import { step } from "./steps.ts";
import { World } from "./world.ts";

const shortPrograms = 12;
const longPrograms = 500;

export const model: Suite = {
  name: "model",
  async run(trial) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-model-")));
    const root = join(base, "root");
    mkdirSync(root);
    const servers = await Servers.start(root, join(base, "state"));
    try {
      await names(servers, trial);
      if (!trial.only?.startsWith("names-")) await programs(servers, trial);
    } finally {
      await servers.close();
      rmSync(base, { recursive: true, force: true });
    }
  },
};

async function programs(
  servers: Servers,
  { tally, seed: given, long, minutes, only, say }: Trial,
): Promise<void> {
  // The short form tries the same programs each time: it is there to notice what changes.
  const first = given ?? (long ? tally.seed : 1);
  const until = minutes === undefined ? undefined : Date.now() + minutes * 60_000;
  for (let round = 0; round === 0 || (until !== undefined && Date.now() < until); round++) {
    let steps = 0;
    let failing: World | undefined;
    let number = 0;
    const property = fc.asyncProperty(
      fc.commands([step.map(one => new StepCommand(one))], { size: "max", maxCommands: long ? 60 : 40 }),
      async commands => {
        const program = `p${round}-${++number}`;
        mkdirSync(join(servers.root, program));
        prepare(join(servers.root, program));
        const world = new World(servers, program);
        try {
          await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
          const standing = await servers.standingJournals();
          if (standing.length > 0) throw new Error("a journal still holds commits after the last call");
        } catch (error) {
          failing = world;
          throw error;
        } finally {
          rmSync(join(servers.root, program), { recursive: true, force: true });
        }
        steps += world.log.length;
      },
    );
    const seed = first + round;
    const result = await fc.check(property, {
      seed,
      numRuns: long ? longPrograms : shortPrograms,
      ...(only !== undefined && { path: only }),
      ...(until !== undefined && { interruptAfterTimeLimit: Math.max(1, until - Date.now()) }),
    });
    tally.survived(steps);
    if (result.failed && result.counterexample !== null) {
      const why = result.errorInstance instanceof Error ? result.errorInstance.message : "it failed";
      const calls = failing?.log.map(line => `\n  ${line}`).join("") ?? "";
      tally.failed(`program --seed ${seed} --case ${result.counterexamplePath}`, `${why}${calls}\n`);
    }
    if (long) say(`${tally.tried} calls so far`);
  }
}
