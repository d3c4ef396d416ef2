// The power suite: cuts the power under servers at work, and looks whether every answered change is there with its
// history. Most cuts are acted out on a recording of all file system calls, which can lose and reorder everything
// that was not flushed; some are made on real file systems in loop devices.
import { writeFileSync } from "node:fs";
import { end } from "../fault/server-under-test.ts";
import type { Suite, Trial } from "../suite.ts";
import { cutDevices } from "./devices.ts";
import { putBack } from "./disk.ts";
import { judge } from "./judge.ts";
import { cutPower } from "./outage.ts";
import type { Recording } from "./recording.ts";
import { preload, type Recorded, recordWork } from "./session.ts";

export const power: Suite = {
  name: "power",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the recorder needs Linux");
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

async function worked({ chance }: Trial, calls: number): Promise<Recorded & AsyncDisposable> {
  const recorded = await recordWork(chance, calls);
  return { ...recorded, [Symbol.asyncDispose]: () => recorded.server[Symbol.asyncDispose]() };
}

async function cutAtRandom({ tally, chance }: Trial, recorded: Recorded, cuts: number): Promise<void> {
  const { recording, server, steps } = recorded;
  const answers = answersIn(recording);
  for (let i = 0; i < cuts; i++) {
    const cut = chance.below(recording.operations.length) + 1;
    const disk = cutPower(recording, cut, chance);
    const answered = answers.filter(at => at < cut).length;
    const what = `P001 (${disk.style} of what was not flushed, cut ${cut} of ${recording.operations.length}, ${answered} answered)`;
    await tally.attempt(what, async () => {
      const map = `${recording.base}.map`;
      writeFileSync(map, putBack(recording, disk));
      const wire = await server.serve({
        env: { ...preload, PROOF_POWER_MAP: map, PROOF_POWER_OFF: "1200000" },
      });
      try {
        const isMade = (name: string) => isMadeSince(recording, answers[answered - 1] ?? 0, name);
        await judge(wire, server, steps, answered, isMade, false);
      } finally {
        await end(wire);
      }
    });
  }
}

/** Whether a name was first used after an operation. */
function isMadeSince({ operations }: Recording, since: number, name: string): boolean {
  const first = operations.findIndex(
    one => one.is === "names" && one.names.some(entry => entry.name === name),
  );
  return first > since;
}

/** Where the answers to calls stand. The first answer of each server is that to its start. */
function answersIn({ operations }: Recording): number[] {
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
