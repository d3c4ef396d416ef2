// A wait for a lock that other processes take in turn, on the real times of a real file.
import { linkSync, lstatSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Patience } from "../../src/engine/workspace/commit/patience.ts";
import { Fixture } from "./fixture.ts";

const idleMs = 100;

describe("the wait for a lock", () => {
  /** Two owners of locks, and a look at a lock that one of them holds. */
  const owners = (fixture: Fixture) => {
    const [one, other] = ["one", "other"].map(name => join(fixture.base, name)) as [string, string];
    for (const path of [one, other]) writeFileSync(path, "");
    return { one, other };
  };

  it("continues while the lock changes hands, and while its holder takes other locks", async () => {
    using fixture = new Fixture();
    const { one, other } = owners(fixture);
    const patience = new Patience(idleMs);
    for (let round = 0; round < 4; round++) {
      for (const path of [one, other]) {
        expect(patience.isOver(lstatSync(path))).toBe(false);
        await sleep(2 * idleMs);
        linkSync(path, `${path}-${round}`);
        expect(patience.isOver(lstatSync(path))).toBe(false);
        await sleep(2 * idleMs);
      }
    }
    expect(patience.isOver(undefined)).toBe(false); // free
  });

  it("ends if the holder is alive but makes no progress", async () => {
    using fixture = new Fixture();
    const { one } = owners(fixture);
    const patience = new Patience(idleMs);
    expect(patience.isOver(lstatSync(one))).toBe(false);
    await sleep(2 * idleMs);
    utimesSync(one, new Date(), new Date());
    expect(patience.isOver(lstatSync(one))).toBe(true);
  });

  it("is bounded", async () => {
    using fixture = new Fixture();
    const { one, other } = owners(fixture);
    const patience = new Patience(idleMs, 3 * idleMs);
    for (let round = 0; !patience.isOver(lstatSync(round % 2 === 0 ? one : other)); round++) await sleep(10);
  });
});
