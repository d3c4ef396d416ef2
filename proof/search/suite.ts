// Search finds everything, and nothing else: compared with ripgrep, with git, and with what plain reading shows.
import type { Suite } from "../suite.ts";
import { encoded } from "./encoded.ts";
import { hostile } from "./hostile.ts";
import { ignored } from "./ignored.ts";
import { lines } from "./lines.ts";

export const search: Suite = {
  name: "search",
  async run(trial) {
    const size = trial.long ? 40 : 1;
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    if (trial.tally.wants("hostile")) await hostile(trial);
    do {
      if (trial.tally.wants("ignored")) await ignored(trial, 40 * size);
      if (trial.tally.wants("encoded")) await encoded(trial, 2 * size);
      if (trial.tally.wants("lines")) await lines(trial, 15 * size);
      if (trial.long) trial.say(`${trial.tally.tried} tried so far`);
    } while (Date.now() < until);
  },
};
