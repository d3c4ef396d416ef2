import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { progressTo } from "../../src/mcp/progress.ts";

interface Told {
  readonly progress: number;
  readonly total?: number;
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function progressed(token: unknown) {
  const told: Told[] = [];
  const progress = progressTo(token, (_, params) => void told.push(params as unknown as Told));
  return { progress, told };
}

describe("progress of a call", () => {
  it("that reports nothing itself shows every second that it goes on", () => {
    const { progress, told } = progressed("token");
    vi.advanceTimersByTime(3500);
    progress.end();
    vi.advanceTimersByTime(5000);
    expect(told).toHaveLength(3);
    expect(told.map(({ progress }) => progress)).toEqual([...told.map(({ progress }) => progress)].sort());
  });

  it("that begins to report after a while keeps increasing, in its own numbers", () => {
    const { progress, told } = progressed(1);
    vi.advanceTimersByTime(2500);
    progress.report(1, 2);
    vi.advanceTimersByTime(5000);
    progress.report(2, 2);
    progress.end();
    const steps = told.map(({ progress }) => progress);
    expect(steps.slice(-2)).toEqual([1, 2]);
    expect(steps.every((step, i) => i === 0 || step > (steps[i - 1] ?? 0))).toBe(true);
  });

  it("that begins with zero done says so", () => {
    const { progress, told } = progressed("token");
    progress.report(0, 100);
    progress.report(100, 100);
    progress.end();
    expect(told.map(({ progress }) => progress)).toEqual([0, 100]);
  });

  it("is not sent to a client that sent no token", () => {
    const { progress, told } = progressed(undefined);
    vi.advanceTimersByTime(5000);
    progress.report(1, 2);
    progress.end();
    expect(told).toEqual([]);
  });
});
