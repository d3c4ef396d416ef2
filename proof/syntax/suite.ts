// The structure of code: what answers tell about broken syntax beside what parsers say, how small outlines are, and
// undo by hunk over real commits.
import type { Suite } from "../suite.ts";
import { breakages } from "./breakages.ts";
import { hunks } from "./hunks.ts";
import { names } from "./names.ts";
import { outlines } from "./outlines.ts";
import { pythonNames } from "./python-names.ts";

export const syntaxSuite: Suite = {
  name: "syntax",
  async run(trial) {
    await breakages(trial);
    if (trial.tally.wants("outline")) await outlines(trial);
    if (trial.tally.wants("names")) await names(trial);
    if (trial.tally.wants("python-names")) await pythonNames(trial);
    if (trial.tally.wants("hunks")) await hunks(trial);
  },
};
