// A server that loses its power while history gathers earlier records into files of many. It finds more of them than
// may have files of their own, so it does that soon after its start, among the calls that it is asked for.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import type { Chance } from "../chance.ts";
import { end, ServerUnderTest, told } from "../fault/server-under-test.ts";
import { Recording } from "./recording.ts";
import { changesIn, preload, type Step, type Worked } from "./session.ts";
import { beginning, nextCall } from "./work.ts";

/** More than have files of their own (archive/log.ts). */
const recorded = 1100;
const gathered = 500;
const longestMs = 60_000;
const minuteMs = 60_000;

export interface Gathered extends Worked {
  /** The changes that were recorded at the beginning. */
  readonly history: readonly string[];
  /** The operations between which records were gathered. */
  readonly during: readonly [from: number, to: number];
}

export async function recordGathering(chance: Chance): Promise<Gathered> {
  const server = new ServerUnderTest(beginning);
  const history = prepare(server);
  const recording = new Recording(server.base);
  const log = join(mkdtempSync(join(tmpdir(), "polyfs-power-")), "log");
  const steps: Step[] = [{ what: "the beginning", tree: server.tree() }];
  try {
    const wire = await server.serve({ env: { ...preload, PROOF_POWER_LOG: log, PROOF_POWER_SLOW: "20" } });
    const changes = join(server.state, "changes");
    for (const until = Date.now() + longestMs; ; ) {
      const before = server.tree();
      const [tool, args] = nextCall(before, steps.length, chance);
      await told(wire, tool, args).catch(() => undefined);
      steps.push({ what: tool, tree: server.tree() });
      await sleep(chance.below(200));
      if (history.filter(id => !existsSync(join(changes, `${id}.json`))).length >= gathered) break;
      if (Date.now() > until) throw new Error("records were not gathered in time");
    }
    const listed = changesIn(await told(wire, "list_changes", { limit: 200 }));
    await end(wire);
    const text = readFileSync(log, "utf8");
    recording.add(text.slice(0, text.lastIndexOf("\n") + 1));
    return {
      recording,
      server,
      steps: named(steps, listed),
      history,
      during: gatheringIn(recording, history),
    };
  } finally {
    rmSync(join(log, ".."), { recursive: true, force: true });
  }
}

/** Throws if a change that was recorded is not in history. */
export function judgeHistory(server: ServerUnderTest, history: readonly string[]): void {
  if (history.length === 0) return;
  const { changes } = new Archive(server.state);
  const lost = history.filter(id => changes.recorded(id)?.action !== "earlier");
  if (lost.length > 0)
    throw new Error(`history lacks ${lost.length} earlier changes, the first is ${lost[0]}`);
  const ids = new Set(changes.ids());
  const unlisted = history.filter(id => !ids.has(id));
  if (unlisted.length > 0) throw new Error(`history does not list ${unlisted.length} earlier changes`);
}

/** Changes of a minute ago and before, each in a file of its own. */
function prepare({ root, state }: ServerUnderTest): string[] {
  const changes = join(state, "changes");
  mkdirSync(changes, { recursive: true, mode: 0o700 });
  const files = [{ at: join(root, "keep/x"), effect: "modified", kind: "file" }];
  return Array.from({ length: recorded }, (_, i) => {
    const time = Date.now() - minuteMs - recorded + i;
    const id = `${time.toString(36).padStart(8, "0")}000`;
    const record = { id, time, action: "earlier", client: "proof", files, parents: [], kept: false };
    writeFileSync(join(changes, `${id}.json`), JSON.stringify(record));
    return id;
  });
}

/** From the first name in the directory of gathered records to the last of a single record that went. */
function gatheringIn({ operations }: Recording, history: readonly string[]): [number, number] {
  const prepared = new Set(history.map(id => `${id}.json`));
  const names = operations.map(one => (one.is === "names" ? one.names : []));
  const from = names.findIndex(some => some.some(({ name }) => name === "earlier"));
  const to = names.findLastIndex(some => some.some(({ name, id }) => id === undefined && prepared.has(name)));
  if (from < 0 || to < from) throw new Error("the recording shows no gathering");
  return [from, to];
}

function named(steps: readonly Step[], newestFirst: readonly string[]): Step[] {
  const isChange = (step: Step, i: number) =>
    i > 0 && JSON.stringify(step.tree) !== JSON.stringify(steps[i - 1]?.tree);
  const ids = newestFirst.slice(0, steps.filter(isChange).length);
  return steps.map((step, i) => {
    const change = isChange(step, i) ? ids.pop() : undefined;
    return change === undefined ? step : { ...step, change };
  });
}
