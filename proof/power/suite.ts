// The power suite: cuts the power under servers at work, and looks whether every answered change is there with its
// history. Most cuts are acted out on a recording of all file system calls, where everything that was not flushed can
// be lost or reordered; some are made on real file systems in loop devices. The cuts in `regressions` failed once, and
// are made in every run.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import { Chance } from "../chance.ts";
import { end, ServerUnderTest, told } from "../fault/server-under-test.ts";
import { repository } from "../places.ts";
import type { Suite, Trial } from "../suite.ts";
import type { Tally } from "../tally.ts";
import { cutDevices } from "./devices.ts";
import { putBack } from "./disk.ts";
import { type Gathered, judgeHistory, recordGathering } from "./gathering.ts";
import { judge } from "./judge.ts";
import { cutPower, flushed } from "./outage.ts";
import { Recording } from "./recording.ts";
import { type Recorded, readCut, type SavedCut, saveCut } from "./saved-cut.ts";
import { preload, recordWork, type Worked } from "./session.ts";

/** Recoveries that lose the power in a row. */
const mostEarlier = 3;
/** How long the power is off. */
const offMs = 1_200_000;

const regressions = join(repository, "proof/power/regressions");

export const power: Suite = {
  name: "power",
  async run(trial) {
    if (process.platform !== "linux") throw new Error("the recorder needs Linux");
    if (trial.recording !== undefined) return cutAgain(trial.tally, trial.recording);
    const until = Date.now() + (trial.minutes ?? 0) * 60_000;
    const rounds = trial.long ? 25 : 1;
    await cutDevices(trial, trial.long ? 10 : 1);
    for (const name of readdirSync(regressions))
      if (trial.tally.wants(`P002-${name}`)) await cutAgain(trial.tally, join(regressions, name));
    if (trial.tally.wants("P003")) {
      await using recorded = await gathering(trial);
      await cutAtRandom(trial, recorded, trial.long ? 40 : 4);
    }
    if (trial.tally.wants("P001")) {
      for (let round = 0; round < rounds || Date.now() < until; round++) {
        await using recorded = await worked(trial, trial.long ? 60 : 30);
        await cutAtRandom(trial, recorded, trial.long ? 40 : 12);
        trial.say(trial.tally.summary());
      }
    }
  },
};

async function worked({ chance }: Trial, calls: number): Promise<Worked & AsyncDisposable> {
  return disposable(await recordWork(chance, calls));
}

async function gathering({ chance }: Trial): Promise<Gathered & AsyncDisposable> {
  return disposable(await recordGathering(chance));
}

function disposable<T extends Worked>(recorded: T): T & AsyncDisposable {
  return {
    ...recorded,
    async [Symbol.asyncDispose]() {
      await recorded.server[Symbol.asyncDispose]();
      rmSync(mapOf(recorded.server.base), { force: true });
    },
  };
}

function mapOf(base: string): string {
  return `${base}.map`;
}

async function cutAtRandom(
  { tally, chance }: Trial,
  recorded: Worked & Partial<Gathered>,
  cuts: number,
): Promise<void> {
  const { recording, server, steps, history } = recorded;
  const [from, to] = recorded.during ?? [0, recording.operations.length - 1];
  const answers = answersIn(recording);
  for (let i = 0; i < cuts; i++) {
    const cut = from + chance.below(to - from + 1) + 1;
    const seed = chance.below(2 ** 32);
    const answered = answers.filter(at => at < cut).length;
    const underWay = namesUnderWay(recording, answers[answered - 1], cut);
    const kept = history && { history };
    let saved: SavedCut = { recording, steps, answered, underWay, ...kept, earlier: 0, cut, seed };
    while (saved.earlier < mostEarlier && chance.below(2) === 0)
      saved = await cutRecovery(server, saved, chance);
    await tryCut(tally, server, saved);
  }
}

/** Lets a server recover from a cut, and cuts its power, too. Returns that second cut. */
async function cutRecovery(server: ServerUnderTest, saved: SavedCut, chance: Chance): Promise<SavedCut> {
  const { recording, cut, seed, earlier } = saved;
  const log = `${recording.base}.log`;
  using back = putBack(recording, cutPower(recording, cut, new Chance(seed)));
  const recovery = new Recording(recording.base);
  const wire = await serveNextBoot(server, back.map, earlier, { PROOF_POWER_LOG: log });
  try {
    await told(wire, "list_directory", {});
    await sleep(chance.below(100));
  } finally {
    await end(wire);
  }
  const text = readFileSync(log, "utf8");
  rmSync(log);
  recovery.add(text.slice(0, text.lastIndexOf("\n") + 1));
  const next = { cut: chance.below(recovery.operations.length + 1), seed: chance.below(2 ** 32) };
  return { ...saved, recording: back.asShown(recovery), earlier: earlier + 1, ...next };
}

/**
 * A server of a later boot, which sees the inodes and times that files had before the cut. It reads the map whenever it
 * starts a thread, so the map stays until the next one replaces it.
 */
function serveNextBoot(
  server: ServerUnderTest,
  shown: string,
  earlier: number,
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessWire> {
  const map = mapOf(server.base);
  writeFileSync(map, shown);
  const boot = { PROOF_POWER_BOOT: String(earlier), PROOF_POWER_OFF: String((earlier + 1) * offMs) };
  return server.serve({ env: { ...preload, PROOF_POWER_MAP: map, ...boot, ...env } });
}

async function tryCut(tally: Tally, server: ServerUnderTest, saved: SavedCut): Promise<void> {
  const { recording, steps, answered, underWay, history, earlier, cut, seed } = saved;
  const disk = cutPower(recording, cut, new Chance(seed));
  const where = earlier > 0 ? `recovery ${earlier}, cut` : "cut";
  const what = `${history === undefined ? "P001" : "P003"} (${disk.style} of what was not flushed, ${where} ${cut} of ${recording.operations.length}, ${answered} answered)`;
  await tally.attempt(what, async () => {
    using back = putBack(recording, disk);
    const wire = await serveNextBoot(server, back.map, earlier);
    try {
      await judge(wire, server, steps, answered, name => underWay.includes(name));
      judgeHistory(server, history ?? []);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${why} (--recording ${saveCut(saved)})`);
    } finally {
      await end(wire);
    }
  });
}

/** Makes a cut that failed before once more. */
async function cutAgain(tally: Tally, path: string): Promise<void> {
  const saved = readCut(path);
  rmSync(saved.recording.base, { recursive: true, force: true });
  await using server = new ServerUnderTest({}, saved.recording.base);
  const { recording, answered, earlier, cut } = saved;
  // By the rule as it is now. The recording of a recovery does not have the answers.
  const underWay =
    earlier > 0 ? saved.underWay : namesUnderWay(recording, answersIn(recording)[answered - 1], cut);
  try {
    await tryCut(tally, server, { ...saved, underWay });
  } finally {
    rmSync(mapOf(server.base), { force: true });
  }
}

/**
 * Temporary names of calls that were under way: first used after the last answer, or named by journal records of which
 * none was flushed. Of calls that are sent at once, one begins before another is answered.
 */
function namesUnderWay({ operations }: Recorded, lastAnswer = 0, cut = operations.length): string[] {
  const before = new Set<string>();
  const found = new Set<string>();
  for (const [i, operation] of operations.entries()) {
    for (const { name } of operation.is === "names" ? operation.names : [])
      if (i <= lastAnswer) before.add(name);
      else if (isTemporaryName(name) && !before.has(name)) found.add(name);
  }
  const done = operations.slice(0, cut);
  const isFlushed = flushed(done);
  const named = (flush: boolean) =>
    done.flatMap((one, i) =>
      one.is === "write" && isFlushed[i] === flush
        ? (one.data.toString("latin1").match(temporaryNames) ?? [])
        : [],
    );
  const kept = new Set(named(true));
  return [...found, ...named(false).filter(name => !kept.has(name))];
}

const temporaryNames = /\.polyfs-[0-9a-f]{32}\.tmp/g;

/** Positions of the answers to calls. The first answer of each server is that to its start. */
function answersIn({ operations }: Recorded): number[] {
  const found: number[] = [];
  for (const [i, operation] of operations.entries()) {
    if (operation.is !== "answer") continue;
    const messages = operation.text.split("\n").filter(line => line !== "");
    for (const line of messages) {
      const { id, result } = JSON.parse(line);
      if (id !== undefined && !(result?.serverInfo !== undefined)) found.push(i);
    }
  }
  return found;
}
