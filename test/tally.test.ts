// A suite that cannot fail proves nothing: what goes wrong is counted, reported with its seed, and fails the command.
import { expect, it } from "vitest";
import { Chance } from "../proof/chance.ts";
import { prove } from "../proof/prove.ts";
import type { Suite } from "../proof/suite.ts";

const half: Suite = {
  name: "half",
  async run({ tally }) {
    tally.survived(1999);
    await tally.attempt("A001 read_file", () => {
      throw new Error("the secret is out");
    });
    tally.skipped("A160", "Windows only");
  },
};

it("a failure names its case, its reason and its seed, and the summary counts it", async () => {
  const tally = await prove(half, { long: false, seed: 7 });
  expect(tally.failures).toEqual(["half A001 read_file: the secret is out (repeat with --seed 7)"]);
  expect(tally.summary()).toBe("half: 2,000 tried, 1,999 survived, 1 failed, 1 not run here");
});

it("a suite that throws has failed", async () => {
  const broken: Suite = { name: "broken", run: () => Promise.reject(new Error("no disk")) };
  const tally = await prove(broken, { long: false, seed: 7 });
  expect(tally.failures).toHaveLength(1);
});

it("the same seed makes the same choices, and another seed others", () => {
  const choices = (seed: number) => {
    const chance = new Chance(seed);
    return Array.from({ length: 20 }, () => chance.below(1000));
  };
  expect(choices(1)).toEqual(choices(1));
  expect(choices(1)).not.toEqual(choices(2));
});
