// Forks of one tree: each changed at random, all merged back in random order, against a model; random trees, against git;
// forks that are changed while they are merged; processes that are killed while they fork, merge, drop and collect.
import type { Suite, Trial } from "../suite.ts";
import { againstGit } from "./against-git.ts";
import { killed } from "./killed.ts";
import { mergedBack, oneTreeMergedBack } from "./merged-back.ts";
import { whileChanged } from "./while-changed.ts";

export const workspacesSuite: Suite = {
  name: "workspaces",
  async run(trial: Trial) {
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    do {
      if (trial.tally.wants("merge")) await mergedBack(trial, trial.long ? 1000 : 60);
      if (trial.long && trial.tally.wants("one-tree")) await oneTreeMergedBack(trial, 1000);
      if (trial.tally.wants("git")) await againstGit(trial, trial.long ? 1000 : 25);
      if (trial.tally.wants("changed")) await whileChanged(trial, trial.long ? 60 : 2);
      if (trial.tally.wants("kill")) await killed(trial, trial.long ? 300 : 12);
    } while (Date.now() < until);
  },
};
