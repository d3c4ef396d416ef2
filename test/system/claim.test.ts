// Claims that several callers of one process wait for.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claim, claimed } from "../../src/engine/workspace/system/claim.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "polyfs-claim-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

it("a claim that is released goes to the next caller that waits for it, without a pause", async () => {
  const order: number[] = [];
  const first = claim(directory, "a");
  const all = Array.from({ length: 20 }, async (_, i) => {
    using _claim = await claimed(directory, "a");
    order.push(i);
    expect(claim(directory, "a")).toBeUndefined();
    await Promise.resolve();
  });
  await setImmediate();
  expect(order).toEqual([]);
  first?.[Symbol.dispose]();
  await setImmediate();
  expect(order).toHaveLength(20);
  await Promise.all(all);
  expect(new Set(order).size).toBe(20);
  expect(readdirSync(directory)).toEqual([]);
});

it("a caller that gives up waiting for a claim leaves it to the others", async () => {
  const first = claim(directory, "a");
  const cancelling = new AbortController();
  const cancelled = claimed(directory, "a", cancelling.signal);
  const waiting = claimed(directory, "a");
  cancelling.abort();
  await expect(cancelled).rejects.toThrow(/abort/i);
  first?.[Symbol.dispose]();
  (await waiting)[Symbol.dispose]();
  expect(readdirSync(directory)).toEqual([]);
});
