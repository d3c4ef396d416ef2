// Processes that record and gather changes at the same time are killed at any moment. A reader meanwhile gets all
// that were recorded before, each once and in order.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";
import { bundle } from "../commit/bundle.ts";

const kills = Number(process.env.POLYFS_GATHER_KILLS ?? 12);
const forever = Number.POSITIVE_INFINITY;

it.for([forever, 2000])(
  `${kills} kills: of the newest %s changes, none is lost`,
  { timeout: 300_000 },
  async most => {
    using script = await bundle("../history/gatherer-program.ts");
    const state = mkdtempSync(join(tmpdir(), "polyfs-gathering-"));
    mkdirSync(join(state, "changes"));
    const recorded = new Set<string>();
    const start = () => {
      const child = spawn(process.execPath, [script.path, state, String(most)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (part: string) => {
        const lines = (text + part).split("\n");
        text = lines.pop() ?? "";
        for (const id of lines) recorded.add(id);
      });
      return child;
    };
    const kill = async (child: ChildProcess) => {
      if (child.exitCode !== null) throw new Error(`a process ended by itself: ${child.exitCode}`);
      const closed = new Promise(resolve => child.once("close", resolve));
      child.kill("SIGKILL");
      await closed;
    };
    /** Others may have been recorded without being printed yet. */
    const surelyKept = (ids: string[]) => ids.sort().slice(-most * 0.75);
    const { changes } = new Archive(state);
    const processes = [start(), start(), start()];
    for (let i = 0; i < kills; i++) {
      const end = Date.now() + 200 + Math.random() * 800;
      do {
        const before = [...recorded];
        const found: string[] = [];
        for await (const { id } of changes.newestInTurns()) found.push(id);
        expect(found).toEqual([...new Set(found)].sort().reverse());
        const there = new Set(found);
        expect(surelyKept(before).filter(id => !there.has(id))).toEqual([]);
        await sleep(10);
      } while (Date.now() < end);
      await kill(processes[i % 3] as ChildProcess);
      processes[i % 3] = start();
    }
    await Promise.all(processes.map(kill));
    const all = new Archive(state).changes;
    expect(surelyKept([...recorded]).filter(id => all.recorded(id) === undefined)).toEqual([]);
    atOnce(all.clear(most, forever));
    await all.gather(most, forever);
    rmSync(state, { recursive: true });
  },
);
