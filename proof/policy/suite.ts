// The policy suite: rules against every tool of every dialect, against commands, against a race, and against callers
// under no rules beside a command; and edits of files whose values the caller cannot see; over HTTP also what it writes
// besides answers.
import { dialects } from "../../src/dialects/index.ts";
import { findSandbox } from "../../src/engine/shell/sandbox.ts";
import { abreast } from "../abreast.ts";
import type { Suite } from "../suite.ts";
import { tryBeside } from "./beside.ts";
import { tryCommands } from "./commands.ts";
import { tryEveryTool } from "./every-tool.ts";
import { editMasked } from "./masked-edits.ts";
import { attackMaskedHistory } from "./masked-history.ts";
import { tryOverHttp } from "./over-http.ts";
import { tryResources } from "./resources.ts";
import { race } from "./swap.ts";
import { Twins } from "./twins.ts";

export const policySuite: Suite = {
  name: "policy",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the attacks are written for Linux");
    const sandboxed = !("missing" in (await findSandbox()));
    if (!sandboxed) trial.tally.skipped("command", "no sandbox on this machine");
    const all = await Promise.all(Object.values(dialects).map(load => load()));
    const jobs = all.flatMap(dialect => [
      async () => {
        const runs =
          sandboxed && dialect.tools.some(({ effect }) => effect === "runs") ? ["--allow-run"] : [];
        await using twins = await Twins.start(dialect, runs);
        await tryEveryTool(twins, trial);
        await tryResources(twins, trial);
        if (runs.length > 0) await tryCommands(twins, trial);
        await trial.tally.attempt(`traces ${dialect.name}`, () => twins.end());
      },
      () => race(dialect, trial),
      ...(sandboxed ? [() => tryBeside(dialect, trial)] : []),
    ]);
    await abreast([
      () => editMasked(trial),
      () => attackMaskedHistory(trial),
      () => tryOverHttp(all, sandboxed, trial),
      ...jobs,
    ]);
  },
};
