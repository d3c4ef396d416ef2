// The attacks that depend on how objects are held, on servers that have no /proc: as on macOS, they hold directories by
// the working directory of the process.
import { spawnSync } from "node:child_process";
import { dialects } from "../../src/dialects/index.ts";
import { abreast } from "../abreast.ts";
import type { Suite } from "../suite.ts";
import { attackByDisplacing } from "./displaced.ts";
import { attackEveryTool } from "./every-tool.ts";
import { attackBySwapping } from "./swap.ts";
import { hideProc, overStdio } from "./target.ts";

const notPromised = {
  A156: "only /proc tells that ripgrep waits for a pipe; without it, such a search ends at its time limit",
};

export const attackWithoutProc: Suite = {
  name: "attack-without-proc",
  async run(trial) {
    if (process.platform !== "linux" || spawnSync("unshare", ["-m", "true"]).status !== 0) {
      trial.tally.skipped("all", "/proc cannot be hidden here");
      return;
    }
    hideProc();
    for (const [id, why] of Object.entries(notPromised)) trial.tally.skipped(id, why);
    const all = await Promise.all(Object.values(dialects).map(load => load()));
    await abreast(
      all.flatMap(dialect => [
        async () => {
          await using target = await overStdio(dialect);
          await attackEveryTool(target, trial, { by: "stdio without /proc", part: trial.long ? 1 : 0.05 });
        },
        () => attackByDisplacing(dialect, trial),
        () => attackBySwapping(dialect, trial, trial.long ? 20 : 1, Object.keys(notPromised)),
      ]),
    );
  },
};
