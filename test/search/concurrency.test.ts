import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { searchesAtATime, turn } from "../../src/engine/search/concurrency.ts";
import { grep } from "../../src/engine/search/grep.ts";
import { all, Tree } from "./tree.ts";

describe("searches at the same time", () => {
  it("take turns in the order in which they came", async () => {
    const held = await Promise.all(Array.from({ length: searchesAtATime }, () => turn(10_000)));
    const order: string[] = [];
    const wait = async (name: string) => {
      using _ = await turn(10_000);
      order.push(name);
    };
    const waiting = [wait("first"), wait("second")];
    await setImmediate();
    expect(order).toEqual([]);
    held.pop()?.[Symbol.dispose]();
    await Promise.all(waiting);
    expect(order).toEqual(["first", "second"]);
    for (const one of held) one[Symbol.dispose]();
  });

  it("do not wait beyond their time limit or cancellation, and no turn is lost", async () => {
    const held = await Promise.all(Array.from({ length: searchesAtATime }, () => turn(10_000)));
    const abort = new AbortController();
    const cancelled = turn(10_000, abort.signal);
    abort.abort();
    for (const one of [await turn(1), await cancelled, ...held]) one[Symbol.dispose]();
    for (const one of await Promise.all(Array.from({ length: searchesAtATime }, () => turn(10_000))))
      one[Symbol.dispose]();
  });

  it("all find their matches, with many more searches than turns, abandoned ones included", async () => {
    using tree = new Tree({ "a.txt": "one\ntwo\n", "b.txt": "two\n" });
    using directory = tree.directory();
    const seek = () => all(grep(directory, { pattern: "tw[o]" }));
    const breakOff = async () => {
      for await (const file of grep(directory, { pattern: "tw[o]" })) return file.path;
      return undefined;
    };
    const found = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? seek() : breakOff())));
    expect(new Set(found.map(one => JSON.stringify(one))).size).toBe(2);
    expect(found[1]).toHaveLength(2);
  });
});
