// The power suite: cuts the power under servers at work, and looks whether every answered change is there with its
// history. Most cuts are acted out on a recording of all file system calls, which can lose and reorder everything
// that was not flushed; some are made on real file systems in loop devices.
import { rmSync, writeFileSync } from "node:fs";
import { Chance } from "../chance.ts";
import { end, ServerUnderTest } from "../fault/server-under-test.ts";
import type { Suite, Trial } from "../suite.ts";
import type { Tally } from "../tally.ts";
import { cutDevices } from "./devices.ts";
import { putBack } from "./disk.ts";
import { judge } from "./judge.ts";
import { type KeptCut, keepCut, type Recorded, readCut } from "./kept.ts";
import { cutPower } from "./outage.ts";
import { preload, recordWork, type Worked } from "./session.ts";

export const power: Suite = {
  name: "power",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the recorder needs Linux");
    if (trial.recording !== undefined) return cutAgain(trial.tally, trial.recording);
    const until = Date.now() + (trial.minutes ?? 0) * 60_000;
    const rounds = trial.long ? 25 : 1;
    await cutDevices(trial, trial.long ? 10 : 1);
    if (trial.tally.wants("P001")) {
      for (let round = 0; round < rounds || Date.now() < until; round++) {
        await using recorded = await worked(trial, trial.long ? 60 : 30);
        await cutAtRandom(trial, recorded, trial.long ? 40 : 12);
        trial.say(trial.tally.summary());
      }
    }
  },
};

async function worked({ chance }: Trial, calls: number): Promise<Worked & AsyncDisposable> {
  const recorded = await recordWork(chance, calls);
  return { ...recorded, [Symbol.asyncDispose]: () => recorded.server[Symbol.asyncDispose]() };
}

async function cutAtRandom({ tally, chance }: Trial, recorded: Worked, cuts: number): Promise<void> {
  const { recording, server, steps } = recorded;
  for (let i = 0; i < cuts; i++) {
    const cut = chance.below(recording.operations.length) + 1;
    const seed = chance.below(2 ** 32);
    await tryCut(tally, server, { recording, steps, cut, seed });
  }
}

async function tryCut(tally: Tally, server: ServerUnderTest, kept: KeptCut): Promise<void> {
  const { recording, steps, cut, seed } = kept;
  const answers = answersIn(recording);
  const disk = cutPower(recording, cut, new Chance(seed));
  const answered = answers.filter(at => at < cut).length;
  const what = `P001 (${disk.style} of what was not flushed, cut ${cut} of ${recording.operations.length}, ${answered} answered)`;
  await tally.attempt(what, async () => {
    const map = `${recording.base}.map`;
    using back = putBack(recording, disk);
    writeFileSync(map, back.map);
    const wire = await server.serve({
      env: { ...preload, PROOF_POWER_MAP: map, PROOF_POWER_OFF: "1200000" },
    });
    try {
      const isMade = (name: string) => isMadeSince(recording, answers[answered - 1] ?? 0, name);
      await judge(wire, server, steps, answered, isMade);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${why} (--recording ${keepCut(kept)})`);
    } finally {
      await end(wire);
      rmSync(map);
    }
  });
}

/** Makes a cut that failed before once more. */
async function cutAgain(tally: Tally, path: string): Promise<void> {
  const kept = readCut(path);
  rmSync(kept.recording.base, { recursive: true, force: true });
  await using server = new ServerUnderTest({}, kept.recording.base);
  await tryCut(tally, server, kept);
}

/** Whether a name was first used after an operation. */
function isMadeSince({ operations }: Recorded, since: number, name: string): boolean {
  const first = operations.findIndex(
    one => one.is === "names" && one.names.some(entry => entry.name === name),
  );
  return first > since;
}

/** Where the answers to calls stand. The first answer of each server is that to its start. */
function answersIn({ operations }: Recorded): number[] {
  const found: number[] = [];
  for (const [i, operation] of operations.entries()) {
    if (operation.is !== "answer") continue;
    const messages = operation.text.split("\n").filter(line => line !== "");
    for (const line of messages) {
      const { id, result } = JSON.parse(line);
      if (id !== undefined && !(result?.serverInfo !== undefined)) found.push(i);
    }
  }
  return found;
}
