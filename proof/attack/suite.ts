// The attack suite: tries to get out of the granted directories, and to stop the server, by every tool of every
// dialect, as a client does: on the program that users start, over stdio and HTTP.
import { dialects } from "../../src/dialects/index.ts";
import { findSandbox } from "../../src/engine/shell/sandbox.ts";
import { abreast } from "../abreast.ts";
import type { Suite, Trial } from "../suite.ts";
import { attackByBurdens } from "./burdens.ts";
import { attackByCommands } from "./commands.ts";
import { attackByDisplacing } from "./displaced.ts";
import { attackEveryTool } from "./every-tool.ts";
import { attackFromOtherNamespaces } from "./foreign.ts";
import { attackByHostileState } from "./hostile-state.ts";
import { attackInForks } from "./in-fork.ts";
import { notRun } from "./not-run.ts";
import { attackByGuessing } from "./oracle.ts";
import { workAmongAttacks } from "./ordinary.ts";
import { attackOwnDirectories } from "./own-directories.ts";
import { attackTheProtocol } from "./protocol.ts";
import { attackReadOnly } from "./read-only.ts";
import { attackResources } from "./resources.ts";
import { attackTheRoot } from "./roots.ts";
import { attackByStrings } from "./strings.ts";
import { attackBySwapping, attackNewDirectories } from "./swap.ts";
import { overHttp, overStdio } from "./target.ts";

export const attack: Suite = {
  name: "attack",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the attacks are written for Linux");
    for (const [id, why] of Object.entries(notRun)) trial.tally.skipped(id, why);
    const sandboxed = !("missing" in (await findSandbox()));
    const all = await Promise.all(Object.values(dialects).map(load => load()));
    await attackByHostileState(trial);
    await abreast(all.flatMap(dialect => jobs(dialect, trial, sandboxed)));
    const end = Date.now() + (trial.minutes ?? 0) * 60_000;
    while (Date.now() < end) await abreast(all.map(dialect => () => attackBySwapping(dialect, trial, 20)));
  },
};

type Dialect = Awaited<ReturnType<(typeof dialects)[string]>>;

function jobs(dialect: Dialect, trial: Trial, sandboxed: boolean): (() => Promise<void>)[] {
  const runs = sandboxed && dialect.tools.some(({ effect }) => effect === "runs") ? ["--allow-run"] : [];
  return [
    async () => {
      await using target = await overStdio(dialect, runs);
      await workAmongAttacks(target, trial);
      await attackEveryTool(target, trial);
      await attackByStrings(target, dialect, trial);
      await attackByGuessing(target, trial);
      await attackTheRoot(target, trial);
      await attackResources(target, trial);
      await attackByCommands(target, trial, sandboxed);
    },
    async () => {
      // HTTP serves the same tools: a sample shows that the checks apply there, too.
      await using target = await overHttp(dialect);
      await attackEveryTool(target, trial, { by: "HTTP", part: trial.long ? 1 : 0.1 });
    },
    () => attackInForks(dialect, trial, runs),
    () => attackReadOnly(dialect, trial, runs),
    () => attackOwnDirectories(dialect, trial, runs),
    () => attackTheProtocol(dialect, trial),
    () => attackByBurdens(dialect, trial),
    () => attackByDisplacing(dialect, trial),
    () => attackFromOtherNamespaces(dialect, trial),
    () => attackBySwapping(dialect, trial, trial.long ? 20 : 1),
    () => attackNewDirectories(dialect, trial),
  ];
}
