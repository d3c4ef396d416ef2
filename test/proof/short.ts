// Runs a suite of proof/ in its short form: prints the line that counts, and fails with the list of what failed.
import { expect, it } from "vitest";
import { prove } from "../../proof/prove.ts";
import { suites } from "../../proof/suites.ts";

export function short(name: string, story: string): void {
  it(story, { timeout: 600_000 }, async () => {
    const load = suites[name];
    if (load === undefined) throw new Error(`there is no suite ${name}`);
    const tally = await prove(await load(), { long: false });
    console.log(tally.summary());
    expect(tally.failures).toEqual([]);
    expect(tally.tried).toBeGreaterThan(0);
  });
}
