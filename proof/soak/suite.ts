// Hours of mixed load on one tree: clients in all dialects, servers that are restarted and killed, an editor from
// outside. Nothing may be lost, torn, left behind or forgotten.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { once } from "../../src/engine/once.ts";
import { Chance } from "../chance.ts";
import { HttpServer } from "../client/http-client.ts";
import type { Suite, Trial } from "../suite.ts";
import { blobName, blobs, isTorn, prepareBlobs } from "./blobs.ts";
import { inspect } from "./ending.ts";
import { FileLocks } from "./file-locks.ts";
import { Gauge } from "./gauge.ts";
import { ledgerName, ledgers, prepareLedgers, Slot } from "./ledger.ts";
import { Meter } from "./meter.ts";
import { Outsider } from "./outsider.ts";
import { readingDialects } from "./readers.ts";
import { report } from "./report.ts";
import { type Place, SoakClient } from "./soak-client.ts";
import { Worker } from "./worker.ts";

/** The first lives through the whole run in our own dialect; two are sessions of one HTTP server. */
const clients = 6;
const overHttp = 2;

export const soak: Suite = {
  name: "soak",
  async run(trial) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-soak-")));
    try {
      await run(trial, base);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
};

async function run(trial: Trial, base: string): Promise<void> {
  const { tally, chance, say } = trial;
  const minutes = trial.minutes ?? 0.25;
  const http = trial.http ?? false;
  const place: Place = {
    root: join(base, "root"),
    state: join(base, "state"),
    meter: new Meter((violation, what) => {
      tally.failed(violation, what);
      keep();
    }),
  };
  // At the first violation: history forgets it after ten thousand changes. Another process copies, so that no call waits.
  const keep = once(() => {
    const kept = `${base}-at-the-first-violation`;
    spawn("cp", ["-a", base, kept], { stdio: "ignore" });
    say(`the tree and the state are kept in ${kept}`);
  });
  const { root, state, meter } = place;
  for (const name of ["ledger", "blob", "own", "home0", "home1"])
    mkdirSync(join(root, name), { recursive: true });
  prepareLedgers(root, clients + 1);
  prepareBlobs(root, chance);
  for (let i = 0; i < clients; i++) writeFileSync(join(root, `home0/c${i}.txt`), `file ${i}\n`);

  const server = new HttpServer(root, state);
  const locks = new FileLocks();
  const own = () => new Chance(chance.below(2 ** 31));
  const soakClients = Array.from({ length: clients }, (_, i) => {
    const shared = http || i >= clients - overHttp ? server : undefined;
    return new SoakClient(place, i === 0 ? ["polyfs"] : readingDialects, i - 1, shared);
  });
  const workers = soakClients.map((client, i) => new Worker(place, client, i, own(), locks));
  const outsideSlots = Array.from({ length: ledgers }, (_, i) => new Slot(root, ledgerName(i), clients));
  const outsider = new Outsider(place, outsideSlots, own(), locks);
  for (const client of soakClients) await client.open();
  const gauges = [
    new Gauge("HTTP", server.pid),
    ...(http ? [] : [new Gauge("stdio", soakClients[0]?.pid ?? 0)]),
  ];

  const from = Date.now();
  const until = from + minutes * 60_000;
  const over = () => Date.now() >= until;
  const work = async (worker: Worker, client: SoakClient, mine: Chance) => {
    let restart = Date.now() + 5000 + mine.below(20_000);
    while (!over()) {
      await worker.step();
      if (Date.now() < restart || client === soakClients[0]) continue;
      restart = Date.now() + 5000 + mine.below(20_000);
      await client.restart();
    }
  };
  const every = async (ms: number, action: () => void) => {
    for (; !over(); await pause(Math.max(1, Math.min(ms, until - Date.now())))) action();
  };
  const killing = own();
  const looking = own();
  await Promise.all([
    ...workers.map((worker, i) =>
      work(worker, soakClients[i] ?? new SoakClient(place, ["polyfs"], 0), own()),
    ),
    every(150, () => outsider.step()),
    every(40, () => {
      meter.counts.looks++;
      const name = blobName(looking.below(blobs));
      if (isTorn(root, name)) meter.violation("torn file", name);
    }),
    every(3000, () => void killing.pick(soakClients.slice(1)).kill()),
    every(2000, () => {
      for (const gauge of gauges) gauge.look();
    }),
    every(60_000, () => {
      const failed = [...meter.violations].map(([name, times]) => `${times} × ${name}`).join(", ");
      const passed = Math.round((Date.now() - from) / 60_000);
      if (passed === 0) return;
      say(
        `minute ${passed}: ${meter.counts.calls} calls, ${meter.counts.kills} kills, ${failed || "nothing wrong"}`,
      );
    }),
  ]);
  for (const client of soakClients.slice(1)) await client.close();
  await quiet(gauges);
  await soakClients[0]?.close();
  await server.close();
  const slots = [...workers.flatMap(worker => worker.slots), ...outsideSlots];
  const changes = await inspect(place, slots, clients);
  tally.survived(meter.counts.calls);
  const stateMb = sizeOf(state) / 2 ** 20;
  const text = report(meter, gauges, { minutes, seed: tally.seed, clients, changes, stateMb, http });
  say(text);
  if (trial.report !== undefined) writeFileSync(trial.report, text);
}

/** Looks until nothing is opened or closed any more: changes that wait for a checkpoint hold files open. */
async function quiet(gauges: readonly Gauge[]): Promise<void> {
  let counts = "";
  for (let same = 0, looks = 0; same < 10 && looks < 60; looks++) {
    await pause(1000);
    for (const gauge of gauges) gauge.look();
    const now = gauges.map(gauge => gauge.files.end).join();
    same = now === counts ? same + 1 : 0;
    counts = now;
  }
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).reduce((sum, entry) => {
    return sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0);
  }, 0);
}
