// Merges of random changes. Edits against an exact model that tries every way to compare; whole files against
// `git merge-file`. Whatever is taken has to be what the model says, and what it refuses has to be refused.
import { applyEdits } from "../../src/engine/edit/apply.ts";
import { type MergeSide, merge } from "../../src/engine/edit/merge.ts";
import { decode } from "../../src/engine/text/text.ts";
import type { Suite, Trial } from "../suite.ts";
import { type Outcome, outcomes, refused } from "./exact.ts";
import { Git } from "./git.ts";
import { changed, edits, fixture } from "./texts.ts";

export const mergeSuite: Suite = {
  name: "merge",
  async run(trial) {
    using git = new Git();
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    do {
      if (trial.tally.wants("edits")) await ofEdits(trial, git, trial.long ? 100_000 : 3000);
      if (trial.tally.wants("files")) await ofFiles(trial, git, trial.long ? 20_000 : 300);
    } while (Date.now() < until);
  },
};

async function outcomeOf(
  base: string,
  ours: (text: Awaited<ReturnType<typeof decode>>) => Promise<MergeSide>,
  theirs: string,
): Promise<Outcome> {
  const [b, t] = [await decode("f", Buffer.from(base)), await decode("f", Buffer.from(theirs))];
  const result = await merge(b, await ours(b), t);
  return "text" in result ? result.text.bytes.toString() : refused;
}

/** Edits by line, which know their place, on top of another caller's version. */
async function ofEdits({ chance, tally, say, long }: Trial, git: Git, times: number): Promise<void> {
  const counts = {
    taken: 0,
    refused: 0,
    "undecided, merged as git does": 0,
    "undecided, refused": 0,
    "too many ways": 0,
  };
  for (let i = 0; i < times; i++) {
    const start = fixture(chance, 10);
    const theirs = changed(start, chance);
    const made = edits(start, chance);
    if (made.edits.length === 0) {
      i--;
      continue;
    }
    const base = start.lines.join("");
    let ours = "";
    const got = await outcomeOf(
      base,
      async text => {
        const done = await applyEdits(text, made.edits, { order: "original" });
        ours = done.text.raw;
        return done;
      },
      theirs.join(""),
    );
    const possible = outcomes(start.lines, made.hunks, theirs);
    const [only, ...others] = possible?.outcomes ?? [];
    const what = () => `edits ${JSON.stringify({ base, edits: made.edits, theirs: theirs.join("") })}`;
    const failed = (why: string) =>
      tally.failed(what(), `${why}: ${JSON.stringify(got === refused ? "refused" : got)}`);
    if (possible !== undefined && others.length === 0 && got === only) {
      counts[got === refused ? "refused" : "taken"]++;
      tally.survived();
    } else if (got === refused) {
      if (possible?.mayRefuse === false) failed("refused, but there is only one way");
      else {
        counts[possible === undefined ? "too many ways" : "undecided, refused"]++;
        tally.survived();
      }
    } else if (got === (await git.merged(base, ours, theirs.join("")))) {
      counts["undecided, merged as git does"]++;
      tally.survived();
    } else failed("merged, and neither git nor the model agrees");
  }
  if (long) say(`edits: ${JSON.stringify(counts)}`);
}

/** Whole new texts, of which only the base is known. */
async function ofFiles({ chance, tally, say, long }: Trial, git: Git, times: number): Promise<void> {
  const counts = { taken: 0, refused: 0 };
  for (let i = 0; i < times; i++) {
    const start = fixture(chance, chance.below(10) === 0 ? 120 : 14);
    const [ours, theirs] = [changed(start, chance).join(""), changed(start, chance).join("")];
    const base = start.lines.join("");
    const [got, wanted] = [
      await outcomeOf(base, async () => ({ text: await decode("f", Buffer.from(ours)) }), theirs),
      await git.merged(base, ours, theirs),
    ];
    if (got === wanted) {
      counts[got === refused ? "refused" : "taken"]++;
      tally.survived();
    } else
      tally.failed(
        `files ${JSON.stringify({ base, ours, theirs })}`,
        `git has ${String(wanted)}, not ${String(got)}`,
      );
  }
  if (long) say(`files: ${JSON.stringify(counts)}`);
}
