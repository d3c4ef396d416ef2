// The fault suite: breaks the machine under the server, and checks that the files are intact.
import type { Suite } from "../suite.ts";
import { jumpClocks, startTogether } from "./clock.ts";
import { failInEachCall, killInEachCall, killInRecovery } from "./each-call.ts";
import { runOutBesideOthers } from "./few-handles.ts";
import { killAtRandom } from "./killed.ts";
import { restartElsewhere } from "./namespaces.ts";
import { notRun } from "./not-run.ts";
import { takeDisksAway } from "./remounts.ts";
import { damageState, fillState } from "./state.ts";
import { removeStuck } from "./stuck.ts";
import { endAtWork, runOutOfHandles, workTogether } from "./together.ts";
import { failBelow } from "./traced.ts";
import { removeTreesOfUsers } from "./users.ts";

export const fault: Suite = {
  name: "fault",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the faults are made with means of Linux");
    for (const [id, why] of Object.entries(notRun)) trial.tally.skipped(id, why);
    await failInEachCall(trial);
    await killInEachCall(trial);
    await killInRecovery(trial);
    await workTogether(trial);
    await endAtWork(trial);
    await runOutOfHandles(trial);
    await runOutBesideOthers(trial);
    await jumpClocks(trial);
    await startTogether(trial);
    await damageState(trial);
    await fillState(trial);
    await restartElsewhere(trial);
    await removeStuck(trial);
    await removeTreesOfUsers(trial);
    await takeDisksAway(trial);
    await failBelow(trial);
    await killAtRandom(trial, trial.long ? 200 : 8);
    const end = Date.now() + (trial.minutes ?? 0) * 60_000;
    while (Date.now() < end) await killAtRandom(trial, 50);
  },
};
