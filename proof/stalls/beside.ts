// Small reads beside one expensive call: a closed loop of reads on the same connection, and how long each waited.
import { performance } from "node:perf_hooks";
import { type Answer, call } from "../client/client.ts";
import type { StdioClient } from "../client/stdio-client.ts";

export interface Beside {
  readonly answer: Answer;
  /** How long the expensive call took, in milliseconds. */
  readonly tookMs: number;
  /** How long each small read waited, in milliseconds, in ascending order. */
  readonly waits: readonly number[];
}

/** Runs `expensive` and reads a small file again and again until it is answered. */
export async function beside(client: StdioClient, expensive: () => Promise<Answer>): Promise<Beside> {
  await call(client, "read_file", { path: "small.txt" });
  let isOver = false;
  const began = performance.now();
  const answered = expensive().finally(() => {
    isOver = true;
  });
  answered.catch(() => undefined); // awaited below, when the last small read is answered
  const waits: number[] = [];
  while (!isOver) {
    const sent = performance.now();
    const { text, failed } = await call(client, "read_file", { path: "small.txt" });
    waits.push(performance.now() - sent);
    if (failed || !text.includes("small")) throw new Error(`a small read failed: ${text}`);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  const answer = await answered;
  const tookMs = performance.now() - began;
  return { answer, tookMs, waits: waits.sort((one, other) => one - other) };
}

export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}
