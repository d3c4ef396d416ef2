// Cheap calls beside expensive ones. Each case starts a server, makes one expensive call and reads a small file again
// and again until that call is answered. The long form prints how long the small reads waited; whether that is short
// enough depends on the machine, so no case fails for its time. What fails is a server that answers nothing else: the
// longest wait of a small read must be less than half of an expensive call that took a second or more, and the main
// thread must not work for long without a turn of the event loop, counted in processor time.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { StdioClient } from "../client/stdio-client.ts";
import type { Suite, Trial } from "../suite.ts";
import { beside, percentile } from "./beside.ts";
import { type Case, cases } from "./cases.ts";
import { Machine } from "./machine.ts";
import { Stretches } from "./stretches.ts";

/** Processor time between two turns. The aim is 50 ms; compiling and collecting garbage may come on top. */
const mostBusyMs = 150;
/** An expensive call that took less shows nothing. */
const expensiveMs = 1000;

export const stalls: Suite = {
  name: "stalls",
  async run(trial) {
    trial.say(row("expensive call", "size", "took", "reads", "p50", "p99", "max", "busy", "end"));
    const machine = new Machine();
    for (const one of cases) {
      const size = trial.long ? one.size : one.short;
      if (size === undefined || !trial.tally.wants(one.id)) continue;
      const wrong = await fault(trial, machine, one, size);
      if (wrong === "held up") trial.tally.skipped(one.id, "the machine is held up by others");
      else
        await trial.tally.attempt(one.id, () => {
          if (wrong !== undefined) throw wrong;
        });
    }
  },
};

const judgedRounds = 3;
const mostRounds = 10;
const pauseMs = 5000;

/**
 * Why a case fails, if it does. A delay counts only if it occurs in three rounds during which the machine did not hold
 * the server up; without three such rounds, the case proves nothing here.
 */
async function fault(
  trial: Trial,
  machine: Machine,
  one: Case,
  size: number,
): Promise<Error | "held up" | undefined> {
  for (let round = 1, judged = 0; round <= mostRounds; round++) {
    const wasHeldUp = machine.watch();
    let delay: string | undefined;
    try {
      delay = await run(trial, one, size);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    if (delay === undefined) return undefined;
    if (wasHeldUp()) await pause(pauseMs);
    else if (++judged === judgedRounds) return new Error(delay);
  }
  return "held up";
}

/** What took too long, if something did. Throws for what does not depend on the machine. */
async function run(trial: Trial, one: Case, size: number): Promise<string | undefined> {
  const fixture = mkdtempSync(join(tmpdir(), "polyfs-stalls-"));
  const root = join(fixture, "root");
  mkdirSync(root);
  writeFileSync(join(root, "small.txt"), "small\n");
  one.make(root, size);
  const state = join(fixture, "state");
  const stretches = new Stretches(join(fixture, "stretches"));
  const client = await StdioClient.start({
    dialect: "polyfs",
    root,
    state,
    args: ["--allow-run", "--allow-irrevocable", "--max-file-bytes", "100000000"],
    patienceMs: 300_000,
    env: stretches.env,
  });
  try {
    const before = await one.before?.(client, size);
    if (before?.failed) throw new Error(`the call before it failed: ${before.text.slice(0, 500)}`);
    const began = Date.now();
    const { answer, tookMs, waits } = await beside(client, () => one.run(client, size, before));
    const busyMs = stretches.longest(began, Date.now());
    const ending = Date.now();
    await client.close();
    const endMs = Date.now() - ending;
    const times = [tookMs, waits.length, percentile(waits, 0.5), percentile(waits, 0.99), waits.at(-1) ?? 0];
    trial.say(row(one.id, size, ...times.map(time => Math.round(time)), busyMs ?? "?", endMs));
    if (answer.failed && !one.mayFail) {
      if (answer.text.startsWith("timeout: ")) return answer.text.slice(0, 500);
      throw new Error(answer.text.slice(0, 500));
    }
    if (busyMs !== undefined && busyMs > mostBusyMs)
      return `the server worked for ${busyMs} ms without a turn of the event loop`;
    const longest = waits.at(-1) ?? 0;
    if (tookMs <= expensiveMs || longest <= tookMs / 2) return undefined;
    return `a small read waited ${Math.round(longest)} ms of ${Math.round(tookMs)} ms`;
  } finally {
    client.kill();
    await client.ended;
    rmSync(fixture, { recursive: true, force: true });
  }
}

function row(name: string, ...cells: readonly (string | number)[]): string {
  return name.padEnd(44) + cells.map(cell => String(cell).padStart(8)).join("");
}
