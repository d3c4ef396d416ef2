// A search that is not wanted any more leaves nothing behind: no process, and no pipe of one with what it had found.
import { readdirSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { grep } from "../../src/engine/search/grep.ts";
import { hasProc } from "../setup/proc.ts";
import { all, Tree } from "./tree.ts";

const descriptors = "/proc/self/fd";

describe.runIf(process.platform === "linux")("abandoned searches", () => {
  it.runIf(hasProc)("leave no descriptor open, whenever the caller stops reading", async () => {
    const body = "alpha beta gamma\n".repeat(50);
    using tree = new Tree(
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 9}/f${i}`, body])),
    );
    using directory = tree.directory();
    await all(grep(directory, { pattern: "alph[a]" }));
    const before = readdirSync(descriptors).length;
    const breakOff = async (ms: number) => {
      const caller = new AbortController();
      const { signal } = caller;
      const search = all(grep(directory, { pattern: "(alpha|be.a).*gam" }, { signal })).catch(
        () => undefined,
      );
      await setTimeout(ms);
      caller.abort();
      await search;
    };
    for (let round = 0; round < 25; round++)
      await Promise.all([1, 4, 7, 10].map(ms => breakOff(ms + (round % 12))));
    await expect.poll(() => readdirSync(descriptors).length).toBeLessThanOrEqual(before);
  });
});
